# SPDX-License-Identifier: BSD-3-Clause
"""A bench: options, needs, rows and the tables made of the rows."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .table import Row, Table

# The help of options that many cases have. A case gives only the default, and a help text if its option
# differs.
OPTIONS = {
    "bench": "the nuice-bench of another build",
    "cases": "only those with this in their name, or some of these",
    "first_seed": "of the matrices",
    "hosts": "of a test network",
    "matrices": "of each machine",
    "mpiexec": "of another MPI",
    "one_host": "ranks of this machine, shared memory",
    "partners": "that every rank sends to",
    "presets": "networks of nuice-testbed",
    "ranks": "numbers of ranks",
    "repeat": "number of runs",
    "reps": "repetitions inside one start",
    "rounds": "each a start of every way",
    "runs": "how often each is started",
    "samples": "matrices per case",
    "schedulers": "which",
    "seeds": "matrices per case",
    "sizes": "bytes of a message",
    "testbed": "on this network of nuice-testbed, such as shallow; as root",
}


class CannotRun(Exception):
    """The reason why a case cannot run here; the case is skipped."""


class Failed(Exception):
    """A program ended with an error, or its result is wrong."""


@dataclass(frozen=True)
class Case:
    """One bench. Its file's docstring says what it measures, against which peer, and what every figure
    means.

    rows: returns from the options one row of figures after the other; names end in _s for seconds and in
    _bytes for bytes. options: by name, the default of one of OPTIONS, or (default, help, allowed values, type
    of the words of an empty list). A list is given as A,B or A B, and False is a flag. quick: the defaults
    with --quick; options.quick itself is set too. needs: keys of NEEDS in needs.py. minutes: the approximate
    time on two cores. notes: lines under the tables. wrong: the error in the rows, if any; it causes exit
    code 1. resumes: rows that are already in the file of --json are options.done, and are shown with the new
    rows.
    """

    rows: Callable[[argparse.Namespace], Iterable[Row]]
    tables: Table | Sequence[Table]
    minutes: float
    options: Mapping[str, Any] = field(default_factory=dict)
    quick: Mapping[str, Any] = field(default_factory=dict)
    needs: Sequence[str] = ()
    notes: Callable[[list[Row]], Iterable[str]] = lambda rows: ()
    wrong: Callable[[list[Row], argparse.Namespace], str] = lambda rows, options: ""
    resumes: bool = False

    def parse(self, parser: argparse.ArgumentParser, words: Sequence[str]) -> argparse.Namespace:
        """Parses the words. Options that are given take precedence over those of --quick."""
        if "--quick" in words:
            parser.set_defaults(**self.quick)
        return parser.parse_args(words)


class _List(argparse.Action):
    """Words with or without commas between them."""

    def __init__(self, allowed, kind, **rest):
        super().__init__(nargs="+", **rest)
        self.allowed, self.kind = allowed, kind

    def __call__(self, parser, namespace, values, option_string=None):
        words = [word for value in values for word in value.split(",") if word]
        for word in words:
            if self.allowed and word not in self.allowed:
                parser.error(f"{option_string}: {word} is not one of {', '.join(self.allowed)}")
        try:
            setattr(namespace, self.dest, [self.kind(word) for word in words])
        except ValueError:
            parser.error(f"{option_string}: {','.join(words)}: these are not numbers")


def add_option(parser: argparse.ArgumentParser, option: str, given: Any) -> None:
    """Adds an option. given: a value of Case.options."""
    default, text, *more = given if isinstance(given, tuple) else (given, OPTIONS[option])
    choices, kind = (*more, None, None)[:2]
    name, shown = "--" + option.replace("_", "-"), text.replace("%", "%%")
    if default:
        shown += f" (default {','.join(map(str, default)) if isinstance(default, list) else default})"
    if default is False:
        parser.add_argument(name, action="store_true", help=shown)
    elif isinstance(default, list):
        kind = kind or (type(default[0]) if default else str)
        parser.add_argument(name, action=_List, default=default, allowed=choices, kind=kind, help=shown)
    else:
        parser.add_argument(name, type=type(default), default=default, choices=choices, help=shown)

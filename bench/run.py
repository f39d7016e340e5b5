#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs benches: tables for people, or JSON rows with the commit, date, machine and load.

  run.py --list                  what there is, what each needs, how long it takes
  run.py NAME [its options]      one case; run.py NAME --help says what it measures and takes
  run.py NAME NAME ...           several with their defaults
  run.py --all [--without NEED,NEED]   every case that can run here

--quick: each in its smallest form, only whether it works. --json FILE: the rows as well, an object on a line;
--json or --json -: those alone, to standard output. Exit code 1: a case failed or a figure is wrong; 2: no
such case or option, or a case that was named cannot run here. With --all such cases are skipped.
"""

from __future__ import annotations

import argparse
import importlib
import json
import signal
import sys
from contextlib import ExitStack
from itertools import takewhile
from pathlib import Path

import rich.table
from rich.console import Console

import nuice
from kit import NEEDS, CannotRun, Case, Failed, missing, objects, show, stamped
from kit.case import add_option

CASES = Path(__file__).parent / "cases"
OWN = {
    "list": (False, "the cases"),
    "all": (False, "every case that can run here"),
    "without": ([], "--all: not those that need one of these", tuple(NEEDS)),
}


def names() -> list[str]:
    return sorted(path.stem for path in CASES.glob("*.py"))


def load(name: str) -> tuple[Case, str]:
    """The case, and what its file says of it."""
    module = importlib.import_module(f"cases.{name}")
    return module.CASE, module.__doc__


def parser_for(case: Case | None, name: str, text: str) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog=f"run.py {name}".strip(), description=text, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--quick", action="store_true", help="in the smallest form: only whether it works")
    made.add_argument("--json", nargs="?", const="-", metavar="FILE", help="rows as JSON, one on a line")
    for option, given in (case.options if case else OWN).items():
        add_option(made, option, given)
    return made


def show_list() -> None:
    table = rich.table.Table(rich.table.Column("case", no_wrap=True), "what", "needs", "minutes")
    for name in names():
        case, text = load(name)
        needs = "; ".join(NEEDS[need].text for need in case.needs)
        table.add_row(name, text.strip().splitlines()[0], needs, f"{case.minutes:g}")
    Console(width=None if sys.stdout.isatty() else 160).print(table)


def known(file: str | None) -> list[dict]:
    """Rows of an earlier run."""
    return objects(Path(file).read_text()) if file and Path(file).is_file() else []


def run(name: str, words: list[str]) -> str:
    """The rows of one case, printed. Returns what is wrong, or "". Raises CannotRun, Failed."""
    case, text = load(name)
    options = case.parse(parser_for(case, name, text), words)
    if reason := missing(case.needs):
        raise CannotRun(reason)
    rows = options.done = known(options.json) if case.resumes else []
    with ExitStack() as stack:
        out = None
        if options.json == "-":
            out = sys.stdout
        elif options.json:
            out = stack.enter_context(open(options.json, "a", encoding="utf-8"))
        if out is not sys.stdout:
            stack.callback(lambda: show(case.tables, rows, case.notes(rows) if rows else (), options))
        status = stack.enter_context(Console(stderr=True).status(name, refresh_per_second=1))
        for row in stamped(name, case.rows(options)):
            rows.append(row)
            status.update(f"{name}: {len(rows)} rows")
            if out is not None:
                print(json.dumps(row), file=out, flush=True)
    return case.wrong(rows, options)


def run_all(chosen: list[str], words: list[str], skip_quietly: bool) -> int:
    """The highest exit code of them."""
    code = 0
    for name in chosen:
        try:
            wrong = run(name, words)
        except CannotRun as reason:
            print(f"{name} skipped: {reason}", file=sys.stderr)
            code = max(code, 0 if skip_quietly else 2)
            continue
        except (Failed, nuice.Error) as error:
            wrong = str(error)
        if wrong:
            print(f"{name}: {wrong}", file=sys.stderr)
            code = max(code, 1)
    return code


def main() -> int:
    words = sys.argv[1:]
    chosen = list(takewhile(lambda word: not word.startswith("-"), words))
    words = words[len(chosen) :]
    unknown = [name for name in chosen if name not in names()]
    if unknown:
        print(f"there is no case {unknown[0]}; run.py --list shows what there is", file=sys.stderr)
        return 2
    if len(chosen) == 1:
        return run_all(chosen, words, False)
    options = parser_for(None, "", __doc__).parse_args(words)
    common = [*(["--quick"] if options.quick else []), *(["--json", options.json] if options.json else [])]
    if options.list:
        show_list()
        return 0
    if options.all:
        left = [name for name in names() if not {*options.without} & {*load(name)[0].needs}]
        return run_all(left, common, True)
    if not chosen:
        parser_for(None, "", __doc__).print_help()
        return 2
    return run_all(chosen, common, False)


if __name__ == "__main__":
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit(143)
    )  # so that networks are taken down, and programs end
    sys.exit(main())

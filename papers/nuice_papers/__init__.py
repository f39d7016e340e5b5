# SPDX-License-Identifier: BSD-3-Clause
"""The papers' tables and figures, regenerated in simulation and compared with the printed numbers.

    for result in nuice_papers.reproduce(["003-table2", "004"]):
        print(result.name, result.parts[0].median_error())

papers/docs/reproduce.md explains agreement and differences. Results are deterministic except planning times,
which are measured on this computer. All tables take about a minute; quick=True computes a few rows and
matrices of each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from nuice.errors import Error

from . import printed_tables
from .report import REPRODUCED, Cell, Part, Reproduction, in_bar, median_error, ordered_pairs, summary_of
from .runs import Lab

__all__ = ["Cell", "Lab", "Part", "Reproduction", "in_bar", "median_error", "ordered_pairs", "summary_of"]

SEEDS, QUICK_SEEDS = 10, 1

IN_THE_BARS = ("003-table2", "003-table3", "004-table4", "004-table5", "004-table6", "001-table11")


@cache
def _reproduced() -> dict[str, Any]:
    for file in sorted(
        Path(__file__).parent.glob("paper*.py")
    ):  # these modules register their tables and figures
        import_module(f"{__name__}.{file.stem}")
    return REPRODUCED


def names() -> list[str]:
    """Returns the names of everything that can be reproduced, by paper, kind and number."""
    return sorted(
        _reproduced(), key=lambda name: [int(w) if w.isdigit() else w for w in re.split(r"(\d+)", name)]
    )


def select(wanted: Iterable[str]) -> list[str]:
    """Returns the names for words like "003-table2" or "003"; all names without words. Raises nuice.Error
    for any other word."""
    words = list(wanted)
    chosen = []
    for word in words:
        found = [name for name in names() if name == word or name.startswith(f"{word}-")]
        if not found:
            raise Error(f"{word!r} is not a table or figure: there are {', '.join(names())}")
        chosen += found
    return list(dict.fromkeys(chosen)) if words else names()


def reproduce(
    wanted: Sequence[str] = (), *, quick: bool = False, lab: Lab | None = None
) -> Iterator[Reproduction]:
    """Regenerates tables and figures one after the other. `lab` may contain other machines."""
    chosen = select(wanted)
    at_work = lab or Lab(QUICK_SEEDS if quick else SEEDS)
    return (_reproduced()[name](at_work, quick) for name in chosen)


def fits() -> list[dict[str, Any]]:
    """Returns the values to which bench/run.py fit_machines fits the machines; all other cells are
    predictions."""
    return printed_tables.rows(Path(__file__).parent / "data" / "fits.csv")


def in_the_bars(results: Iterable[Reproduction]) -> list[Cell]:
    """Returns the cells that the machine must predict: costs of exchanges with messages up to 32 KiB."""
    return [
        cell
        for result in results
        if result.name in IN_THE_BARS
        for part in result.parts
        if part.title.startswith("cost of the exchange")
        for cell in part.cells
        if not cell.large
    ]

# SPDX-License-Identifier: BSD-3-Clause
"""The papers' tables and figures, regenerated in simulation beside the printed numbers.

    for result in nuice_papers.reproduce(["003-table2", "004"]):
        print(result.name, result.parts[0].median_error())

lab/papers/docs/reproduce.md says what fits, what does not, and why. Deterministic but for planning times,
which are of this computer. Everything takes about a minute; quick=True a few rows and matrices of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from nuice.errors import Error

from . import (
    paper000,
    paper001,
    paper001_broadcast,
    paper002,
    paper003,
    paper003_break_even,
    paper004,
    printed_tables,
)
from .report import (
    APART,
    LARGEST_IN_BAR,
    Cell,
    Claim,
    Curves,
    Part,
    Reproduction,
    in_bar,
    median_error,
    ordered_pairs,
    summary_of,
)
from .runs import Lab

__all__ = [
    "APART",
    "LARGEST_IN_BAR",
    "Cell",
    "Claim",
    "Curves",
    "Lab",
    "Part",
    "Reproduction",
    "fits",
    "in_bar",
    "in_the_bars",
    "median_error",
    "names",
    "ordered_pairs",
    "reproduce",
    "select",
    "summary_of",
]

SEEDS, QUICK_SEEDS = 10, 1

_ALL: dict[str, Callable[[Lab, bool], Reproduction]] = {
    "000-fig2": paper000.figure2,
    "000-fig3": paper000.figure3,
    "000-fig12": paper000.figure12,
    "000-fig13": paper000.figure13,
    "000-fig14": paper000.figure14,
    "000-fig15": paper000.figure15,
    "000-fig16": paper000.figure16,
    "000-fig17": paper000.figure17,
    "000-s7": paper000.section7,
    "001-fig5": paper001.figure5,
    "001-fig6": paper001.figure6,
    "001-fig7": paper001.figure7,
    "001-fig8": paper001.figure8,
    "001-table5": paper001.table5,
    "001-fig10": paper001_broadcast.figure10,
    "001-fig11": paper001_broadcast.figure11,
    "001-table11": paper001.table11,
    "001-table12": paper001.table12,
    "002-fig14": paper002.figure14,
    "002-fig15": paper002.figure15,
    "002-fig16": paper002.figure16,
    "002-fig17": paper002.figure17,
    "002-fig18": paper002.figure18,
    "002-fig31": paper002.figure31,
    "002-fig32": paper002.figure32,
    "002-fig35": paper002.figure35,
    "002-fig36": paper002.figure36,
    "002-fig37": paper002.figure37,
    "002-fig38": paper002.figure38,
    "003-fig1": paper003.figure1,
    "003-table1": paper003.table1,
    "003-table2": paper003.table2,
    "003-table3": paper003.table3,
    "003-table4": paper003.table4,
    "003-fig8": paper003.figure8,
    "003-fig9": paper003.figure9,
    "003-fig10": paper003.figure10,
    "003-s5": paper003_break_even.section5,
    "004-table1": paper004.table1,
    "004-table2": paper004.table2,
    "004-table3": paper004.table3,
    "004-table4": paper004.table4,
    "004-table5": paper004.table5,
    "004-table6": paper004.table6,
}

IN_THE_BARS = ("003-table2", "003-table3", "004-table4", "004-table5", "004-table6", "001-table11")


def names() -> list[str]:
    """Everything that can be reproduced, by paper."""
    return list(_ALL)


def select(wanted: Iterable[str]) -> list[str]:
    """Names for words like "003-table2" or "003"; all for none. Raises nuice.Error for any other word."""
    words = list(wanted)
    chosen = []
    for word in words:
        found = [name for name in _ALL if name == word or name.startswith(f"{word}-")]
        if not found:
            raise Error(f"{word!r} is no table or figure: there are {', '.join(_ALL)}")
        chosen += found
    return list(dict.fromkeys(chosen)) if words else names()


def reproduce(
    wanted: Sequence[str] = (), *, quick: bool = False, lab: Lab | None = None
) -> Iterator[Reproduction]:
    """Regenerates tables and figures, one after the other. `lab` may bring machines of its own."""
    chosen = select(wanted)
    at_work = lab or Lab(QUICK_SEEDS if quick else SEEDS)
    return (_ALL[name](at_work, quick) for name in chosen)


def fits() -> list[dict[str, Any]]:
    """What the machines are fitted to, by lab/bench/run.py fit_machines; all other cells are predictions."""
    return printed_tables.rows(Path(__file__).parent / "data" / "fits.csv")


def in_the_bars(results: Iterable[Reproduction]) -> list[Cell]:
    """Costs of exchanges with messages up to 32 KiB in the tables that the machine must predict."""
    return [
        cell
        for result in results
        if result.name in IN_THE_BARS
        for part in result.parts
        if part.title.startswith("cost of the exchange")
        for cell in part.cells
        if not cell.large
    ]

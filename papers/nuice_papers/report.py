# SPDX-License-Identifier: BSD-3-Clause
"""A reproduced table or figure: printed and simulated numbers, and how well they agree.

Two figures summarise a table. *Error*: the median over its cells of |NUICE's number / printed number - 1|.
*Order*: only pairs of columns in a row are counted whose printed numbers differ by more than 10 % (of the
smaller). It is the share of these pairs that NUICE's numbers order in the same way. Closer pairs are counted
separately. Claims are sentences of the paper that hold in simulation or not. If a claim does not hold, a
physical reason is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .runs import Lab

APART = 0.10  # printed numbers that are closer than this have no order
LEVEL = 1.03  # curves that are closer than this cannot be distinguished in a figure
LARGEST_IN_BAR = 32 * 1024  # bytes: larger messages met the memory of the real machine


@dataclass(frozen=True)
class Cell:
    """One number of a table."""

    row: tuple[tuple[str, Any], ...]  # the row's keys, (("degree", 4), ("bytes", 16))
    column: str  # usually the algorithm
    printed: float
    ours: float
    fitted: bool = False  # whether the machine was fitted to this cell
    large: bool = False  # whether it has messages above 32 KiB

    @property
    def error(self) -> float:
        """Returns the signed error relative to the printed number; 0 if both are 0."""
        return self.ours / self.printed - 1 if self.printed else float(self.ours != 0)


@dataclass(frozen=True)
class Claim:
    """A statement of a paper about a figure or text, which holds or does not."""

    text: str
    holds: bool
    seen: str  # the numbers behind the verdict
    reason: str = ""  # why it does not hold, if it does not


@dataclass(frozen=True)
class Curves:
    """The curves of a figure and NUICE's: drawn, not counted."""

    title: str
    x: str
    y: str
    lines: dict[str, Sequence[tuple[float, float]]]
    log: bool = True  # both axes


@dataclass(frozen=True)
class Part:
    """Cells with one unit, shown as one table."""

    title: str
    unit: str
    cells: Sequence[Cell]
    timed_here: bool = False  # planning time on this computer, which never is the papers' number, and varies

    def median_error(self) -> float | None:
        return median_error(self.cells)

    def order(self) -> tuple[int, int]:
        return ordered_pairs(self.cells)


@dataclass
class Reproduction:
    """A table or figure of a paper, to which its function adds results."""

    name: str  # "003-table2"
    title: str
    parts: list[Part] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    curves: list[Curves] = field(default_factory=list)

    def claim(self, text: str, holds: bool, seen: str, reason: str = "") -> None:
        self.claims.append(Claim(text, holds, seen, reason))

    def counted(self) -> list[Cell]:
        """Returns the cells that count: those of all parts except times of this computer."""
        return [cell for part in self.parts if not part.timed_here for cell in part.cells]

    def summary(self) -> dict[str, Any]:
        """Returns the summarising figures, for JSON."""
        return summary_of([self])

    def figures(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "name": self.name,
            "title": self.title,
            "parts": [_part_figures(part) for part in self.parts],
            "claims": [_figures(claim, "reason" if claim.holds else "") for claim in self.claims],
            "notes": self.notes,
        }


Fill = Callable[[Reproduction, "Lab", bool], None]
REPRODUCED: dict[str, Callable[[Lab, bool], Reproduction]] = {}


def reproduces(name: str, title: str) -> Callable[[Fill], Fill]:
    """Registers a function that fills in a table or figure, given a lab and whether to be quick."""

    def register(fill: Fill) -> Fill:
        def make(lab: Lab, quick: bool) -> Reproduction:
            found = Reproduction(name, title)
            fill(found, lab, quick)
            return found

        REPRODUCED[name] = make
        return fill

    return register


def listed(times: Mapping[str, float], spec: str = ".4g", unit: str = "ms") -> str:
    """Returns times as text: "lp 3.2, ac 4.5 ms"."""
    return ", ".join(f"{name} {time:{spec}}" for name, time in times.items()) + f" {unit}"


def ranked(times: Mapping[str, float], spec: str = ".4g") -> str:
    """Returns times as text, the smallest first."""
    return listed(dict(sorted(times.items(), key=lambda entry: entry[1])), spec)


def least(times: Mapping[str, float]) -> str:
    return min(times, key=times.__getitem__)


def most(times: Mapping[str, float]) -> str:
    return max(times, key=times.__getitem__)


def summary_of(results: Sequence[Reproduction]) -> dict[str, Any]:
    """Returns the summary over all counted cells, pairs and claims."""
    cells = [cell for result in results for cell in result.counted()]
    parts = [part for result in results for part in result.parts if not part.timed_here]
    pairs = [part.order() for part in parts]
    close = [ordered_pairs(part.cells, close=True) for part in parts]
    claims = [claim for result in results for claim in result.claims]
    return {
        "cells": len(cells),
        "fitted_cells": sum(cell.fitted for cell in cells),
        "median_error": median_error(cells),
        "median_error_predicted": median_error(cell for cell in cells if not cell.fitted),
        "pairs": sum(total for _, total in pairs),
        "pairs_in_order": sum(right for right, _ in pairs),
        "close_pairs": sum(total for _, total in close),
        "close_pairs_in_order": sum(right for right, _ in close),
        "claims": len(claims),
        "claims_held": sum(claim.holds for claim in claims),
    }


def median_error(cells: Iterable[Cell]) -> float | None:
    errors = [abs(cell.error) for cell in cells]
    return median(errors) if errors else None


def ordered_pairs(cells: Iterable[Cell], close: bool = False) -> tuple[int, int]:
    """Returns two counts of pairs within rows: those ordered as printed, and those whose printed numbers
    differ by more than 10 %. close: counts the closer pairs instead."""
    rows: dict[Any, list[Cell]] = {}
    for cell in cells:
        rows.setdefault(cell.row, []).append(cell)
    right = total = 0
    for row in rows.values():
        for a, b in combinations(row, 2):
            is_close = abs(a.printed - b.printed) <= APART * min(a.printed, b.printed)
            if is_close != close or a.printed == b.printed:
                continue
            total += 1
            right += (a.printed < b.printed) == (a.ours < b.ours)
    return right, total


def in_bar(cells: Iterable[Cell]) -> list[Cell]:
    """Returns predicted cells with messages up to 32 KiB."""
    return [cell for cell in cells if not cell.large and not cell.fitted]


def _figures(record: Cell | Claim | Part, *but: str) -> dict[str, Any]:
    return {key: value for key, value in vars(record).items() if key not in but}


def _part_figures(part: Part) -> dict[str, Any]:
    right, total = (0, 0) if part.timed_here else part.order()
    cells = [dict(cell.row) | _figures(cell, "row") | {"error": cell.error} for cell in part.cells]
    return _figures(part) | {
        "median_error": None if part.timed_here else part.median_error(),
        "pairs_ordered_as_printed": right,
        "pairs_apart": total,
        "cells": cells,
    }

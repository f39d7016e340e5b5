# SPDX-License-Identifier: BSD-3-Clause
"""Maps of the fastest candidate by messages per rank and message size (000 figs 16 and 17), and the
break-even of 003 s.5.1.

Usage:
    regions = nuice.advice_map.region_map("cm5-32")
    regions.winner[2][3], regions.degrees[2], regions.sizes[3]
    nuice.advice_map.break_even("cm5-32", reuse=1)

Matrices are as in 003 fig. 7: every rank sends `degree` messages and receives `degree` messages, all of the
same size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from . import _core
from ._core import Machine
from .advising import advise

PAPER_CANDIDATES = ("ac", "lp", "rs_n", "rs_nl")  # 000 figs 16 and 17 draw AC, LP and the RS_N family
DEFAULT_SIZES = tuple(16 * 4**k for k in range(8))  # 16 B to 256 KiB


@dataclass(frozen=True)
class RegionMap:
    """A map of winners. winner[i][j] is the candidate with the lowest cost (planning time / reuse + exchange
    time) for degrees[i] and sizes[j]; total_s[i][j] is this cost.
    """

    machine: str
    ranks: int
    reuse: int
    degrees: tuple[int, ...]
    sizes: tuple[int, ...]
    candidates: tuple[str, ...]
    winner: tuple[tuple[str, ...], ...]
    total_s: tuple[tuple[float, ...], ...]

    def figures(self) -> dict[str, Any]:
        """Returns what `nuice advise --map --json` prints."""
        return {
            "machine": self.machine,
            "ranks": self.ranks,
            "reuse": self.reuse,
            "degrees": list(self.degrees),
            "sizes": list(self.sizes),
            "candidates": list(self.candidates),
            "winner": [list(row) for row in self.winner],
            "total_seconds": [list(row) for row in self.total_s],
        }


def degrees_for(ranks: int) -> tuple[int, ...]:
    """Returns about eight degrees, from 1 to all ranks."""
    return tuple(
        sorted({1, 2, 4, *(max(1, (ranks - 1) * k // 6) for k in range(1, 7))} & set(range(1, ranks)))
    )


def paper_candidates(machine: Machine) -> list[str]:
    """Returns the candidates of the maps in paper 000. RS_NL is included only if the machine has links."""
    known = {name.split(":")[0] for name in _core.all_candidates(machine)}
    return [name for name in PAPER_CANDIDATES if name in known]


def region_map(
    machine: Machine | str,
    ranks: int | None = None,
    degrees: Sequence[int] | None = None,
    sizes: Sequence[int] = DEFAULT_SIZES,
    *,
    reuse: int = 100,
    candidates: Sequence[str] | None = None,
    predict_by: str = "simulation",
    seed: int = 0,
) -> RegionMap:
    """Finds the fastest candidate for each cell of the map. ranks: the number of ranks, at most that of the
    machine (None: 32). candidates: None means the candidates of the papers.

    predict_by: "simulation" simulates every candidate for every degree and size; "rule" is faster and
    predicts by a formula. Raises the errors of nuice.advise().
    """
    target = _core.find_machine(machine) if isinstance(machine, str) else machine
    count = min(32, target.num_ranks) if ranks is None else ranks
    names = list(candidates or paper_candidates(target))
    rows = degrees_for(count) if degrees is None else tuple(degrees)

    def choices(degree: int) -> list[_core.Candidate]:
        return [
            advise(
                _core.random_regular(count, degree, unit_bytes=size, seed=seed),
                target,
                reuse,
                candidates=names,
                seed=seed,
                predict_by=predict_by,
            ).choice
            for size in sizes
        ]

    cells = [choices(degree) for degree in rows]
    return RegionMap(
        machine=target.name,
        ranks=count,
        reuse=reuse,
        degrees=rows,
        sizes=tuple(sizes),
        candidates=tuple(names),
        winner=tuple(tuple(c.name for c in row) for row in cells),
        total_s=tuple(tuple(c.total_s for c in row) for row in cells),
    )


@dataclass(frozen=True)
class BreakEven:
    """The largest degree at which CGM costs no more than LP, for messages of one size; 0 if LP always costs
    less.
    """

    bytes: int
    degree: int


def break_even(
    machine: Machine | str, ranks: int = 32, sizes: Sequence[int] = DEFAULT_SIZES, *, reuse: int = 1
) -> list[BreakEven]:
    """Finds the largest degree at which CGM (RS_N) costs no more than LP, if a schedule is used `reuse` times
    (003 s.5.1). Exchanges are simulated; planning times are the adviser's estimates for the machine.
    """
    target = _core.find_machine(machine) if isinstance(machine, str) else machine

    def pays(degree: int, size: int) -> bool:
        exchange_s, planning_s = gain_of_cgm(target, ranks, degree, size)
        return exchange_s >= planning_s / reuse

    return [BreakEven(size, last_degree(ranks, lambda d, s=size: pays(d, s))) for size in sizes]


def last_degree(ranks: int, holds: Callable[[int], bool]) -> int:
    """Returns the largest degree up to which `holds` is true."""
    degree = 0
    while degree + 1 < ranks and holds(degree + 1):
        degree += 1
    return degree


def gain_of_cgm(machine: Machine, ranks: int, degree: int, size: int) -> tuple[float, float]:
    """Returns the time in seconds that CGM saves per exchange, compared with LP, and the additional time that
    CGM needs for planning.
    """
    matrix = _core.random_regular(ranks, degree, unit_bytes=size, seed=0)
    advice = advise(matrix, machine, 1, candidates=["lp", "cgm"], predict_by="simulation")
    by = {c.scheduler: c for c in advice.candidates}
    return by["lp"].exchange_s - by["cgm"].exchange_s, by["cgm"].planning_s - by["lp"].planning_s

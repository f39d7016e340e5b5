# SPDX-License-Identifier: BSD-3-Clause
"""003 s.5.1: the largest number of messages per rank for which CGM, planned for one exchange, costs no more
than LP."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from statistics import mean

import numpy as np

from nuice.advice_map import gain_of_cgm, last_degree

from . import printed_tables
from .report import Curves, Reproduction, reproduces
from .runs import Lab

MACHINE = "cm5-32"
RANKS = 32
SIZES = (64, 1024, 16384)
FULL_SIZES = tuple(16 * 4**k for k in range(8))  # 16 B to 256 KiB


@reproduces("003-s5", "a schedule that is used once: the degree up to which CGM costs no more than LP")
def section5(found: Reproduction, lab: Lab, quick: bool) -> None:
    """Compares the printed inequality, with constants from the printed tables, with simulated exchanges and
    the same S."""
    sizes = SIZES if quick else FULL_SIZES
    rule = {size: by_rule(size) for size in sizes}
    ours = {size: by_simulation(lab, size) for size in sizes}
    seen = ", ".join(f"{size} B: {ours[size]} [{rule[size]}]" for size in sizes)
    near = abs(by_rule(64) - by_simulation(lab, 64)) <= 3
    found.claim("64 bytes: the rule and the simulation are within 3 messages", near, seen)
    grows = all(d[a] <= d[b] for d in (rule, ours) for a, b in pairwise(sizes))
    found.claim("the longer the messages, the more of them may be scheduled by CGM", grows, seen)
    lines = {
        name: [(size, degree) for size, degree in degrees.items() if degree]
        for name, degrees in (("the printed rule", rule), ("simulated", ours))
    }
    title = "up to which degree CGM costs no more than LP, used once"
    found.curves = [Curves(title, "bytes of a message", "messages of a rank", lines)]


def by_rule(size: int) -> int:
    """Returns the number by the inequality before (5)."""
    return last_degree(RANKS, lambda degree: _printed_gain_s(degree, RANKS, size) >= 0)


def by_simulation(lab: Lab, size: int) -> int:
    """Returns the number by simulated exchanges and the S of a CM-5 node."""
    machine = lab.machine(MACHINE)
    return last_degree(
        RANKS, lambda degree: gain_of_cgm(machine, RANKS, degree, size)[0] >= _planning_s(degree, RANKS)
    )


@dataclass(frozen=True)
class PaperConstants:
    """The constants of 003 s.5.1, in seconds. LP takes n tau + C1 d M phi, and CGM takes C2 d n ln d + C3 d
    (tau + M phi)."""

    tau: float
    phi: float
    c1: float
    c2: float
    c3: float


@cache
def paper_constants() -> PaperConstants:
    """Returns the constants. The paper prints only the formula: tau and phi come from its table 1, C1 and C3
    from its tables 2 and 3 (4 to 16 KiB, where they vary least), C2 from its table 4."""
    table1 = printed_tables.table("003_table1")
    alone = [(r["bytes"], r["average_ms"] / 1e3) for r in table1 if r["bytes"] <= 16384]
    tau, phi = _relative_fit([[1.0, size] for size, _ in alone], [seconds for _, seconds in alone])
    rows = [r for r in printed_tables.table("003_tables2_3") if 4096 <= r["bytes"] <= 16384]
    c1 = mean((r["lp"] / 1e3 - 32 * tau) / (r["degree"] * r["bytes"] * phi) for r in rows)
    c3 = mean(r["cgm"] / 1e3 / (r["degree"] * (tau + r["bytes"] * phi)) for r in rows)
    c2 = mean(
        r["schedule_ms"] / 1e3 / (r["degree"] * r["ranks"] * math.log(r["degree"]))
        for r in printed_tables.table("003_table4")
        if r["degree"] >= 4
    )
    return PaperConstants(tau, phi, c1, c2, c3)


def _relative_fit(rows: list[list[float]], values: list[float]) -> tuple[float, ...]:
    weights = 1 / np.array(values)
    return tuple(
        np.linalg.lstsq(np.array(rows) * weights[:, None], np.ones(len(values)), rcond=None)[0].tolist()
    )


def _planning_s(degree: int, ranks: int) -> float:
    return paper_constants().c2 * degree * ranks * math.log(degree)


def _printed_gain_s(degree: int, ranks: int, size: int) -> float:
    """Returns the seconds that CGM's exchange saves over LP's, minus its planning."""
    c = paper_constants()
    less_s = (ranks - c.c3 * degree) * c.tau + (c.c1 - c.c3) * degree * size * c.phi
    return less_s - _planning_s(degree, ranks)

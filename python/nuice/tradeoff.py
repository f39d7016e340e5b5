# SPDX-License-Identifier: BSD-3-Clause
"""The schedules between fewest phases and fewest bytes that no other schedule beats, and the best of them for
a machine.

In the phase model a schedule costs  alpha * phases + beta * phase_bytes,  where alpha is the cost of a phase
and beta the time per byte. No one-port schedule costs less than alpha * max_degree + beta * max_port_bytes.

Usage:
    result = nuice.frontier(matrix, alpha_s=20e-6, beta_s_per_byte=0.8e-9)
    result.best.plan.save("halo.plan")
    print(result.best.cost_s / result.bound_s)
"""

from __future__ import annotations

from dataclasses import dataclass

from . import _core
from ._core import CommMatrix
from .errors import Error
from .matrix import require_matrix
from .planning import Plan, plan

# kpbs plans for several multiples of alpha / beta, so that its points are spread along the frontier.
KPBS_COST_FACTORS = (1 / 64, 1 / 16, 1 / 4, 1, 4)


@dataclass(frozen=True, eq=False)
class FrontierPoint:
    """A schedule that no other candidate beats in both phases and bytes."""

    plan: Plan
    cost_s: float
    phase_cost_bytes: int | None  # the argument of kpbs; None for other schedulers


@dataclass(frozen=True, eq=False)
class Frontier:
    """The points, sorted by ascending phases; the cheapest point; and the lower bound on the cost."""

    points: tuple[FrontierPoint, ...]
    best: FrontierPoint
    bound_s: float


def frontier(matrix: CommMatrix, alpha_s: float, beta_s_per_byte: float, seed: int = 0) -> Frontier:
    """Finds the schedules that no other candidate beats in both phases and bytes. The candidates are plans by
    every direct one-port scheduler, and by kpbs for several costs of a phase.

    The search takes as long as making the plans of all candidates. Raises nuice.Error for a negative or
    infinite cost, if both costs are 0, and for a matrix without messages.
    """
    require_matrix(matrix)
    if not (0 <= alpha_s < float("inf") and 0 <= beta_s_per_byte < float("inf")):
        raise Error(
            f"alpha {alpha_s} s and beta {beta_s_per_byte} s per byte must be finite and not negative"
        )
    if alpha_s == 0 and beta_s_per_byte == 0:
        raise Error("alpha and beta are both 0: every schedule would cost nothing")
    if matrix.num_messages == 0:
        raise Error("the matrix has no messages between different ranks")

    def cost_s(phases: int, num_bytes: int) -> float:
        return alpha_s * phases + beta_s_per_byte * num_bytes

    points = []
    for name, phase_cost_bytes in _candidates(matrix, alpha_s, beta_s_per_byte):
        cost = _core.DEFAULT_PHASE_COST_BYTES if phase_cost_bytes is None else phase_cost_bytes
        made = plan(matrix, name, seed, phase_cost_bytes=cost)
        points.append(FrontierPoint(made, cost_s(made.phases, made.phase_bytes), phase_cost_bytes))
    kept = _undominated(points)
    bounds = _core.lower_bounds(matrix)
    best = min(kept, key=lambda point: (point.cost_s, point.plan.phases))
    return Frontier(tuple(kept), best, cost_s(bounds.max_degree, bounds.max_port_bytes))


def _candidates(matrix: CommMatrix, alpha_s: float, beta: float) -> list[tuple[str, int | None]]:
    rows = [row for row in _core.schedulers() if {"direct", "one_port"} <= set(row.guarantees)]
    names = [row.name for row in rows if not row.why_not(matrix)]
    candidates: list[tuple[str, int | None]] = [(name, None) for name in names if name != "kpbs"]
    if "kpbs" in names and beta > 0:
        most = _core.lower_bounds(
            matrix
        ).max_port_bytes  # a phase that costs more than all bytes changes nothing
        costs = {max(1, min(most, round(alpha_s / beta * factor))) for factor in KPBS_COST_FACTORS}
        candidates += [("kpbs", cost) for cost in sorted(costs)]
    return candidates


def _undominated(points: list[FrontierPoint]) -> list[FrontierPoint]:
    kept: list[FrontierPoint] = []
    # The sort is stable: of equal schedules the first in the registry stays.
    for point in sorted(points, key=lambda p: (p.plan.phases, p.plan.phase_bytes)):
        if not kept or point.plan.phase_bytes < kept[-1].plan.phase_bytes:
            kept.append(point)
    return kept

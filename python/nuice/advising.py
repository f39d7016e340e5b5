# SPDX-License-Identifier: BSD-3-Clause
"""Says which scheduler and executor suit a matrix, a machine and a number of uses, and why the others do not
suit them.

Usage:
    advice = nuice.advise(matrix, "ethernet-10g", reuse=1000)
    advice.choice.name, advice.sentence, [c.why_not for c in advice.candidates]
    print(advice.to_text())
"""

from __future__ import annotations

from collections.abc import Iterable

from . import _core
from ._core import Advice, CommMatrix, Machine
from .matrix import require_matrix
from .simulation import machine_for


def advise(
    matrix: CommMatrix,
    machine: Machine | str,
    reuse: int = 100,
    *,
    candidates: Iterable[str] | None = None,
    seed: int = 0,
    predict_by: str | None = None,
    budget_s: float | None = None,
) -> Advice:
    """Predicts the planning time and the exchange time of every candidate. Chooses the candidate with the
    least total time per exchange, which is planning time / reuse + exchange time.

    machine: a Machine, the name of a shipped machine, or a file NAME.toml. If the machine can grow, it gets
    as many ranks as the matrix. candidates: strings "SCHEDULER:EXECUTOR" or "SCHEDULER"; by default all
    candidates that the machine allows. predict_by: "rule" or "simulation"; all candidates are then predicted
    in this way, at any cost. budget_s: the time that the decision may take; by default at most 3 s, and only
    what is likely to save more time in all exchanges than it takes. This time is estimated from counted work,
    so the same arguments give the same advice. Raises nuice.Error for unknown names, for a machine with fewer
    ranks than the matrix, and if no candidate is applicable.
    """
    require_matrix(matrix)
    target = machine_for(machine, matrix)
    return _core.advise_on(
        matrix, target, reuse, list(candidates or []), seed, predict_by=predict_by, budget_s=budget_s
    )

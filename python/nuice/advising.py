# SPDX-License-Identifier: BSD-3-Clause
"""Says which scheduler and executor suit a matrix, a machine and a number of uses, and why the others do not.

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
    """Predicts planning and exchange time of every candidate. Chooses the candidate with the least time per
    exchange: planning time / reuse + exchange time.

    machine: an object, the name of a shipped machine, or a file NAME.toml; a machine that grows gets the size
    of the matrix. candidates: "SCHEDULER:EXECUTOR" or "SCHEDULER"; by default all that the machine allows.
    predict_by: "rule" or "simulation" for all candidates, at any cost. By default the decision may take half
    as long as the planned exchanges, at least 0.1 ms and at most 3 s (or budget_s). This time is estimated
    from counted work, so the same arguments give the same advice. Raises nuice.Error for unknown names, for a
    machine with fewer ranks than the matrix, and if no candidate is applicable.
    """
    require_matrix(matrix)
    target = machine_for(machine, matrix)
    return _core.advise_on(
        matrix, target, reuse, list(candidates or []), seed, predict_by=predict_by, budget_s=budget_s
    )

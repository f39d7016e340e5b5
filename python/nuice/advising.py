# SPDX-License-Identifier: BSD-3-Clause
"""Which scheduler and executor suit a matrix, a machine and a number of reuses, and why not the others.

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
    """Predicts planning and exchange time of every candidate; the least planning / reuse + exchange wins.

    machine: an object, the name of a shipped one, or a file NAME.toml; a machine that grows gets the size of
    the matrix. candidates: "SCHEDULER:EXECUTOR" or "SCHEDULER"; by default all that the machine allows.
    predict_by: "rule" or "simulation" for all of them, whatever it costs. By default deciding may take half
    as long as the planned exchanges, at least 0.1 ms and at most 3 s (or budget_s). That time is estimated
    from counted work, so the same arguments give the same advice. Raises nuice.Error for unknown names, a
    machine with fewer ranks than the matrix, or if nothing is applicable.
    """
    require_matrix(matrix)
    target = machine_for(machine, matrix)
    return _core.advise_on(
        matrix, target, reuse, list(candidates or []), seed, predict_by=predict_by, budget_s=budget_s
    )

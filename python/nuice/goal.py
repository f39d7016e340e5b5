# SPDX-License-Identifier: BSD-3-Clause
"""Writes schedules in GOAL, so that other simulators can run them. GOAL is the language of LogGOPSim
(Hoefler, Schneider and Lumsdaine, HPDC 2010), and ATLAHS and htsim read it too.

    text = goal_text(schedule, matrix.num_ranks, "phased")
"""

from __future__ import annotations

from collections.abc import Iterator

from . import _core
from .errors import Error

PACES = ("at_once", "phases")


def goal_text(schedule: _core.Schedule, num_ranks: int, executor: str = "phased") -> str:
    """Returns the sends and receives of every rank, with a tag for each phase.

    If the executor waits for phases, an operation requires the operations of the rank's previous busy phase.
    If the executor does not wait, no operation requires another. GOAL cannot express other executors; for
    these, raises nuice.Error with code "not_applicable". O(transfers).
    """
    pace = _core.find_executor(executor).pace
    if pace not in PACES:
        known = ", ".join(row.name for row in _core.executors() if row.pace in PACES)
        raise Error(
            f"GOAL cannot say what the executor {executor} waits for; it can for {known}", "not_applicable"
        )
    return "\n".join(_lines(schedule, num_ranks, waits=pace == "phases")) + "\n"


def _lines(schedule: _core.Schedule, num_ranks: int, waits: bool) -> Iterator[str]:
    ranks: list[dict[int, list[str]]] = [{} for _ in range(num_ranks)]  # phase -> operations
    for phase, src, dst, num_bytes in schedule.transfer_table().tolist():
        ranks[src].setdefault(phase, []).append(f"send {num_bytes}b to {dst} tag {phase}")
        ranks[dst].setdefault(phase, []).append(f"recv {num_bytes}b from {src} tag {phase}")
    yield f"num_ranks {num_ranks}"
    for rank, phases in enumerate(ranks):
        yield f"\nrank {rank} {{"
        number = 0
        before: list[int] = []
        for phase in sorted(phases):
            now = []
            for operation in phases[phase]:
                number += 1
                now.append(number)
                yield f"l{number}: {operation}"
                if waits:
                    yield from (f"l{number} requires l{other}" for other in before)
            before = now
        yield "}"

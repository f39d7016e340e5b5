# SPDX-License-Identifier: BSD-3-Clause
"""Machines, and how long schedules take on them, in simulation.

Usage:
    run = nuice.simulate(matrix, plan.schedule, "cm5-32", executor="phased")
    run.seconds, run.node_contention, run.ranks[0].idle_s
    nuice.simulate_drs_n(matrix, "cm5-32", seed=1).seconds
"""

from __future__ import annotations

from . import _core
from ._core import CommMatrix, Machine, Schedule, Simulation

EXECUTORS = ("async", "phased", "barrier", "pairwise")


def simulate(
    matrix: CommMatrix,
    schedule: Schedule,
    machine: Machine | str,
    executor: str = "phased",
    *,
    blocking_sends: bool = True,
    timeline: bool = False,
) -> Simulation:
    """Runs a schedule on a machine (an object, the name of a shipped one, or a file NAME.toml).

    The same arguments give the same result. Raises nuice.Error for an unknown machine or executor, a bad
    machine file, a topology smaller than the matrix, or ranks that would wait for each other for ever.
    """
    return _core.simulate_schedule(matrix, schedule, _machine(machine), executor, blocking_sends, timeline)


def simulate_drs_n(
    matrix: CommMatrix,
    machine: Machine | str,
    seed: int = 0,
    *,
    retry_delay_s: float = 0.0,
    timeline: bool = False,
) -> Simulation:
    """Runs the handshaking DRS_N of 004 fig. 5: no schedule, each rank asks its receivers for leave."""
    return _core.simulate_drs_n_on(matrix, _machine(machine), seed, retry_delay_s, timeline)


def _machine(machine: Machine | str) -> Machine:
    return _core.find_machine(machine) if isinstance(machine, str) else machine

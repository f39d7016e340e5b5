# SPDX-License-Identifier: BSD-3-Clause
"""Runs an algorithm of the papers on a simulated machine with its schedule and executor.

    lab = Lab(seeds=10)
    lab.mean_ms("cm5-32", "cgm", lambda seed: patterns.uniform(8, 1024, seed))

The papers' programs carried out their schedules as follows. AC posts its receives and then sends without
waiting (003 s.3.1). LP, GM, CGM, RS_N and its variants run loosely synchronous phases without barriers (003
s.5). DRS_N asks the receiver before it sends (004 s.4). The programs of 001 could only send synchronously,
so the two ranks of a pair send one after the other (001 fig. 2). On an iPSC/860 the two ranks of a pair
synchronise first, to send in both directions at once (000 s.6).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from nuice._core import CommMatrix, Schedule

from nuice import _core
from nuice.simulation import DRS_N

from . import printed_tables

_FITTED = Path(__file__).parent / "data" / "fitted.csv"
RETRY_S = 50e-6  # DRS_N: time between two inquiries; it hardly matters (004 s.6)
LINEAR = ("lex", "ls")
ALGORITHMS_001 = ("lex", "pex", "rex", "bex", "ls", "ps", "bs", "gs")


@dataclass
class Lab:
    """The machines by name, and the number of matrices in a mean."""

    seeds: int
    machines: dict[str, Any] = field(default_factory=dict)  # replace shipped machines of the same name
    draws: int = 1  # number of schedules of each matrix

    def with_few(self, draws: int = 1) -> Lab:
        """Returns a lab with means over at most three matrices, for meshes that take long to make and differ
        little. draws: the number of schedules per matrix. Use several if the compared times differ less than
        those of two random orders of AC (10 % on a hypercube)."""
        return Lab(min(self.seeds, 3), self.machines, min(self.seeds, draws))

    def machine(self, name: str) -> Any:
        """Returns a shipped machine; NAME/VARIANT is the machine with the costs of data/fitted.csv."""
        if name not in self.machines:
            base, _, variant = name.partition("/")
            self.machines[name] = (
                self.machine(base).replace(**fitted_costs(variant)) if variant else _core.find_machine(base)
            )
        return self.machines[name]

    def run(self, machine: str, algorithm: str, matrix: CommMatrix, seed: int) -> float:
        """Returns the milliseconds of one exchange."""
        if algorithm == DRS_N:
            run = _core.simulate_drs_n_on(matrix, self.machine(machine), seed=seed, retry_delay_s=RETRY_S)
            return 1e3 * run.seconds
        schedule = self.schedule(machine, algorithm, matrix, seed)
        if algorithm in LINEAR:
            schedule = one_at_a_time(schedule)
        return self.run_schedule(machine, algorithm, matrix, schedule)

    def schedule(self, machine: str, algorithm: str, matrix: CommMatrix, seed: int) -> Schedule:
        """Makes a schedule. Schedulers that avoid shared links get the machine's network."""
        if not _core.find_scheduler(algorithm).needs_topology:
            return _core.make_schedule(matrix, algorithm, seed)[0]
        network = _core.make_topology(self.machine(machine).topology)
        return _core.make_schedule(matrix, algorithm, seed, topology=network)[0]

    def run_schedule(self, machine: str, like: str, matrix: CommMatrix, schedule: Schedule) -> float:
        """Returns the milliseconds of a schedule that is carried out like the given algorithm's."""
        on = self.machine(machine)
        return 1e3 * _core.simulate_schedule(matrix, schedule, on, **executor(like, on.duplex)).seconds

    def mean_ms(self, machine: str, algorithm: str, make: Callable[[int], CommMatrix]) -> float:
        """Returns the mean over matrices make(0), make(1), ... and their draws."""
        total = 0.0
        for seed in range(self.seeds):
            matrix = make(seed)
            for draw in range(self.draws):
                total += self.run(machine, algorithm, matrix, seed + draw * self.seeds)
        return total / (self.seeds * self.draws)

    def times(
        self, machine: str, algorithms: Iterable[str], make: Callable[[int], CommMatrix]
    ) -> dict[str, float]:
        """Returns mean_ms() of each algorithm."""
        return {name: self.mean_ms(machine, name, make) for name in algorithms}

    def planning_ms(self, machine: str, algorithm: str, matrix: CommMatrix) -> float:
        """Returns the planning time of a node of this machine by the adviser's formula. AC plans nothing.
        With LP a node reads only its own row (004 s.3.2), so it takes only its share of the time for the
        whole matrix."""
        if algorithm in ("ac", "drs_n"):
            return 0.0
        on = self.machine(machine)
        links = on if _core.find_scheduler(algorithm).needs_topology else None
        whole = 1e3 * on.planning_slowdown * _core.planning_cost_s(matrix, algorithm, links)
        return whole / matrix.num_ranks if algorithm == "lp" else whole

    def mean_phases(self, algorithm: str, make: Callable[[int], CommMatrix]) -> float:
        made = (_core.make_schedule(make(seed), algorithm, seed)[0].num_phases for seed in range(self.seeds))
        return sum(made) / self.seeds


def one_at_a_time(schedule: Schedule) -> Schedule:
    """Returns a schedule with the same transfers, each in a phase of its own. So a receiver of several
    messages takes them in order (001: LEX, LS)."""
    phases = [[transfer] for k in range(schedule.num_phases) for transfer in schedule.transfers(k)]
    return Schedule.from_phases(schedule.num_ranks, phases)


@cache
def fitted_costs(variant: str) -> dict[str, float]:
    """Returns fields of the machine for other programs: "permutation" or "raw" with less overhead than the
    papers' package; "gathered", which also gathers and scatters its data."""
    rows = printed_tables.rows(_FITTED)
    row = next(row for row in rows if row["variant"] == variant)
    fields = {"send_overhead_us": "send_overhead_s", "receive_overhead_us": "receive_overhead_s"}
    fields["byte_us"] = "byte_s"
    costs = {field: 1e-6 * row[name] for name, field in fields.items() if row[name] is not None}
    bare = {"async_send_s": 0.0, "exchange_saves_s": 0.0} if "send_overhead_s" in costs else {}
    return costs | bare


@cache
def executor(algorithm: str, duplex: str) -> dict[str, Any]:
    """Returns simulate()'s arguments for the papers' program of this algorithm."""
    if algorithm == "ac":
        return {"executor": "async", "blocking_sends": False}
    if algorithm in ALGORITHMS_001 or duplex == "paired":
        return {"executor": "pairwise"}
    return {"executor": "phased"}

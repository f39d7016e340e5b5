# SPDX-License-Identifier: BSD-3-Clause
"""The steps in which the CM-5 is fitted to the papers: `bench/run.py fit_machines` runs them.

Each step is a least-squares fit of relative errors (SciPy), which uses the results of the earlier steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

import nuice

from .. import paper001, patterns, printed_tables
from ..runs import Lab, fitted_costs

MOST = 32 * 1024  # bytes of a message in steps 3 to 5
# Initial values of step 1; the steps find all of them.
UNKNOWN = ("send_overhead_s", "receive_overhead_s", "async_send_s", "exchange_saves_s", "loss_per_sender")
UNKNOWN += ("loss_most", "loss_per_sender_sending", "loss_most_sending")


@dataclass(frozen=True)
class Step:
    """A step fits fields of a machine to cells. A cell is (printed, ours(machine)).

    unknown: the initial value of each field, in units of its scale. apply: returns the machine with values
    for the fields.
    """

    where: str  # a machine, or MACHINE/VARIANT
    table: str
    columns: str
    machine: nuice.Machine  # as far as it is known
    unknown: dict[str, tuple[float, float]]
    cells: list
    apply: Callable | None = None

    def with_values(self, x):
        values = np.asarray(x) * [scale for _, scale in self.unknown.values()]
        if self.apply is not None:
            return self.apply(self.machine, values)
        return self.machine.replace(**dict(zip(self.unknown, map(float, values), strict=True)))

    def solve(self, cells, start):
        def errors(x):
            tried = self.with_values(x)
            return [ours(tried) / printed - 1 for printed, ours in cells]

        x_scale = np.maximum(start, 0.1)
        return least_squares(errors, start, bounds=(0, np.inf), diff_step=0.02, x_scale=x_scale)

    def leave_one_out(self, found):
        """Returns the errors of the cells. Each cell is predicted by a fit without it."""
        for k, (printed, ours) in enumerate(self.cells):
            others = self.cells[:k] + self.cells[k + 1 :]
            yield ours(self.with_values(self.solve(others, found).x)) / printed - 1


def both_ends(machine, x):
    return machine.replace(send_overhead_s=x[0], receive_overhead_s=x[0], byte_s=x[1])


class Fits:
    """The steps in their order. `known` is the machine of cm5-32 with the values that are already known."""

    def __init__(self, seeds):
        self.seeds = seeds
        start = dict.fromkeys(UNKNOWN, 0.0) | {"byte_s": 1e-7}
        self.known = nuice.find_machine("cm5-32").replace(**start)

    def ms(self, algorithm, pattern, *what, seeds=0):
        """Returns a function of a machine: the mean milliseconds of patterns of this kind."""
        seeds = seeds or self.seeds
        return lambda m: Lab(seeds, {"m": m}).mean_ms("m", algorithm, lambda seed: pattern(*what, seed))

    def uniform(self, column, degrees, is_size=lambda size: size <= MOST):
        """Returns the cells of a column of 003 tables 2 and 3."""
        return [
            (row[column], self.ms(column, patterns.uniform, row["degree"], row["bytes"]))
            for row in printed_tables.table("003_tables2_3")
            if row["degree"] in degrees and is_size(row["bytes"])
        ]

    def permutation(self):
        rows = printed_tables.table("003_table1")
        cells = [(r["average_ms"], self.ms("cgm", patterns.permutation, r["bytes"])) for r in rows]
        unknown = {"send_overhead_s": (0.1, 1e-3), "byte_s": (0.1, 1e-6)}
        return Step("cm5-32/permutation", "003 table 1", "all", self.known, unknown, cells, both_ends)

    def contention(self, permuted):
        def pattern(row, _):
            return patterns.to_one(row["senders"], row["bytes"])

        rows = printed_tables.table("004_table2")
        cells = [(row["recv_ms"], self.ms("ac", pattern, row, seeds=1)) for row in rows]
        unknown = {"send_overhead_s": (0.5, 1e-4), "receive_overhead_s": (0.2, 1e-4)}
        unknown |= {"loss_per_sender": (0.5, 0.1), "loss_most": (0.3, 1)}
        machine = self.known.replace(byte_s=permuted.byte_s)
        return Step("cm5-32/raw", "004 table 2", "receiver", machine, unknown, cells)

    def package(self):
        unknown = {"send_overhead_s": (1.7, 1e-4), "byte_s": (1, 1e-7)}
        cells = self.uniform("cgm", (4,))
        return Step("cm5-32", "003 table 2", "CGM, d = 4", self.known, unknown, cells, both_ends)

    def asynchronous(self):
        unknown = {
            "async_send_s": (1.0, 1e-4),
            "loss_per_sender_sending": (0.6, 1),
            "loss_most_sending": (2.5, 1),
        }
        cells = self.uniform("ac", (4, 8))
        return Step("cm5-32", "003 table 2", "AC, d = 4 and 8", self.known, unknown, cells)

    def pairs(self):
        unknown = {"exchange_saves_s": (0.7, 1e-4)}
        return Step("cm5-32", "003 table 3", "LP", self.known, unknown, self.uniform("lp", (16, 24)))

    def memory(self):
        def apply(machine, x):
            return machine.replace(memory_limit=round(x[0]), memory_slowdown=max(1.0, float(x[1])))

        def is_size(size):
            return size == 65536

        cells = [cell for a in ("ac", "lp", "gm", "cgm") for cell in self.uniform(a, (16, 24), is_size)]
        unknown = {"memory_limit": (2.5, 2.0**20), "memory_slowdown": (2.3, 1)}
        return Step("cm5-32", "003 table 3", "all, 64 KiB", self.known, unknown, cells, apply)

    def control(self):
        rows = printed_tables.table("004_table3")
        cells = [(r["concat_ms"], lambda m, n=r["ranks"]: 1e3 * nuice.concatenation_s(m, n)) for r in rows]
        for r in rows:
            cells.append((r["am_ms"], lambda m, r=r: 1e3 * nuice.discovery_s(m, r["ranks"], r["degree"])))
        unknown = {"control_word_s": (0.65, 1e-5), "control_sum_s": (1.0, 1e-5), "am_entry_s": (2.5, 1e-5)}
        return Step("cm5-32", "004 table 3", "all", self.known, unknown, cells)

    def planning(self):
        def ours(row):
            matrix = patterns.uniform(row["degree"], 1024, 0)
            return lambda m: 1e3 * nuice.planning_cost_s(matrix, "cgm") * m.planning_slowdown

        cells = [(row["cgm_ms"], ours(row)) for row in printed_tables.table("003_tables2_3_plans")]
        unknown = {"planning_slowdown": (4.0, 100)}
        return Step("cm5-32", "003 tables 2, 3", "CGM, scheduling", self.known, unknown, cells)

    def synchronous(self):
        """The port is that of cm5-32: the same nodes."""

        def apply(machine, x):
            return both_ends(machine, (x[0], machine.byte_s))

        cells = [
            (row[a], self.ms(a, patterns.density, row["density"], row["bytes"]))
            for a in ("ls", "ps")
            for row in printed_tables.table("001_table11")
        ]
        machine = nuice.find_machine(paper001.MACHINE).replace(byte_s=self.known.byte_s)
        unknown = {"send_overhead_s": (0.6, 1e-4)}
        return Step(paper001.MACHINE, "001 table 11", "LS and PS", machine, unknown, cells, apply)

    def gathered(self, machine):
        few = Lab(self.seeds).with_few().seeds
        cells = [
            (row["gs"], self.ms("gs", paper001.real_pattern, row["problem"], seeds=few))
            for row in printed_tables.table("001_table12")
        ]
        return Step("cm5-sync/gathered", "001 table 12", "GS", machine, {"byte_s": (5.0, 1e-7)}, cells)

    def all(self):
        """Yields a step; the caller sends the machine that was found."""
        permuted = yield self.permutation()
        raw = yield self.contention(permuted)
        self.known = self.known.replace(loss_per_sender=raw.loss_per_sender, loss_most=raw.loss_most)
        for make in (self.package, self.asynchronous, self.pairs, self.memory, self.control, self.planning):
            self.known = yield make()
        synchronous = yield self.synchronous()
        yield self.gathered(synchronous)


def shipped(step, name):
    machine, _, variant = step.where.partition("/")
    if variant and name in fitted_costs(variant):
        return fitted_costs(variant)[name]
    return getattr(nuice.find_machine(machine), name)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fits the CM-5 (cm5-32, cm5-sync) to the few tables that may be used for it; all others are predictions.

 1. 003 table 1, averages: one permutation      -> byte and message in a bare program ("permutation")
 2. 004 table 2, receiver: several senders      -> a raw message ("raw"), what a busy receiver loses
 3. 003 table 2, column CGM, d = 4              -> byte and message in the package
 4. 003 table 2, column AC, d = 4 and 8         -> asynchronous protocol, loss of a receiver that also sends
 5. 003 table 3, column LP                      -> what two ranks that exchange save
 6. 003 table 3, 64 KiB                         -> what fits into a node, how much slower the rest is
 7. 004 table 3                                 -> the control network, an active message by interrupt
 8. 003 tables 2 and 3, scheduling of CGM       -> how much slower a node plans
 9. 001 table 11, columns LS and PS (cm5-sync)  -> a message of synchronous sends
10. 001 table 12, column GS (cm5-sync)          -> a byte that is picked up and put down by index

Steps 3 to 5 take messages up to 32 KiB. Least squares of relative errors (SciPy), each step with what the
ones before found. Leave-one-out: a step is fitted again without each of its cells, which is then predicted.
Prints what belongs into data/machines/cm5-*.toml and fitted.csv in lab/papers/nuice_papers/data, and with
--record writes fits.csv there, which `nuice reproduce` shows; --check compares the values.

usage: fit_machines.py [--seeds 5] [--no-leave-one-out] [--check] [--record] [--quick] [--json]
"""

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

import nuice
import nuice_papers
from nuice_papers import paper001, patterns, printed_tables
from nuice_papers.runs import Lab, fitted_costs

FITS = Path(nuice_papers.__file__).parent / "data" / "fits.csv"
TOLERANCE = 0.02  # --check: the files are rounded
MOST = 32 * 1024  # bytes of a message in steps 3 to 5


@dataclass(frozen=True)
class Step:
    """x -> a machine; cells are (printed, ours(machine)). `names` are fields of `where`."""

    number: int
    where: str  # a machine, or MACHINE/VARIANT
    table: str
    names: tuple[str, ...]
    start: tuple[float, ...]
    scale: tuple[float, ...]
    apply: object
    cells: list
    columns: str = "all"


def solve(step, machine, cells, start):
    scale = np.asarray(step.scale)

    def errors(x):
        tried = step.apply(machine, x * scale)
        return [ours(tried) / printed - 1 for printed, ours in cells]

    x_scale = np.maximum(start, 0.1)
    return least_squares(errors, start, bounds=(0, np.inf), diff_step=0.02, x_scale=x_scale)


def leave_one_out(step, machine, found):
    """Errors of the cells, each predicted by a fit without it."""
    errors = []
    for k, (printed, ours) in enumerate(step.cells):
        others = step.cells[:k] + step.cells[k + 1 :]
        x = solve(step, machine, others, found).x * np.asarray(step.scale)
        errors.append(ours(step.apply(machine, x)) / printed - 1)
    return errors


def setting(*names):
    return lambda machine, x: machine.replace(**dict(zip(names, map(float, x), strict=True)))


def both_ends(machine, x):
    return machine.replace(send_overhead_s=x[0], receive_overhead_s=x[0], byte_s=x[1])


class Fits:
    """The steps in their order; `known` is the machine of cm5-32 as far as it is known."""

    def __init__(self, seeds):
        self.seeds = seeds
        self.known = nuice.find_machine("cm5-32").replace(
            send_overhead_s=0.0,
            receive_overhead_s=0.0,
            async_send_s=0.0,
            exchange_saves_s=0.0,
            loss_per_sender=0.0,
            loss_most=0.0,
            loss_per_sender_sending=0.0,
            loss_most_sending=0.0,
            byte_s=1e-7,
        )

    def ms(self, algorithm, make, seeds=None):
        return lambda m: Lab(seeds or self.seeds, {"m": m}).mean_ms("m", algorithm, make)

    def uniform(self, column, keep):
        def make(row):
            return lambda seed: patterns.uniform(row["degree"], row["bytes"], seed)

        rows = printed_tables.table("003_tables2_3")
        return [(row[column], self.ms(column, make(row))) for row in rows if keep(row)]

    def permutation(self):
        def make(num_bytes):
            return lambda seed: patterns.permutation(num_bytes, seed)

        rows = printed_tables.table("003_table1")
        cells = [(r["average_ms"], self.ms("cgm", make(r["bytes"]))) for r in rows]
        names = ("send_overhead_s", "byte_s")
        step = Step(1, "cm5-32/permutation", "003 table 1", names, (0.1, 0.1), (1e-3, 1e-6), both_ends, cells)
        return step, self.known

    def contention(self):
        def make(row):
            return lambda _: patterns.to_one(row["senders"], row["bytes"])

        cells = [(row["recv_ms"], self.ms("ac", make(row), 1)) for row in printed_tables.table("004_table2")]
        names = ("send_overhead_s", "receive_overhead_s", "loss_per_sender", "loss_most")
        start, scale = (0.5, 0.2, 0.5, 0.3), (1e-4, 1e-4, 0.1, 1)
        machine = self.known.replace(byte_s=self.permutation_byte_s)
        step = Step(2, "cm5-32/raw", "004 table 2", names, start, scale, setting(*names), cells, "receiver")
        return step, machine

    def package(self):
        cells = self.uniform("cgm", lambda row: row["degree"] == 4 and row["bytes"] <= MOST)
        names = ("send_overhead_s", "byte_s")
        return Step(
            3, "cm5-32", "003 table 2", names, (1.7, 1), (1e-4, 1e-7), both_ends, cells, "CGM, d = 4"
        ), self.known

    def asynchronous(self):
        cells = self.uniform("ac", lambda row: row["degree"] in (4, 8) and row["bytes"] <= MOST)
        names = ("async_send_s", "loss_per_sender_sending", "loss_most_sending")
        start, scale = (1.0, 0.6, 2.5), (1e-4, 1, 1)
        return Step(
            4, "cm5-32", "003 table 2", names, start, scale, setting(*names), cells, "AC, d = 4 and 8"
        ), self.known

    def pairs(self):
        cells = self.uniform("lp", lambda row: row["degree"] in (16, 24) and row["bytes"] <= MOST)
        names = ("exchange_saves_s",)
        return Step(
            5, "cm5-32", "003 table 3", names, (0.7,), (1e-4,), setting(*names), cells, "LP"
        ), self.known

    def memory(self):
        def of_memory(row):
            return row["degree"] in (16, 24) and row["bytes"] == 65536

        cells = [cell for a in ("ac", "lp", "gm", "cgm") for cell in self.uniform(a, of_memory)]
        names = ("memory_limit", "memory_slowdown")

        def apply(machine, x):
            return machine.replace(memory_limit=round(x[0]), memory_slowdown=max(1.0, float(x[1])))

        step = Step(6, "cm5-32", "003 table 3", names, (2.5, 2.3), (2.0**20, 1), apply, cells, "all, 64 KiB")
        return step, self.known

    def control(self):
        rows = printed_tables.table("004_table3")
        cells = [(r["concat_ms"], lambda m, n=r["ranks"]: 1e3 * nuice.concatenation_s(m, n)) for r in rows]
        cells += [
            (r["am_ms"], lambda m, r=r: 1e3 * nuice.discovery_s(m, r["ranks"], r["degree"])) for r in rows
        ]
        names = ("control_word_s", "control_sum_s", "am_entry_s")
        start, scale = (0.65, 1.0, 2.5), (1e-5, 1e-5, 1e-5)
        return Step(7, "cm5-32", "004 table 3", names, start, scale, setting(*names), cells), self.known

    def planning(self):
        def ours(row):
            matrix = patterns.uniform(row["degree"], 1024, 0)
            return lambda m: 1e3 * nuice.planning_cost_s(matrix, "cgm") * m.planning_slowdown

        cells = [(row["cgm_ms"], ours(row)) for row in printed_tables.table("003_tables2_3_plans")]
        names = ("planning_slowdown",)
        return Step(
            8, "cm5-32", "003 tables 2, 3", names, (4.0,), (100,), setting(*names), cells, "CGM, scheduling"
        ), self.known

    def synchronous(self):
        """The port is that of cm5-32: the same nodes."""

        def make(row):
            return lambda seed: patterns.density(row["density"], row["bytes"], seed)

        rows = printed_tables.table("001_table11")
        cells = [(row[a], self.ms(a, make(row))) for a in ("ls", "ps") for row in rows]
        names = ("send_overhead_s",)

        def apply(machine, x):
            return both_ends(machine, (x[0], machine.byte_s))

        step = Step(9, paper001.MACHINE, "001 table 11", names, (0.6,), (1e-4,), apply, cells, "LS and PS")
        return step, nuice.find_machine(paper001.MACHINE).replace(byte_s=self.known.byte_s)

    def gathered(self):
        def make(problem):
            return lambda seed: paper001.real_pattern(problem, seed)

        few = Lab(self.seeds).with_few().seeds
        rows = printed_tables.table("001_table12")
        cells = [(row["gs"], self.ms("gs", make(row["problem"]), few)) for row in rows]
        step = Step(
            10,
            "cm5-sync/gathered",
            "001 table 12",
            ("byte_s",),
            (5.0,),
            (1e-7,),
            setting("byte_s"),
            cells,
            "GS",
        )
        return step, self.synchronous_machine

    def all(self):
        """Yields (step, machine); the caller sends what was found."""
        x = yield self.permutation()
        self.permutation_byte_s = x[1]
        x = yield self.contention()
        self.known = self.known.replace(loss_per_sender=x[2], loss_most=x[3])
        x = yield self.package()
        self.known = both_ends(self.known, x)
        for make in (self.asynchronous, self.pairs, self.memory, self.control, self.planning):
            step, machine = make()
            x = yield step, machine
            self.known = step.apply(self.known, x)
        step, machine = self.synchronous()
        x = yield step, machine
        self.synchronous_machine = step.apply(machine, x)
        yield self.gathered()


def shipped(step, name):
    machine, _, variant = step.where.partition("/")
    if variant and name in fitted_costs(variant):
        return fitted_costs(variant)[name]
    return getattr(nuice.find_machine(machine), name)


def report(step, fit, found, left_out):
    record = {"step": step.number, "machine": step.where, "table": step.table, "columns": step.columns}
    record |= {"parameters": dict(zip(step.names, map(float, found), strict=True))}
    record |= {"shipped": {name: shipped(step, name) for name in step.names}}
    record |= {"cells": len(step.cells), "median_error": float(np.median(np.abs(fit.fun)))}
    record |= {"worst_error": float(np.max(np.abs(fit.fun)))}
    if left_out:
        record["leave_one_out"] = float(np.median(np.abs(left_out)))
    return record


def text(record):
    values = ", ".join(f"{name} = {value:.4g}" for name, value in record["parameters"].items())
    left_out = f", leave-one-out {100 * record['leave_one_out']:.1f} %" if "leave_one_out" in record else ""
    return (
        f"{record['step']:2} {record['table']} ({record['columns']}): {record['cells']} cells, median error "
        f"{100 * record['median_error']:.1f} %, worst {100 * record['worst_error']:.1f} %{left_out}\n"
        f"   {record['machine']}: {values}"
    )


def write(records):
    lines = ["# Found by lab/bench/fit_machines.py --record. Errors: medians of |fitted / printed - 1|."]
    lines += ["# leave_one_out: each cell predicted by a fit without it."]
    lines += ["machine,parameters,table,columns,cells,median_error,worst_error,leave_one_out"]
    for r in records:
        errors = [f"{r[key]:.4f}" for key in ("median_error", "worst_error", "leave_one_out")]
        names = " ".join(r["parameters"])
        columns = r["columns"].replace(",", ";")
        table = r["table"].replace(",", " and")
        lines.append(",".join([r["machine"], names, table, columns, str(r["cells"]), *errors]))
    FITS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def differing(record):
    for name, value in record["parameters"].items():
        stands = record["shipped"][name]
        if abs(stands - value) > TOLERANCE * value:
            yield f"{record['machine']} {name}: {stands:.4g} stands in the files, {value:.4g} was found"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5, help="matrices per cell")
    parser.add_argument("--no-leave-one-out", action="store_true", help="only the fits")
    parser.add_argument("--check", action="store_true", help="exit code 1 if shipped values differ")
    parser.add_argument("--record", action="store_true", help="write lab/papers/nuice_papers/data/fits.csv")
    parser.add_argument("--quick", action="store_true", help="only the first step: whether it works")
    parser.add_argument("--json", action="store_true", help="one JSON object per line and nothing else")
    options = parser.parse_args()
    steps = Fits(options.seeds).all()
    records, wrong = [], []
    step, machine = next(steps)
    while True:
        fit = solve(step, machine, step.cells, step.start)
        found = fit.x * np.asarray(step.scale)
        left_out = [] if options.no_leave_one_out or options.quick else leave_one_out(step, machine, fit.x)
        record = report(step, fit, found, left_out)
        records.append(record)
        wrong += differing(record)
        print(json.dumps(record) if options.json else text(record), flush=True)
        if options.quick:
            break
        try:
            step, machine = steps.send(found)
        except StopIteration:
            break
    if options.record:
        write(records)
    if options.check and not options.json:
        print("\n".join(wrong) or "the shipped values are these")
    return 1 if options.check and wrong else 0


if __name__ == "__main__":
    sys.exit(main())

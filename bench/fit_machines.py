#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fits the CM-5 (cm5-32, cm5-sync) to the few tables that may be used for it; all others are predictions.

1. 003 table 1, averages: one permutation      -> time per byte, cost of a message without the package
2. 004 table 2, receiver: several senders      -> cost of a raw message, what a busy receiver loses
3. 003 s.2.2: 0.543 ms for 1 KiB in the program, 0.422 in table 1 -> the package's share of a message's cost
4. 003 table 2, column AC, up to 32 KiB        -> asynchronous protocol, what a receiver that also sends loses
5. 001 table 12 (cm5-sync): real problems      -> what a byte costs that is picked up and put down by index

Least squares of relative errors (SciPy), each step with what the ones before found. Prints what belongs
into data/machines/cm5-32.toml and python/nuice/data/fitted.csv; --check compares with these.

usage: bench/fit_machines.py [--seeds 5] [--check] [--quick] [--json]
"""

import argparse
import json
import sys

import numpy as np
from scipy.optimize import least_squares

import nuice
from nuice import papers
from nuice.reproduce import paper001, patterns
from nuice.reproduce.runs import Lab, fitted_costs

TOLERANCE = 0.02  # --check: the files are rounded


class Fit:
    """The machine as far as it is known, and what the steps have found."""

    def __init__(self, seeds, log):
        self.log = log
        self.machine = nuice.find_machine("cm5-32").replace(
            send_overhead_s=0.0,
            receive_overhead_s=0.0,
            async_send_s=0.0,
            loss_per_sender=0.0,
            loss_most=0.0,
            loss_per_sender_sending=0.0,
            loss_most_sending=0.0,
            byte_s=1e-7,
        )
        self.seeds = seeds
        self.found = {}

    def ms(self, machine, algorithm, make):
        return Lab(self.seeds, {"m": machine}).mean_ms("m", algorithm, make)

    def step(self, title, start, scale, apply, cells):
        """Least squares of the relative errors of cells [(printed, ours(machine))] from start * scale."""
        scale = np.asarray(scale)

        def errors(x):
            machine = apply(self.machine, x * scale)
            return [ours(machine) / printed - 1 for printed, ours in cells]

        x_scale = np.maximum(start, 0.1)
        fit = least_squares(errors, start, bounds=(0, np.inf), diff_step=0.02, x_scale=x_scale)
        middle, worst = (100 * figure(np.abs(fit.fun)) for figure in (np.median, np.max))
        self.log(f"{title}: {len(cells)} cells, median error {middle:.1f} %, worst {worst:.1f} %")
        return fit.x * scale

    def permutation(self):
        def ours(num_bytes):
            return lambda m: self.ms(m, "cgm", lambda seed: patterns.permutation(num_bytes, seed))

        cells = [(row["average_ms"], ours(row["bytes"])) for row in papers.table("003_table1")]

        def apply(machine, x):
            return machine.replace(send_overhead_s=x[0], receive_overhead_s=x[0], byte_s=x[1])

        x = self.step("003 table 1", [0.1, 0.1], [1e-3, 1e-6], apply, cells)
        self.machine = apply(self.machine, x)
        self.found |= {"byte_s": x[1], "permutation.overhead_s": x[0]}

    def contention(self):
        def ours(row):
            return lambda m: self.ms(m, "ac", lambda _: patterns.to_one(row["senders"], row["bytes"]))

        cells = [(row["recv_ms"], ours(row)) for row in papers.table("004_table2")]

        def apply(machine, x):
            return machine.replace(
                send_overhead_s=x[0], receive_overhead_s=x[1], loss_per_sender=x[2], loss_most=x[3]
            )

        x = self.step("004 table 2", [0.5, 0.2, 0.5, 0.3], [1e-4, 1e-4, 0.1, 1], apply, cells)
        self.machine = self.machine.replace(loss_per_sender=x[2], loss_most=x[3])
        self.found |= {"raw.send_overhead_s": x[0], "raw.receive_overhead_s": x[1]}
        self.found |= {"loss_per_sender": x[2], "loss_most": x[3]}

    def package(self):
        in_program = next(row["value"] for row in papers.table("texts") if row["unit"] == "ms")
        alone = next(row["average_ms"] for row in papers.table("003_table1") if row["bytes"] == 1024)
        overhead = self.found["permutation.overhead_s"] + 1e-3 * (in_program - alone) / 2
        self.log(f"003 s.2.2: a permutation of 1 KiB {in_program} ms in the program, {alone} ms alone")
        self.machine = self.machine.replace(send_overhead_s=overhead, receive_overhead_s=overhead)
        self.found |= {"send_overhead_s": overhead, "receive_overhead_s": overhead}

    def asynchronous(self):
        def ours(row):
            return lambda m: self.ms(m, "ac", lambda s: patterns.uniform(row["degree"], row["bytes"], s))

        cells = [
            (row["ac"], ours(row))
            for row in papers.table("003_tables2_3")
            if row["degree"] in (4, 8) and row["bytes"] <= 32768
        ]

        def apply(machine, x):
            return machine.replace(async_send_s=x[0], loss_per_sender_sending=x[1], loss_most_sending=x[2])

        x = self.step("003 table 2, AC", [1.0, 0.6, 2.5], [1e-4, 1, 1], apply, cells)
        self.found |= {"async_send_s": x[0], "loss_per_sender_sending": x[1], "loss_most_sending": x[2]}

    def gathered(self):
        """Another machine; nothing of the steps before."""

        def ours(problem, algorithm):
            lab = Lab(self.seeds).with_few()
            return lambda m: Lab(lab.seeds, {"m": m}).mean_ms(
                "m", algorithm, lambda seed: paper001.real_pattern(problem, seed)
            )

        cells = [
            (row[a], ours(row["problem"], a))
            for row in papers.table("001_table12")
            for a in paper001.ALGORITHMS
        ]
        self.machine = nuice.find_machine(paper001.MACHINE)
        x = self.step("001 table 12", [2.0], [1e-7], lambda m, x: m.replace(byte_s=x[0]), cells)
        self.found |= {"gathered.byte_s": x[0]}


def differing(found):
    """Names whose shipped value is not what was found."""
    shipped = nuice.find_machine("cm5-32")
    for name, value in found.items():
        if "." in name:
            variant, field = name.split(".")
            costs = fitted_costs(variant)
            stands = costs[field] if field in costs else costs["send_overhead_s"]
        else:
            stands = getattr(shipped, name)
        if abs(stands - value) > TOLERANCE * value:
            yield f"{name}: {stands:.4g} stands in the files, {value:.4g} was found"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5, help="matrices per cell")
    parser.add_argument("--check", action="store_true", help="exit code 1 if shipped values differ")
    parser.add_argument("--quick", action="store_true", help="only the first step: whether it works")
    parser.add_argument("--json", action="store_true", help="one JSON object per line and nothing else")
    options = parser.parse_args()
    fit = Fit(options.seeds, (lambda line: None) if options.json else print)
    fit.permutation()
    if not options.quick:
        fit.contention()
        fit.package()
        fit.asynchronous()
        fit.gathered()
    wrong = list(differing(fit.found))
    for name, value in fit.found.items():
        print(json.dumps({"name": name, "value": value}) if options.json else f"  {name} = {value:.4g}")
    if options.check and not options.json:
        print("\n".join(wrong) or "the shipped values are these")
    return 1 if options.check and wrong else 0


if __name__ == "__main__":
    sys.exit(main())

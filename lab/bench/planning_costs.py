#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What planning and deciding cost, fitted: planning_cost of the rows in src/schedulers/table.cpp, and what is
in src/advise/planning_costs.cpp.

    nanoseconds = fixed + rank * ranks + messages * (message + log * log2(1 + degree) + hop * hops)
                + messages * log2(1 + degree) * uneven,  if sizes differ

by least squares of relative errors with no coefficient below 0; log2 is linear between powers of two. Times
are those of make and check() together, the least of some repetitions in processor time, so that other work
on the machine counts little. Prints the rows for the C++ table, and how far the fit is from what it is of.

usage: planning_costs.py [--repeat 5] [--quick] [--simulation]
"""

from __future__ import annotations

import argparse
import math
import time
from statistics import median

import numpy as np
from scipy.optimize import nnls

import nuice

PARTS = ("fixed", "rank", "message", "log", "hop", "uneven")


def log2_of(value: float) -> float:
    floor = math.floor(math.log2(value))
    return floor + value / 2**floor - 1


def mean_hops(matrix, topology) -> float:
    ids = range(0, matrix.num_messages, max(1, matrix.num_messages // 1000))
    routes = [len(topology.route(*matrix.message(i)[:2])) for i in ids]
    return sum(routes) / max(1, len(routes))


def cases(quick: bool):
    ranks = [16, 64] if quick else [16, 64, 256, 1024]
    for n in ranks:
        for d in sorted({2, 8, n // 4, n - 1}):
            if n * d > 70_000:
                continue
            for units in (1, 32):
                yield nuice.random_regular(n, d, unit_bytes=1024, max_units=units, seed=n + d)


def features(matrix, hops: float) -> list[float]:
    degree = nuice.lower_bounds(matrix).max_degree
    logs = matrix.num_messages * log2_of(1 + degree)
    uneven = len(set(matrix.bytes.tolist())) > 1
    return [
        1.0,
        matrix.num_ranks,
        matrix.num_messages,
        logs,
        matrix.num_messages * hops,
        logs if uneven else 0.0,
    ]


def least(repeat: int, run) -> float:
    times = []
    for _ in range(repeat):
        begin = time.process_time_ns()
        run()
        times.append(time.process_time_ns() - begin)
        if sum(times) > 2e9:
            break
    return min(times)


def fit(rows: list[list[float]], times: list[float]):
    weights = 1 / np.array(times)
    coefficients, _ = nnls(np.array(rows) * weights[:, None], np.ones(len(times)))
    ratios = np.array(rows) @ coefficients * weights
    return coefficients, ratios


def network_for(ranks: int) -> list[str]:
    side = 1 << (ranks.bit_length() - 1) // 2
    return [
        f"hypercube:{ranks.bit_length() - 1}",
        f"fattree:{side}x{ranks // side}/2",
        f"mesh:{side}x{ranks // side}",
    ]


def planning(repeat: int, quick: bool) -> None:
    for row in nuice.schedulers():
        if row.alias_of:
            continue
        needs_links = "link_free" in row.guarantees
        rows, times = [], []
        for matrix in cases(quick):
            if needs_links and matrix.num_messages > 17_000:
                continue
            for name in network_for(matrix.num_ranks) if needs_links else [None]:
                topology = nuice.make_topology(name) if name else None
                if row.why_not(matrix, topology=topology):
                    continue
                made = []
                count = max(1, 3000 // matrix.num_messages)  # tiny ones many times, against the clock's grain

                def make(row=row, matrix=matrix, topology=topology, made=made, count=count):
                    for _ in range(count):
                        made[:] = [nuice.make_schedule(matrix, row.name, 1, topology=topology)[0]]
                        nuice.check(matrix, made[0], row.guarantees, topology)

                times.append(least(repeat, make) / count)
                rows.append(features(matrix, mean_hops(matrix, topology) if topology else 0.0))
        coefficients, ratios = fit(rows, times)
        numbers = ", ".join(
            f".{part} = {c:.3g}" for part, c in zip(PARTS, coefficients, strict=True) if c > 0
        )
        print(
            f"{row.name}: PlanningCost{{{numbers}}}  // fit / measured {ratios.min():.2f} to "
            f"{ratios.max():.2f}, median {median(ratios):.2f} of {len(ratios)}",
            flush=True,
        )


def simulation(repeat: int, quick: bool) -> None:
    """The same for the simulator and the model: per rank, transfer, and transfer and hop."""
    for kind, run in (
        ("simulate", lambda m, s, k, e: nuice.simulate(m, s, k, e, blocking_sends=False)),
        ("model", lambda m, s, k, e: nuice.advise(m, k, candidates=[f"coloring:{e}"], predict_by="model")),
    ):
        rows, times, names = [], [], []
        for name in nuice.machine_names():
            machine = nuice.find_machine(name)
            topology = nuice.make_topology(machine.topology)
            for n in (16, 32) if quick else (16, 64, 256):
                if n > machine.num_ranks:
                    continue
                for degree in sorted({4, n // 4, n - 1}):
                    matrix = nuice.random_regular(n, degree, unit_bytes=1024, max_units=32, seed=n + degree)
                    if matrix.num_messages > 5000:
                        continue
                    schedule, took = nuice.make_schedule(matrix, "coloring")
                    for executor in ("async", "phased"):
                        used = least(repeat, lambda: run(matrix, schedule, machine, executor))  # noqa: B023
                        if kind == "model":
                            used -= min(used * 0.9, took * 1e9)
                        hops = mean_hops(matrix, topology)
                        at_once = (
                            matrix.num_messages if executor == "async" and machine.sends_at_once != 1 else n
                        )
                        flows = at_once * (hops > 0 and machine.switching == "packet")
                        count = matrix.num_messages
                        rows.append([1.0, n, count, count * hops, count * flows, count * at_once])
                        if kind == "model":
                            rows[-1] = rows[-1][:4]
                        times.append(used)
                        names.append(
                            f"{name} n={n} d={degree} {executor}: {used / matrix.num_messages:.0f} ns"
                        )
        coefficients, ratios = fit(rows, times)
        print(kind, ", ".join(f"{c:.3g}" for c in coefficients))
        print(f"  fit / measured {ratios.min():.2f} to {ratios.max():.2f}, median {median(ratios):.2f}")
        for i in np.argsort(ratios)[:5]:
            print(f"  most underestimated: {ratios[i]:.2f} {names[i]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="small cases: only whether it works")
    parser.add_argument(
        "--simulation", action="store_true", help="what simulating and modelling cost instead"
    )
    options = parser.parse_args()
    (simulation if options.simulation else planning)(options.repeat, options.quick)


if __name__ == "__main__":
    main()

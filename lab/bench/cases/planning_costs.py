# SPDX-License-Identifier: BSD-3-Clause
"""What planning and deciding cost, fitted: the coefficients that C++ has of it.

Those of planning stand as planning_cost in the rows of src/schedulers/table.cpp, those of simulating and
modelling (--simulation) in src/advise/planning_costs.cpp.

    nanoseconds = fixed + rank * ranks + messages * (message + log * log2(1 + degree) + hop * hops)
                + messages * log2(1 + degree) * uneven,  if sizes differ

by least squares of relative errors with no coefficient below 0; log2 is linear between powers of two. Times
are those of make and check() together, the least of some repetitions in processor time, so that other work
on the machine counts little. Prints the rows for the C++ table, and how far the fit is from what it is of.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from statistics import median

import numpy as np
from scipy.optimize import nnls

import nuice
from kit import Case, Column, Table

PARTS = ("fixed", "rank", "message", "log", "hop", "uneven")
# Of a simulation: of a transfer, of a hop of it, and of others that are in flight with it and share links
# or a port.
SIMULATION_PARTS = ("fixed", "rank", "transfer", "hop", "beside_on_links", "beside")


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
    messages = matrix.num_messages
    return [1.0, matrix.num_ranks, messages, logs, messages * hops, logs if uneven else 0.0]


def least(repeat: int, run) -> float:
    times = []
    for _ in range(repeat):
        begin = time.process_time_ns()
        run()
        times.append(time.process_time_ns() - begin)
        if sum(times) > 2e9:
            break
    return min(times)


def fit(parts: tuple[str, ...], rows: list[list[float]], times: list[float], names: list[str]) -> dict:
    """Coefficients, fit over measured, and the names of those that it underestimates most."""
    weights = 1 / np.array(times)
    coefficients, _ = nnls(np.array(rows) * weights[:, None], np.ones(len(times)))
    ratios = np.array(rows) @ coefficients * weights
    return {
        "coefficients": dict(zip(parts, map(float, coefficients), strict=False)),
        "measured": len(ratios),
        "lowest": float(ratios.min()),
        "highest": float(ratios.max()),
        "median": float(median(ratios)),
        "underestimated": {names[i]: float(ratios[i]) for i in np.argsort(ratios)[:5]},
    }


def network_for(ranks: int) -> list[str]:
    side = 1 << (ranks.bit_length() - 1) // 2
    grid = f"{side}x{ranks // side}"
    return [f"hypercube:{ranks.bit_length() - 1}", f"fattree:{grid}/2", f"mesh:{grid}"]


def planning(repeat: int, quick: bool) -> Iterator[dict]:
    for row in nuice.schedulers():
        if row.alias_of:
            continue
        needs_links = "link_free" in row.guarantees
        rows, times, names = [], [], []
        for matrix in cases(quick):
            if needs_links and matrix.num_messages > 17_000:
                continue
            for name in network_for(matrix.num_ranks) if needs_links else [None]:
                topology = nuice.make_topology(name) if name else None
                if row.why_not(matrix, topology=topology):
                    continue
                times.append(nanoseconds_of(row, matrix, topology, repeat))
                rows.append(features(matrix, mean_hops(matrix, topology) if topology else 0.0))
                names.append(f"{name or 'any network'} n={matrix.num_ranks} messages={matrix.num_messages}")
        yield {"scheduler": row.name} | fit(PARTS, rows, times, names)


def nanoseconds_of(row, matrix, topology, repeat: int) -> float:
    """To make a schedule and check it."""
    count = max(1, 3000 // matrix.num_messages)  # tiny ones many times, against the clock's grain

    def make():
        for _ in range(count):
            schedule = nuice.make_schedule(matrix, row.name, 1, topology=topology)[0]
            nuice.check(matrix, schedule, row.guarantees, topology)

    return least(repeat, make) / count


def patterns_of(machine, quick: bool) -> Iterator:
    for n in (16, 32) if quick else (16, 64, 256):
        for degree in sorted({4, n // 4, n - 1}):
            if n <= machine.num_ranks and n * degree <= 5000:
                yield nuice.random_regular(n, degree, unit_bytes=1024, max_units=32, seed=n + degree)


def simulation(repeat: int, quick: bool) -> Iterator[dict]:
    """The same for the simulator, and for the model, which does not ask what is in flight."""
    for kind in ("simulate", "model"):
        rows, times, names = [], [], []
        for machine in map(nuice.find_machine, nuice.machine_names()):
            topology = nuice.make_topology(machine.topology)
            for matrix in patterns_of(machine, quick):
                schedule, took = nuice.make_schedule(matrix, "coloring")
                hops, count = mean_hops(matrix, topology), matrix.num_messages
                for executor in ("async", "phased"):
                    used = least(repeat, runner(kind, matrix, schedule, machine, executor))
                    if kind == "model":
                        used -= min(used * 0.9, took * 1e9)
                    all_at_once = executor == "async" and machine.sends_at_once != 1
                    at_once = count if all_at_once else matrix.num_ranks
                    flows = at_once * (hops > 0 and machine.switching == "packet")
                    row = [1.0, matrix.num_ranks, count, count * hops, count * flows, count * at_once]
                    rows.append(row if kind == "simulate" else row[:4])
                    times.append(used)
                    names.append(f"{machine.name} n={matrix.num_ranks} messages={count} {executor}")
        yield {"scheduler": kind} | fit(SIMULATION_PARTS, rows, times, names)


def runner(kind: str, matrix, schedule, machine, executor: str):
    if kind == "simulate":
        return lambda: nuice.simulate(matrix, schedule, machine, executor, blocking_sends=False)
    return lambda: nuice.advise(matrix, machine, candidates=[f"coloring:{executor}"], predict_by="model")


def rows(options) -> Iterator[dict]:
    return (simulation if options.simulation else planning)(options.repeat, options.quick)


def for_cpp(row: dict) -> str:
    return ", ".join(f".{part} = {c:.3g}" for part, c in row["coefficients"].items() if c > 0)


CASE = Case(
    rows,
    options=dict(repeat=5, simulation=(False, "what simulating and modelling cost")),
    minutes=6,
    tables=Table(
        "PlanningCost, and the fit over what was measured",
        "scheduler",
        Column("nanoseconds", for_cpp),
        "lowest .2f | highest .2f | median .2f | of = measured",
    ),
)

# SPDX-License-Identifier: BSD-3-Clause
"""Phases, bytes and planning time of every one-port scheduler for messages that differ in size.

Columns: phases over D, the maximum degree; phase_bytes over the bytes of the busiest rank (no schedule has
fewer) and over W (no schedule that splits no message has fewer); the median milliseconds of --repeat
plannings on one core. Sizes: units of 1..32 x 1024 bytes (004 table 5), uniform (1..1,000,000 bytes), Zipf's
law (the i-th largest message has 10^9 / i^0.8 bytes), and the halo of a partitioned mesh.
"""

from statistics import median

import numpy as np

import nuice
from kit import Case, Failed, Table
from kit.patterns import airfoil

SPARSE = [(256, 0.06), (1024, 0.016)]


def with_sizes(pattern, kind, seed):
    """Returns the same messages with sizes of this kind."""
    random = np.random.default_rng(seed)
    count = pattern.num_messages
    if kind == "units":
        sizes = 1024 * random.integers(1, 33, count)
    elif kind == "uniform":
        sizes = random.integers(1, 1_000_001, count)
    else:
        places = 1 + random.permutation(count)
        sizes = np.maximum(1, (1e9 / places**0.8).astype(np.int64))
    return nuice.CommMatrix.from_arrays(pattern.num_ranks, pattern.src, pattern.dst, sizes)


def matrices(options):
    """Yields (name, matrix) for every requested case."""
    for seed in range(options.seeds):
        patterns = []
        if "dense" in options.cases:
            patterns += [(f"{n} dense", nuice.random_regular(n, n - 1, seed=seed)) for n in options.ranks]
        if "sparse" in options.cases:
            sizes = [(64, 0.2)] if options.quick else SPARSE
            patterns += [(f"{n}, {100 * p:g} %", nuice.random_density(n, p, seed=seed)) for n, p in sizes]
        for name, pattern in patterns:
            for kind in ("units", "uniform", "zipf"):
                yield f"{name} {kind}", with_sizes(pattern, kind, seed + 1)
    if "airfoil" in options.cases and not options.quick:
        yield "airfoil 32 parts", airfoil(2800, 32)


def rows(options):
    """Yields one row per one-port scheduler."""
    for name, matrix in matrices(options):
        bounds, whole = nuice.lower_bounds(matrix), nuice.whole_message_bytes(matrix)
        for scheduler in nuice.schedulers():
            if "one_port" not in scheduler.guarantees or scheduler.why_not(matrix):
                continue
            runs = [nuice.make_schedule(matrix, scheduler.name, 1) for _ in range(options.repeat)]
            schedule = runs[0][0]
            violation = nuice.check(matrix, schedule, scheduler.guarantees)
            if violation is not None:
                raise Failed(f"{name}: {scheduler.name} is wrong: {violation.text}")
            bytes_waited = nuice.phase_bytes(schedule)
            yield {
                "case": name,
                "ranks": matrix.num_ranks,
                "messages": matrix.num_messages,
                "max_degree": bounds.max_degree,
                "whole_to_bound": whole / bounds.max_port_bytes,
                "scheduler": scheduler.name,
                "phases": schedule.num_phases,
                "phases_to_max_degree": schedule.num_phases / bounds.max_degree,
                "bytes_to_bound": bytes_waited / bounds.max_port_bytes,
                "bytes_to_whole": bytes_waited / whole,
                "plan_ms": 1e3 * median(seconds for _, seconds in runs),
            }


CASE = Case(
    rows,
    options=dict(
        repeat=5,
        seeds=1,
        ranks=[40, 64, 128, 512],
        cases=(["dense", "sparse", "airfoil"], "some of them", ("dense", "sparse", "airfoil")),
    ),
    quick=dict(repeat=1, ranks=[16]),
    minutes=2,
    tables=Table(
        "{row[case]}: {row[messages]} messages, D = {row[max_degree]}, W/bound {row[whole_to_bound]:.3f}",
        "scheduler | phases | / D = phases_to_max_degree .2f",
        "bytes / bound = bytes_to_bound .3f | bytes / W = bytes_to_whole .4f",
        "ms to plan = plan_ms .3f",
        each="case",
    ),
)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Phases, bytes and planning time of every one-port scheduler for messages that differ in size.

Columns: phases over D, the maximum degree; phase_bytes over the bytes of the busiest rank (no schedule has
fewer) and over W (none that splits no message has fewer); milliseconds to plan, the median over --repeat runs
on one core. Sizes: units of 1..32 x 1024 bytes (004 table 5), uniform (1..1,000,000 bytes), Zipf's law (the
i-th largest message has 10^9 / i^0.8 bytes), and the halo of a partitioned mesh.

usage: bytes.py [--cases dense,sparse,airfoil] [--ranks 40,64,128,512] [--seeds 1] [--repeat 5]
       [--quick] [--json]
"""

import argparse
import json
from statistics import median

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import nuice
from nuice import airfoil

SPARSE = [(256, 0.06), (1024, 0.016)]


def with_sizes(pattern, kind, seed):
    """The same messages, with sizes of that kind."""
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


def cases(options):
    """(name, matrix) for every case that was asked for."""
    for seed in range(options.seeds):
        patterns = []
        if "dense" in options.cases:
            sizes = [16] if options.quick else [int(word) for word in options.ranks.split(",")]
            patterns += [(f"{n} dense", nuice.random_regular(n, n - 1, seed=seed)) for n in sizes]
        if "sparse" in options.cases:
            sizes = [(64, 0.2)] if options.quick else SPARSE
            patterns += [(f"{n}, {100 * p:g} %", nuice.random_density(n, p, seed=seed)) for n, p in sizes]
        for name, pattern in patterns:
            for kind in ("units", "uniform", "zipf"):
                yield f"{name} {kind}", with_sizes(pattern, kind, seed + 1)
    if "airfoil" in options.cases and not options.quick:
        mesh = airfoil.airfoil_mesh(2800)
        yield "airfoil 32 parts", airfoil.halo_matrix(mesh, airfoil.partition(mesh, 32), 32)


def measure(name, matrix, repeat):
    """One figure per scheduler that keeps to one port."""
    bounds = nuice.lower_bounds(matrix)
    whole = nuice.whole_message_bytes(matrix)
    for scheduler in nuice.schedulers():
        if "one_port" not in scheduler.guarantees or scheduler.why_not(matrix):
            continue
        runs = [nuice.make_schedule(matrix, scheduler.name, 1) for _ in range(repeat)]
        schedule = runs[0][0]
        violation = nuice.check(matrix, schedule, scheduler.guarantees)
        if violation is not None:
            raise SystemExit(f"{name}: {scheduler.name} is wrong: {violation.text}")
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


def print_tables(figures):
    console = Console(width=120)
    for case in dict.fromkeys(f["case"] for f in figures):
        rows = [f for f in figures if f["case"] == case]
        first = rows[0]
        table = Table(
            title=f"{case}: {first['messages']} messages, D = {first['max_degree']}, "
            f"W = {first['whole_to_bound']:.3f} of the bound"
        )
        table.add_column("scheduler")
        for column in ("phases", "/ D", "bytes / bound", "bytes / W", "ms to plan"):
            table.add_column(column, justify="right")
        for f in rows:
            table.add_row(
                f["scheduler"],
                str(f["phases"]),
                f"{f['phases_to_max_degree']:.2f}",
                f"{f['bytes_to_bound']:.3f}",
                f"{f['bytes_to_whole']:.4f}",
                f"{f['plan_ms']:.3f}",
            )
        console.print(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5, help="planning time is the median of so many runs")
    parser.add_argument("--seeds", type=int, default=1, help="matrices per case")
    parser.add_argument("--ranks", default="40,64,128,512", help="numbers of ranks of the dense matrices")
    parser.add_argument("--cases", default="dense,sparse,airfoil", help="some of dense,sparse,airfoil")
    parser.add_argument("--quick", action="store_true", help="small matrices: only whether it works")
    parser.add_argument("--json", action="store_true", help="one JSON object per line and nothing else")
    options = parser.parse_args()
    repeat = 1 if options.quick else options.repeat
    figures = []
    for name, matrix in track(list(cases(options)), "planning", console=Console(stderr=True), transient=True):
        figures += measure(name, matrix, repeat)
    if options.json:
        for figure in figures:
            print(json.dumps(figure))
    else:
        print_tables(figures)


if __name__ == "__main__":
    main()

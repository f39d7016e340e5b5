#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Planned broadcasts beside MPI_Bcast in the same run: to all ranks, and to every second one.

Runs nuice-bench (methods interleaved, every byte verified) for several message sizes, several times, and
prints the median over the runs of each method's median and its ratio to MPI_Bcast, which for a group runs on
a communicator of its members.

usage: broadcast.py [--ranks 8] [--runs 5] [--reps 50] [--quick] [--json]
"""

import argparse
import json
from statistics import median

from rich.console import Console
from rich.progress import track
from rich.table import Table

from nuice.cli.bench import run_broadcast_bench

METHODS = ["lib", "reb", "reb:async", "bcast"]
SIZES = [64, 1024, 16384, 262144, 4194304]


def cases(num_ranks, quick):
    sizes = SIZES[:2] if quick else SIZES
    for group in (None, list(range(1, num_ranks, 2))):
        for size in sizes:
            yield size, group


def measure(size, group, options):
    """One figure per method: median over the runs."""
    seconds = {method: [] for method in METHODS}
    for _ in range(options.runs):
        lines = run_broadcast_bench(options.ranks, size, METHODS, options.reps, 0, group)
        for line in lines:
            seconds[line["method"]].append(line["exchange_seconds_median"])
    middle = {method: median(values) for method, values in seconds.items()}
    return [
        {
            "bytes": size,
            "members": line["members"],
            "method": line["method"],
            "steps": line["phases"],
            "mpi": line["mpi_library"],
            "broadcast_s": middle[line["method"]],
            "to_bcast": middle[line["method"]] / middle["bcast"],
            "verified": line["verified"],
        }
        for line in lines
    ]


def print_table(figures, options):
    title = f"broadcast, {options.ranks} ranks, us (ratio to MPI_Bcast), medians of {options.runs} runs"
    table = Table(title=f"{title} of {options.reps}; {figures[0]['mpi']}")
    for column in ("members", "bytes", *METHODS):
        table.add_column(column, justify="right")
    for first in range(0, len(figures), len(METHODS)):
        row = figures[first : first + len(METHODS)]
        times = [f"{f['broadcast_s'] * 1e6:.1f} ({f['to_bcast']:.2f})" for f in row]
        table.add_row(str(row[0]["members"]), str(row[0]["bytes"]), *times)
    Console(width=110).print(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--runs", type=int, default=5, help="how often nuice-bench is started for each case")
    parser.add_argument("--reps", type=int, default=50, help="repetitions inside one start")
    parser.add_argument("--quick", action="store_true", help="two sizes, one run of 3: only whether it works")
    parser.add_argument("--json", action="store_true", help="one JSON object per line and nothing else")
    options = parser.parse_args()
    if options.quick:
        options.runs, options.reps = 1, 3
    figures = []
    todo = list(cases(options.ranks, options.quick))
    for size, group in track(todo, "broadcasting", console=Console(stderr=True), transient=True):
        figures += measure(size, group, options)
    if options.json:
        for figure in figures:
            print(json.dumps(figure))
    else:
        print_table(figures, options)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Exchange time of every method on this machine's MPI, beside MPI's own methods in the same run.

Runs nuice-bench (all methods interleaved, every byte verified) on a few patterns, several times, and prints
the median over the runs of each method's median, and its ratio to MPI_Alltoallv and MPI_Neighbor_alltoallv.

usage: exchange.py [--ranks 8] [--runs 5] [--reps 50] [--quick] [--json]
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.progress import track
from rich.table import Table

import nuice
from nuice.airfoil import airfoil_mesh, halo_matrix, partition
from nuice.cli.bench import run_bench

METHODS = ["ac", "lp", "gm", "cgm", "rs_n", "coloring", "rs_n:barrier", "coloring:async", "rex"]
METHODS += ["alltoallv", "neighbor", "isend"]


def patterns(num_ranks, quick):
    """(name, matrix): halos of the paper's meshes, and random matrices from latency to bandwidth."""
    degree = min(4, num_ranks - 1)
    yield "random d=4, 64 B", nuice.random_regular(num_ranks, degree, unit_bytes=64, seed=1)
    yield "random d=4, 16 KiB", nuice.random_regular(num_ranks, degree, unit_bytes=16384, seed=1)
    if quick:
        return
    yield "random d=4, 512 KiB", nuice.random_regular(num_ranks, degree, unit_bytes=524288, seed=1)
    dense = nuice.random_regular(num_ranks, num_ranks - 1, unit_bytes=1024, max_units=32, seed=1)
    yield "dense, 1..32 x 1 KiB", dense
    yield "hot receiver, 64 KiB", hot_receiver(num_ranks, 65536)
    for points in (2800, 9428, 53961):
        mesh = airfoil_mesh(points)
        owner = partition(mesh, num_ranks)
        for unit_bytes in (8, 1024):
            yield f"airfoil {points}, {unit_bytes} B a point", halo_matrix(mesh, owner, num_ranks, unit_bytes)


def hot_receiver(num_ranks, num_bytes):
    """Everyone sends to rank 0, and to its neighbour a tenth of that."""
    entries = [(rank, 0, num_bytes) for rank in range(1, num_ranks)]
    entries += [(rank, rank + 1, num_bytes // 10) for rank in range(1, num_ranks - 1)]
    return nuice.CommMatrix.from_messages(num_ranks, entries)


def run_once(matrix, options, folder):
    path = Path(folder) / "matrix.mtx"
    nuice.save_matrix_market(path, matrix)
    return run_bench(options.ranks, path, METHODS, options.reps)


def measure(name, matrix, options, folder):
    """One figure per method: median over the runs."""
    seconds = {}
    lines = {}
    for _ in range(options.runs):
        for line in run_once(matrix, options, folder):
            label = line["method"]
            if line["refused"] is not None:
                sys.exit(f"{name}: {label} was refused: {line['refused']}")
            lines[label] = line
            seconds.setdefault(label, []).append(line["exchange_seconds_median"])
    middle = {label: median(values) for label, values in seconds.items()}
    return [
        {
            "pattern": name,
            "method": label,
            "mpi": lines[label]["mpi_library"],
            "phases": lines[label]["phases"],
            "exchange_s": middle[label],
            "lowest_run_s": min(seconds[label]),
            "highest_run_s": max(seconds[label]),
            "to_alltoallv": middle[label] / middle["alltoallv"],
            "to_neighbor": middle[label] / middle["neighbor"],
            "verified": lines[label]["verified"],
        }
        for label in middle
    ]


def print_table(figures, options):
    console = Console(width=120)
    title = f"{options.ranks} ranks, medians of {options.runs} runs of {options.reps}; {figures[0]['mpi']}"
    table = Table(title=title)
    for column in (
        "pattern",
        "method",
        "phases",
        "us",
        "runs from..to",
        "/ alltoallv",
        "/ neighbor",
    ):
        table.add_column(column, justify="left" if column in ("pattern", "method") else "right")
    last = None
    for f in figures:
        if last not in (None, f["pattern"]):
            table.add_section()
        table.add_row(
            "" if last == f["pattern"] else f["pattern"],
            f["method"],
            "-" if f["phases"] is None else str(f["phases"]),
            f"{f['exchange_s'] * 1e6:.1f}",
            f"{f['lowest_run_s'] * 1e6:.1f}..{f['highest_run_s'] * 1e6:.1f}",
            f"{f['to_alltoallv']:.2f}",
            f"{f['to_neighbor']:.2f}",
        )
        last = f["pattern"]
    console.print(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument(
        "--runs", type=int, default=5, help="how often nuice-bench is started for each pattern"
    )
    parser.add_argument("--reps", type=int, default=50, help="repetitions inside one start")
    parser.add_argument(
        "--quick", action="store_true", help="two patterns, one run of 3: only whether it works"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object per line and nothing else")
    options = parser.parse_args()
    if options.quick:
        options.runs, options.reps = 1, 3
    figures = []
    cases = list(patterns(options.ranks, options.quick))
    with tempfile.TemporaryDirectory() as folder:
        for name, matrix in track(cases, "exchanging", console=Console(stderr=True), transient=True):
            figures += measure(name, matrix, options, folder)
    if options.json:
        for figure in figures:
            print(json.dumps(figure))
    else:
        print_table(figures, options)


if __name__ == "__main__":
    main()

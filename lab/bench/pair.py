#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two ranks that send each other one message: nuice's executors beside the same by hand, in the same run.

By hand means MPI_Irecv and MPI_Isend (isend), and the same as persistent requests (persistent). Runs
nuice-bench several times for every size, methods in turns, batches of about two milliseconds. Prints
microseconds, and the median over the runs of the ratio to each peer in the same run.

usage: pair.py [--sizes 8,64,...] [--runs 5] [--reps 31] [--quick] [--json]
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
from nuice.cli.bench import run_bench

OURS = ["coloring:async", "coloring:phased"]
PEERS = ["isend", "persistent"]
SIZES = [8 * 2**k for k in range(0, 21, 2)]  # 8 B to 8 MiB
SIZES += [160, 256, 512, 4096]  # the halo of a small mesh; about the limits of an MPI's protocols


def batch_size(num_bytes):
    """Of about two milliseconds, at a microsecond and 5 GB/s."""
    return max(1, min(1000, round(2e-3 / (1e-6 + num_bytes / 5e9))))


def run_once(num_bytes, options, folder):
    """Seconds per exchange, by method."""
    path = Path(folder) / "pair.mtx"
    nuice.save_matrix_market(path, nuice.CommMatrix.from_messages(2, [(0, 1, num_bytes), (1, 0, num_bytes)]))
    lines = run_bench(2, path, [*OURS, *PEERS], options.reps, batch=batch_size(num_bytes))
    if not all(line["verified"] for line in lines):
        sys.exit(f"{num_bytes} bytes: {lines}")
    return {line["method"]: line["exchange_seconds_median"] for line in lines}


def measure(num_bytes, options, folder):
    runs = [run_once(num_bytes, options, folder) for _ in range(options.runs)]
    for method in [*OURS, *PEERS]:
        figure = {"bytes": num_bytes, "method": method, "exchange_s": median(run[method] for run in runs)}
        for peer in PEERS:
            figure[f"to_{peer}"] = median(run[method] / run[peer] for run in runs)
        yield figure


def print_table(figures, options):
    table = Table(title=f"2 ranks, medians of {options.runs} runs of {options.reps} batches")
    for column in ("bytes", "method", "us", "/ isend", "/ persistent"):
        table.add_column(column, justify="left" if column == "method" else "right")
    last = None
    for f in figures:
        if last not in (None, f["bytes"]):
            table.add_section()
        size = "" if last == f["bytes"] else str(f["bytes"])
        ratios = [f"{f[f'to_{peer}']:.3f}" for peer in PEERS]
        table.add_row(size, f["method"], f"{f['exchange_s'] * 1e6:.3f}", *ratios)
        last = f["bytes"]
    Console(width=100).print(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", help="bytes of the message, separated by commas; by default 8 B to 8 MiB")
    parser.add_argument("--runs", type=int, default=5, help="how often nuice-bench is started for each size")
    parser.add_argument("--reps", type=int, default=31, help="batches of each method inside one start")
    parser.add_argument(
        "--quick", action="store_true", help="two sizes, one short run: only whether it works"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object per line and nothing else")
    options = parser.parse_args()
    sizes = sorted(SIZES) if options.sizes is None else [int(word) for word in options.sizes.split(",")]
    if options.quick:
        options.runs, options.reps, sizes = 1, 3, [8, 4096]
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        for num_bytes in track(sizes, "exchanging", console=Console(stderr=True), transient=True):
            figures += measure(num_bytes, options, folder)
    if options.json:
        for figure in figures:
            print(json.dumps(figure))
    else:
        print_table(figures, options)


if __name__ == "__main__":
    main()

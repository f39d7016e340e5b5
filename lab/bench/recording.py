#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What recording costs an unmodified program: nuice-bench's MPI_Alltoallv and MPI_Isend with and without it.

Starts the same program in turns, without and under `nuice run --record`, batches of 200 exchanges each, and
prints microseconds an exchange and what recording adds, medians over the rounds.

usage: recording.py [--ranks 2] [--sizes 8,1024,65536] [--rounds 7] [--quick] [--json]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

import nuice
from nuice.cli.bench import environment, find_program

METHODS = ["alltoallv", "isend"]


def start(options, path, words):
    command = [
        *words,
        find_program("mpiexec"),
        "-n",
        str(options.ranks),
        find_program("nuice-bench"),
        "--json",
    ]
    command += ["--matrix", str(path), "--schedulers", ",".join(METHODS)]
    command += ["--reps", str(options.reps), "--batch", "200"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment())
    if done.returncode:
        sys.exit(done.stderr)
    records = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {record["method"]: record["exchange_seconds_median"] for record in records}


def measure(num_bytes, options):
    rounds = []
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "all.mtx"
            nuice.save_matrix_market(
                path, nuice.random_regular(options.ranks, options.ranks - 1, unit_bytes=num_bytes, seed=1)
            )
            record = [find_program("nuice"), "run", "--record", str(Path(folder) / "record"), "--"]
            rounds.append((start(options, path, []), start(options, path, record)))
    for method in METHODS:
        pairs = [(without[method], recorded[method]) for without, recorded in rounds]
        yield {
            "bytes": num_bytes,
            "method": method,
            "without_s": median(without for without, _ in pairs),
            "added_s": median(recorded - without for without, recorded in pairs),
            "ratio": median(recorded / without for without, recorded in pairs),
            "load": os.getloadavg()[0],
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--sizes", default="8,1024,65536", help="bytes of a message, separated by commas")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--reps", type=int, default=31)
    parser.add_argument("--quick", action="store_true", help="one size, one round: only whether it works")
    parser.add_argument("--json", action="store_true", help="one JSON object per line and nothing else")
    options = parser.parse_args()
    if options.quick:
        options.sizes, options.rounds, options.reps = "8", 1, 3
    figures = [figure for size in options.sizes.split(",") for figure in measure(int(size), options)]
    if options.json:
        print("\n".join(json.dumps(figure) for figure in figures))
        return
    table = Table(title=f"{options.ranks} ranks, medians of {options.rounds} rounds")
    for column in ("bytes", "method", "us without", "us added", "ratio", "load"):
        table.add_column(column, justify="left" if column == "method" else "right")
    for f in figures:
        times = (f"{f['without_s'] * 1e6:.2f}", f"{f['added_s'] * 1e6:.2f}", f"{f['ratio']:.2f}")
        table.add_row(str(f["bytes"]), f["method"], *times, f"{f['load']:.1f}")
    Console(width=100).print(table)


if __name__ == "__main__":
    main()

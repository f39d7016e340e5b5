#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Planning by ranks none of which knows the matrix, beside planning with a gather, on this machine.

The same matrix in turns with planning=distributed and planning=everywhere, which give the same plan
(distributed_coloring, ac, lp), and with everywhere and rs_n. Planning time is the slowest rank's: gather,
schedule and check. Prints medians over the rounds, and the medians of the ratios within a round. All ranks
share the cores of this machine, so a round of letters costs what its processes take to get their turns.

usage: at_scale.py [--ranks 8,16,32,64] [--degree 8] [--rounds 5] [--quick] [--json]
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

import nuice
from nuice.cli.bench import environment, find_program

SCHEDULERS = ("distributed_coloring", "ac", "lp")
WAYS = [(s, p) for s in SCHEDULERS for p in ("distributed", "everywhere")] + [("rs_n", "everywhere")]


def plan(ranks, path, scheduler, planning):
    command = [find_program("mpiexec"), "-n", str(ranks), find_program("nuice-bench")]
    command += ["--matrix", str(path), "--schedulers", scheduler, "--reps", "1", "--json"]
    options = environment() | {"NUICE_OPTIONS": f"planning={planning}"}
    done = subprocess.run(command, capture_output=True, text=True, env=options, timeout=300)
    if done.returncode:
        sys.exit(f"nuice-bench: {done.stderr.strip()}")
    (record,) = (json.loads(line) for line in done.stdout.splitlines() if line.startswith("{"))
    return record


def figures(ranks, degree, rounds, path):
    nuice.save_matrix_market(path, nuice.random_regular(ranks, min(degree, ranks - 1), seed=1))
    records = [{way: plan(ranks, path, *way) for way in WAYS} for _ in range(rounds)]

    def median_of(scheduler, other=None):
        """Planned distributed; as a ratio to the other way."""
        own = [record[scheduler, "distributed"]["plan_seconds"] for record in records]
        others = [record[other]["plan_seconds"] if other else 1 for record in records]
        return median(a / b for a, b in zip(own, others, strict=True))

    return {
        "ranks": ranks,
        "degree": degree,
        "phases": {" ".join(way): records[0][way]["phases"] for way in WAYS},
        "plan_seconds": {s: median_of(s) for s in SCHEDULERS},
        "to_everywhere": {s: median_of(s, (s, "everywhere")) for s in SCHEDULERS},
        "to_rs_n": {s: median_of(s, ("rs_n", "everywhere")) for s in SCHEDULERS},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--ranks", default="8,16,32,64")
    parser.add_argument("--degree", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="4 ranks, one round")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.quick:
        options.ranks, options.degree, options.rounds = "4", 3, 1
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "matrix.mtx"
        found = [figures(int(n), options.degree, options.rounds, path) for n in options.ranks.split(",")]
    if options.json:
        for row in found:
            print(json.dumps(row))
        return
    table = Table("ranks", "scheduler", "distributed, ms", "/ everywhere", "/ rs_n")
    for row in found:
        for name in SCHEDULERS:
            ratios = (f"{row[to][name]:.2f}" for to in ("to_everywhere", "to_rs_n"))
            table.add_row(str(row["ranks"]), name, f"{1e3 * row['plan_seconds'][name]:.3g}", *ratios)
    Console().print(table)


if __name__ == "__main__":
    main()

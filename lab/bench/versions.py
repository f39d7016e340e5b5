#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two builds of nuice-bench on the same exchanges in turns: has a change cost time?

Each round starts the one and then the other, on this machine (8 ranks, shared memory) and on the test
networks that are asked for. MPI's own sends (isend), the same in both, say what the machine did meanwhile.
Prints, for each case and method, the median of both, the median over the rounds of their ratio, and of that
ratio over the one of isend in the same round; below 1 the new build is faster.

usage: versions.py --old PROGRAM [--new PROGRAM] [--presets fast,shallow] [--rounds 7] [--quick]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from common import bench_on_testbed, testbed
from network import cases
from rich.console import Console
from rich.table import Table

import nuice
from nuice.cli.bench import environment, find_program

CONTROL = "isend"
METHODS = [CONTROL, "ac", "coloring:phased", "coloring:barrier", "coloring:credit"]
HERE = {"hosts": 8, "ranks_per_host": 1, "uplink": None}
MEDIAN = "exchange_seconds_median"


def on_this_machine(program, path, reps):
    command = [find_program("mpiexec"), "-n", "8", program, "--matrix", str(path), "--json"]
    command += ["--schedulers", ",".join(METHODS), "--reps", str(reps)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment())
    if done.returncode:
        sys.exit(f"{program}: {done.stderr.strip()}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def on_network(program, path, reps):
    start = ["run", "--timeout", "550", program]
    return bench_on_testbed(path, METHODS, reps, ["--settle", "1", "--warmup", "1"], start)


def figures(where, settings, run, options, folder):
    path = Path(folder) / "matrix.mtx"
    for name, matrix in cases(settings, options.quick):
        if name not in ("d=8, 64 KiB", "airfoil 9428"):
            continue
        nuice.save_matrix_market(path, matrix)
        rounds = []
        for _ in range(options.rounds):
            old, new = (run(program, path, options.reps) for program in (options.old, options.new))
            rounds.append({o["method"]: (o[MEDIAN], n[MEDIAN]) for o, n in zip(old, new, strict=True)})
        ratios = {m: [a_round[m][1] / a_round[m][0] for a_round in rounds] for m in METHODS}
        for method in METHODS:
            pairs = [a_round[method] for a_round in rounds]
            yield {
                "where": where,
                "case": name,
                "method": method,
                "old_s": median(old for old, _ in pairs),
                "new_s": median(new for _, new in pairs),
                "new_to_old": median(ratios[method]),
                "to_control": median(r / c for r, c in zip(ratios[method], ratios[CONTROL], strict=True)),
                "load": os.getloadavg()[0],
            }


def show(options, found):
    if options.json:
        for figure in found:
            print(json.dumps(figure), flush=True)
        return
    table = Table(title=f"new over old, medians of {options.rounds} rounds of {options.reps} repetitions")
    for column in ("where", "case", "method", "old ms", "new ms", "new / old", "over isend's", "load"):
        table.add_column(column, justify="left" if column in ("where", "case", "method") else "right")
    for f in found:
        times = (f"{f['old_s'] * 1e3:.2f}", f"{f['new_s'] * 1e3:.2f}")
        ratios = (f"{f['new_to_old']:.2f}", f"{f['to_control']:.2f}")
        table.add_row(f["where"], f["case"], f["method"], *times, *ratios, f"{f['load']:.1f}")
    Console(width=110).print(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--old", required=True, help="nuice-bench of the build before")
    parser.add_argument("--new", default=find_program("nuice-bench"))
    parser.add_argument("--presets", default="", help="test networks, separated by commas (as root)")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--reps", type=int, default=9, help="of each method in one start")
    parser.add_argument("--json", action="store_true", help="one JSON object per line and nothing else")
    parser.add_argument("--quick", action="store_true", help="one case, one round: only whether it works")
    options = parser.parse_args()
    if options.quick:
        options.rounds = options.reps = 1
    with tempfile.TemporaryDirectory() as folder:
        show(options, figures("shared memory", HERE, on_this_machine, options, folder))
        for preset in filter(None, options.presets.split(",")):
            testbed("up", "--preset", preset)
            try:
                settings = json.loads(testbed("status", "--json"))["settings"]
                show(options, figures(preset, settings, on_network, options, folder))
            finally:
                testbed("down")


if __name__ == "__main__":
    main()

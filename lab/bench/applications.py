#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The numerical programs with nuice beside the same with MPI alone: time of one exchange and of the whole.

Starts nuice-cg, nuice-euler and nuice-fft2d several times; each measures its ways in turns. Prints medians
over the starts: the ratio of nuice to the best of MPI in the same start, and the times.

With --testbed PRESET they run on the hosts of a network with contention, made for it (docs/how-to/testbed.md;
as root), on as many ranks as it has hosts, with larger problems and fewer steps, as an exchange takes
milliseconds there. Then every way carries the same messages alone, by nuice-bench, and the network counts
what its ports drop and TCP sends again; beside it what the busiest port takes at least, and how many bytes
come to a rank: fewer than the queue of its port cannot overflow it.

usage: applications.py [--ranks 2] [--runs 5] [--reps 50] [--scheduler coloring] [--executor async]
                             [--points 2800] [--cases WORD] [--testbed shallow] [--quick] [--json]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np
from common import TESTBED, testbed
from rich.console import Console
from rich.progress import track
from rich.table import Table

import nuice
from nuice.airfoil import airfoil_mesh
from nuice.cli.bench import find_program
from nuice.flow import save_mesh, stiffness_matrix

MBIT = 125_000  # bytes per second
KIB = 1024


def cases(options, folder):
    """(name, program, its arguments)."""
    made = (
        testbed_cases(options, folder)
        if options.testbed and not options.quick
        else usual_cases(options, folder)
    )
    yield from (case for case in made if options.cases in case[0])


def testbed_cases(options, folder):
    """A network of 20 Mbit/s: few iterations, which take milliseconds each, not until anything converges. The
    halos of plane problems are tiny; those of a block of vectors in space are not."""
    import scipy.io

    common = ["--scheduler", options.scheduler, "--executor", options.executor]
    solver = ["--no-sequential", "--rtol", "1e-2", *common]
    yield "CG, Poisson 256 x 256", "nuice-cg", ["--poisson", "256", *solver]
    side = 48
    scipy.io.mmwrite(folder / "space.mtx", laplacian(side), symmetry="symmetric")
    for num_rhs in (1, 8, 32):
        words = ["--matrix", str(folder / "space.mtx"), "--rhs", str(num_rhs), *solver]
        yield f"CG, {side}^3 points, {num_rhs} right-hand sides", "nuice-cg", words
    save_mesh(folder / "airfoil.mesh", airfoil_mesh(options.points))
    words = ["--mesh", str(folder / "airfoil.mesh"), "--steps", "5", *common]
    yield f"Euler, airfoil {options.points}", "nuice-euler", words
    method = f"{options.scheduler}:{options.executor}"
    yield "FFT, 1024 x 1024", "nuice-fft2d", ["--size", "1024", "--no-check", "--schedulers", method]


def laplacian(side):
    """Seven points, in a cube."""
    from scipy.sparse import diags, identity, kron

    line, one = diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(side, side)), identity(side)
    plane = kron(line, one) + kron(one, line)
    return (kron(plane, one) + kron(identity(side * side), line)).tocoo()


def usual_cases(options, folder):
    """The problems of the papers, small ones with --quick."""
    import scipy.io

    mesh = airfoil_mesh(options.points)
    save_mesh(folder / "airfoil.mesh", mesh)
    scipy.io.mmwrite(folder / "stiffness.mtx", stiffness_matrix(mesh), symmetry="symmetric", precision=17)
    common = ["--scheduler", options.scheduler, "--executor", options.executor]
    method = f"{options.scheduler}:{options.executor}"
    grid, steps, size = (20, "2", "64") if options.quick else (128, "50", "512")
    solver = ["--no-sequential", *(["--rtol", "1e-2"] if options.testbed else [])]
    yield f"CG, Poisson {grid} x {grid}", "nuice-cg", ["--poisson", str(grid), *solver, *common]
    yield (
        f"CG, airfoil {options.points}",
        "nuice-cg",
        ["--matrix", str(folder / "stiffness.mtx"), *solver, *common],
    )
    yield (
        f"Euler, airfoil {options.points}",
        "nuice-euler",
        ["--mesh", str(folder / "airfoil.mesh"), "--steps", steps, *common],
    )
    yield f"FFT, {size} x {size}", "nuice-fft2d", ["--size", size, "--no-check", "--schedulers", method]


def start(program, arguments, options, folder):
    command = [find_program("mpiexec"), "-n", str(options.ranks)]
    if options.testbed:
        command = [*TESTBED, "run", "--mpiexec", command[0], "--ranks", str(options.ranks)]
        command += ["--timeout", "580"]
    command += [find_program(program), *arguments, "--reps", str(options.reps), "--json"]
    environment = dict(os.environ)
    environment.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
    environment.setdefault("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))


def measure_all(options):
    figures = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        todo = list(cases(options, folder))
        for case in track(todo, "running", console=Console(stderr=True), transient=True):
            figures += measure(*case, options, folder)
    return figures


def measure_on_testbed(options):
    """One network for all programs; nothing of it stays."""
    testbed("up", "--preset", options.testbed, *(["--hosts", "4"] if options.quick else []))
    try:
        options.network = json.loads(testbed("status", "--json"))["settings"]
        options.ranks = options.network["hosts"] * options.network["ranks_per_host"]
        return measure_all(options)
    finally:
        testbed("down")


def measure(name, program, arguments, options, folder):
    """One figure per way: medians over the starts."""
    arguments = [*arguments, "--pattern", str(folder / "pattern.mtx")]
    reports = [start(program, arguments, options, folder) for _ in range(options.runs)]
    figures = []
    for position, method in enumerate(reports[0]["methods"]):
        whole = next(k for k in ("solve_seconds", "seconds", "transform_seconds_median") if k in method)

        def middle(key, at=position):
            return median(report["methods"][at][key] for report in reports)

        ours = position == 0
        figures.append(
            {
                "case": name,
                "ranks": options.ranks,
                "way": method["name"],
                "exchange_s": middle("exchange_seconds_median"),
                "whole_s": middle(whole),
                "ratio": median(r["exchange_ratio_to_best_mpi"] for r in reports) if ours else None,
            }
        )
    if options.testbed:
        for figure in figures:
            figure |= load_of(options, folder) | packets_of(figure["way"], options, folder)
    return figures


def load_of(options, folder):
    """What the pattern asks of the network."""
    pattern = nuice.load_matrix_market(folder / "pattern.mtx")
    port = int(options.network["rate"].removesuffix("mbit")) * MBIT
    _, dst, sizes = pattern.entries()
    return {
        "messages": pattern.num_messages,
        "bytes": nuice.lower_bounds(pattern).total_bytes,
        "bound_s": nuice.lower_bounds(pattern).max_port_bytes / port,
        "bytes_to_a_rank": float(np.bincount(dst, weights=sizes).max()),
        "queue_bytes": int(options.network["queue"].removesuffix("k")) * KIB,
    }


def packets_of(way, options, folder):
    """Dropped and sent again per exchange, while this way alone carries the pattern."""
    method = way if way in ("isend", "neighbor", "alltoallv") else f"{options.scheduler}:{options.executor}"
    counters = folder / "counters.json"
    words = ["run", "--mpiexec", find_program("mpiexec"), "--timeout", "300", "--counters", str(counters)]
    words += [find_program("nuice-bench"), "--matrix", str(folder / "pattern.mtx"), "--json"]
    testbed(*words, "--schedulers", method, "--reps", str(options.reps))
    hosts = json.loads(counters.read_text())["hosts"]
    exchanges = options.reps + 1  # one to warm up
    return {
        "dropped": sum(host["dropped"] for host in hosts) / exchanges,
        "sent_again": sum(host["retransmitted"] for host in hosts) / exchanges,
    }


def print_table(figures, options):
    table = Table(title=f"{options.ranks} ranks, medians of {options.runs} starts of {options.reps}")
    more = ("bound us", "KiB to a rank", "dropped", "sent again") if options.testbed else ()
    for column in ("case", "way", "one exchange us", "whole ms", "/ best of MPI", *more):
        table.add_column(column, justify="left" if column in ("case", "way") else "right")
    last = None
    for f in figures:
        if last not in (None, f["case"]):
            table.add_section()
        table.add_row(
            "" if last == f["case"] else f["case"],
            f["way"],
            f"{f['exchange_s'] * 1e6:.2f}",
            f"{f['whole_s'] * 1e3:.2f}",
            "" if f["ratio"] is None else f"{f['ratio']:.3f}",
            *network_words(f, options),
        )
        last = f["case"]
    Console(width=120).print(table)


def network_words(figure, options):
    if not options.testbed:
        return []
    load = [f"{1e6 * figure['bound_s']:.0f}", f"{figure['bytes_to_a_rank'] / KIB:.1f}"]
    return [*load, f"{figure['dropped']:.1f}", f"{figure['sent_again']:.1f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5, help="how often each program is started")
    parser.add_argument("--reps", type=int, default=50, help="measurements of each way inside one start")
    parser.add_argument("--scheduler", default="coloring")
    parser.add_argument("--executor", help="by default async, and credit on a test network")
    parser.add_argument("--points", type=int, help="of the airfoil mesh: 2800, on a test network 53961")
    parser.add_argument("--cases", default="", metavar="WORD", help="only those with this in their name")
    parser.add_argument("--testbed", metavar="PRESET", help="on the hosts of this network, made for it")
    parser.add_argument("--quick", action="store_true", help="small cases, one start: only whether it works")
    parser.add_argument("--json", action="store_true", help="one JSON object per line and nothing else")
    options = parser.parse_args()
    if options.ranks < 2:
        parser.error("--ranks: one rank alone exchanges nothing")
    if options.executor is None:
        options.executor = "credit" if options.testbed else "async"
    if options.points is None:
        options.points = 53961 if options.testbed else 2800
    if options.quick:
        options.runs, options.reps, options.points = 1, 3, 300
    figures = measure_on_testbed(options) if options.testbed else measure_all(options)
    if options.json:
        for figure in figures:
            print(json.dumps(figure))
    else:
        print_table(figures, options)


if __name__ == "__main__":
    main()

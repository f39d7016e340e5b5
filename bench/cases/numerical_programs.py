# SPDX-License-Identifier: BSD-3-Clause
"""The numerical programs with NUICE, compared with MPI alone: time of one exchange and of the whole program.

Starts nuice-cg, nuice-euler and nuice-fft2d several times; each interleaves its methods. Figures are medians
over the starts: the ratio of NUICE to the best of MPI in the same start, and the times.

With --testbed PRESET (as root) they run on the hosts of a network with contention that is made for them
(docs/how-to/testbed.md), on as many ranks as it has hosts. Problems are larger and steps fewer, as an
exchange takes milliseconds there. Then nuice-bench carries the same messages with each method alone, and the
network counts dropped packets and retransmitted segments. The table adds the least time of the busiest port,
and the bytes that come to a rank: fewer than its port's queue holds cannot overflow it.
"""

import json
from statistics import median

import numpy as np
import scipy.io

import nuice
from kit import KIB, Case, Failed, Table, middle, objects, place, scratch
from kit.patterns import laplacian, mesh
from nuice.cli.bench import find_program
from nuice.flow import save_mesh, stiffness_matrix

WHOLE = ("solve_seconds", "seconds", "transform_seconds_median")


def on_testbed(options, folder):
    """Yields (name, program, its arguments) for a network of 20 Mbit/s. There are few iterations, because
    each takes milliseconds, and they need not converge. Halos of plane problems are tiny, but those of a
    block of vectors are not."""
    common = ["--scheduler", options.scheduler, "--executor", options.executor]
    solver = ["--no-sequential", "--rtol", "1e-2", *common]
    yield "CG, Poisson 256 x 256", "nuice-cg", ["--poisson", "256", *solver]
    scipy.io.mmwrite(folder / "space.mtx", laplacian(48, 3), symmetry="symmetric")
    for num_rhs in (1, 8, 32):
        words = ["--matrix", folder / "space.mtx", "--rhs", num_rhs, *solver]
        yield f"CG, 48^3 points, {num_rhs} right-hand sides", "nuice-cg", words
    save_mesh(folder / "airfoil.mesh", mesh(options.points))
    words = ["--mesh", folder / "airfoil.mesh", "--steps", 5, *common]
    yield f"Euler, airfoil {options.points}", "nuice-euler", words
    method = f"{options.scheduler}:{options.executor}"
    yield "FFT, 1024 x 1024", "nuice-fft2d", ["--size", 1024, "--no-check", "--schedulers", method]


def as_usual(options, folder):
    """Yields the problems of the papers, small ones with --quick."""
    save_mesh(folder / "airfoil.mesh", mesh(options.points))
    stiffness = stiffness_matrix(mesh(options.points))
    scipy.io.mmwrite(folder / "stiffness.mtx", stiffness, symmetry="symmetric", precision=17)
    common = ["--scheduler", options.scheduler, "--executor", options.executor]
    method = f"{options.scheduler}:{options.executor}"
    grid, steps, size = (20, 2, 64) if options.quick else (128, 50, 512)
    solver = ["--no-sequential", *(["--rtol", "1e-2"] if options.testbed else []), *common]
    airfoil = f"airfoil {options.points}"
    yield f"CG, Poisson {grid} x {grid}", "nuice-cg", ["--poisson", grid, *solver]
    yield f"CG, {airfoil}", "nuice-cg", ["--matrix", folder / "stiffness.mtx", *solver]
    yield f"Euler, {airfoil}", "nuice-euler", ["--mesh", folder / "airfoil.mesh", "--steps", steps, *common]
    yield f"FFT, {size} x {size}", "nuice-fft2d", ["--size", size, "--no-check", "--schedulers", method]


def measure(where, name, program, arguments, options, folder):
    """Returns one figure per method: medians over the starts."""
    words = [find_program(program), *arguments, "--pattern", folder / "pattern.mtx", "--reps", options.reps]
    reports = [objects(where.run([*words, "--json"], timeout_s=580).stdout)[0] for _ in range(options.runs)]
    for position, method in enumerate(reports[0]["methods"]):
        ways = [report["methods"][position] for report in reports]
        whole = next(key for key in WHOLE if key in method)
        row = {
            "case": name,
            "ranks": where.ranks,
            "way": method["name"],
            "exchange_s": middle(ways),
            "whole_s": middle(ways, whole),
            "ratio": median(r["exchange_ratio_to_best_mpi"] for r in reports) if position == 0 else None,
        }
        if where.settings is not None:
            row |= load_of(where, folder) | packets_of(where, method["name"], options, folder)
        yield row


def load_of(where, folder):
    """Returns the load that the pattern puts on the network."""
    pattern = nuice.load_matrix_market(folder / "pattern.mtx")
    _, dst, sizes = pattern.entries()
    bounds = nuice.lower_bounds(pattern)
    return {
        "messages": pattern.num_messages,
        "bytes": bounds.total_bytes,
        "bound_s": bounds.max_port_bytes / where.host_bytes_per_s,
        "bytes_to_a_rank": float(np.bincount(dst, weights=sizes).max()),
        "queue_bytes": int(where.settings["queue"].removesuffix("k")) * KIB,
    }


def packets_of(where, way, options, folder):
    """Returns the packets dropped and retransmitted per exchange while only this method carries the
    pattern."""
    method = way if way in ("isend", "neighbor", "alltoallv") else f"{options.scheduler}:{options.executor}"
    flags = ["--counters", str(folder / "counters.json")]
    problem = ["--matrix", folder / "pattern.mtx"]
    where.bench(problem, [method], options.reps, flags=flags, timeout_s=300)
    hosts = json.loads((folder / "counters.json").read_text())["hosts"]
    exchanges = options.reps + 1  # one more to warm up
    return {
        "dropped": sum(host["dropped"] for host in hosts) / exchanges,
        "sent_again": sum(host["retransmitted"] for host in hosts) / exchanges,
    }


def rows(options):
    if options.ranks < 2:
        raise Failed("--ranks: one rank alone exchanges nothing")
    options.executor = options.executor or "async"
    options.points = options.points or (53961 if options.testbed else 2800)
    problems = on_testbed if options.testbed and not options.quick else as_usual
    hosts = 4 if options.quick else 0
    with place(options.testbed, options.ranks, hosts=hosts) as where, scratch() as folder:
        for problem in problems(options, folder):
            if options.cases in problem[0]:
                yield from measure(where, *problem, options, folder)


COLUMNS = (
    "case | way | one exchange us = exchange_s*1e6 .2f | whole ms = whole_s*1e3 .2f | / best MPI = ratio .3f"
)
TITLE = "{row[ranks]} ranks {o.testbed}, medians of {o.runs} starts of {o.reps}"
CASE = Case(
    rows,
    needs=["mpi"],
    options=dict(
        ranks=2,
        runs=5,
        reps=50,
        scheduler=("coloring", "of nuice"),
        executor=("", "by default async"),
        points=(0, "of the airfoil mesh: 2800, on a test network 53961"),
        cases="",
        testbed="",
    ),
    quick=dict(runs=1, reps=3, points=300),
    minutes=4,
    tables=[
        Table(TITLE, COLUMNS, where=lambda row: "bound_s" not in row, group="case"),
        Table(
            TITLE,
            COLUMNS,
            "bound us = bound_s*1e6 .0f | KiB to a rank = bytes_to_a_rank/1024 .1f | dropped .1f",
            "retransmitted = sent_again .1f",
            where="bound_s",
            group="case",
        ),
    ],
)

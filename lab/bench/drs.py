#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Scheduling on the fly (paper 004) on this machine's MPI, beside MPI's own methods in the same run.

Two parts. Exchange: every form of DRS_N on the patterns of 004 tables 4 to 6, as ratios to MPI_Alltoallv,
with inquiries and refusals per message. Lists: 004 table 3, gathering the matrix beside Generate_Recv, for
several n and d. Medians over the runs of the medians of nuice-bench, whose methods take turns and verify
every byte.

With --testbed PRESET the exchanges run on a network with contention, made for it (docs/how-to/testbed.md; as
root), one rank on each of its hosts.

usage: drs.py [--ranks 8] [--runs 3] [--reps 20] [--part exchange|lists|all] [--cases WORD]
                    [--testbed shallow] [--quick] [--json]
"""

import argparse
import json
import sys
import tempfile
from functools import partial
from pathlib import Path
from statistics import median

from common import bench_on_testbed, testbed
from rich.console import Console
from rich.progress import track
from rich.table import Table

import nuice
from nuice.airfoil import airfoil_mesh, halo_matrix, partition
from nuice.cli.bench import _run, find_program, run_bench

PEERS = ["alltoallv", "isend", "ac", "rs_n"]
FORMS = ["drs_n", "drs_n:rma", "drs_n:list", "drs_n:early"]
# Where messages contend, a plan with credits is the peer. Between hosts there is only MPI.
TESTBED_METHODS = ["alltoallv", "ac", "rs_n", "coloring:credit"]
TESTBED_METHODS += ["drs_n:refuse:mpi", "drs_n:rma", "drs_n:list:mpi", "drs_n:early:mpi"]
LISTS = {4: [1, 3], 8: [1, 4, 7], 16: [1, 4, 8, 15], 32: [1, 4, 16, 31]}  # n: d


def patterns(num_ranks, degrees, sizes):
    """(table of 004, name, matrix)."""
    for degree in degrees:
        for size in sizes:
            matrix = nuice.random_regular(num_ranks, degree, unit_bytes=size, seed=1)
            yield 4, f"d={degree}, {size} B", matrix
    for unit in (256, 4096):
        matrix = nuice.random_regular(num_ranks, degrees[0], unit_bytes=unit, max_units=32, seed=1)
        yield 5, f"d={degrees[0]}, 1..32 x {unit} B", matrix
    for points in (2800, 53961):
        mesh = airfoil_mesh(points)
        for unit in (64, 1024):
            matrix = halo_matrix(mesh, partition(mesh, num_ranks), num_ranks, unit)
            yield 6, f"airfoil {points}, {unit} B a point", matrix


def chosen_patterns(options):
    small = min(4, options.ranks - 1)
    if options.quick:
        return [
            (4, f"d={small}", nuice.random_regular(options.ranks, small, unit_bytes=16384, seed=1)),
        ]
    if options.testbed:
        made = patterns(options.ranks, [4, 8, options.ranks - 1], [512, 16384, 65536])
    else:
        made = patterns(options.ranks, [small, options.ranks - 1], [512, 16384, 131072])
    return [case for case in made if options.cases in case[1]]


def measure_exchange(options, folder):
    methods = TESTBED_METHODS if options.testbed else PEERS + FORMS
    run = bench_on_testbed if options.testbed else partial(run_bench, options.ranks)
    for table, name, matrix in track(
        chosen_patterns(options),
        "exchanging",
        console=Console(stderr=True),
        transient=True,
    ):
        path = Path(folder) / "matrix.mtx"
        nuice.save_matrix_market(path, matrix)
        runs = [run(path, methods, options.reps) for _ in range(options.runs)]
        middle = {
            method: median(run[i]["exchange_seconds_median"] for run in runs)
            for i, method in enumerate(methods)
        }
        for i, method in enumerate(methods):
            lines = [run[i] for run in runs]
            if lines[0]["refused"] is not None:
                sys.exit(f"{name}: {method} was refused: {lines[0]['refused']}")
            yield {
                "part": "exchange",
                "testbed": options.testbed,
                "table": table,
                "pattern": name,
                "ranks": options.ranks,
                "method": method,
                "mpi": lines[0]["mpi_library"],
                "exchange_s": middle[method],
                "to_alltoallv": middle[method] / middle["alltoallv"],
                "plan_s": median(line["plan_seconds"] for line in lines),
                "inquiries": mean_of(lines, "inquiries_per_message"),
                "refusals": mean_of(lines, "refusals_per_message"),
                "verified": all(line["verified"] for line in lines),
            }


def mean_of(lines, key):
    values = [line[key] for line in lines if line[key] is not None]
    return sum(values) / len(values) if values else None


def measure_lists(options, folder):
    cases = [(n, d) for n, degrees in LISTS.items() for d in degrees]
    for n, d in track(
        cases[:2] if options.quick else cases, "learning", console=Console(stderr=True), transient=True
    ):
        path = Path(folder) / "matrix.mtx"
        nuice.save_matrix_market(path, nuice.random_regular(n, d, unit_bytes=1000, seed=1))
        command = [find_program("mpiexec"), "-n", str(n), find_program("nuice-bench"), "--json"]
        command += ["--receive-lists", "--matrix", str(path), "--reps", str(options.reps)]
        seconds = {}
        for _ in range(options.runs):
            output, complaints, status = _run(command)
            if status != 0:
                sys.exit(f"nuice-bench ended with status {status}: {complaints}")
            for line in map(json.loads, output.splitlines()):
                seconds.setdefault(line["receive_list"], []).append(line["seconds_median"])
        for way, values in seconds.items():
            yield {"part": "lists", "n": n, "d": d, "way": way, "seconds": median(values)}


def print_exchange(figures, options):
    where = f" on {options.testbed}" if options.testbed else ""
    title = (
        f"{options.ranks} ranks{where}, medians of {options.runs} runs of {options.reps}; {figures[0]['mpi']}"
    )
    table = Table(title=title)
    for column in (
        "004 table",
        "pattern",
        "method",
        "us",
        "/ alltoallv",
        "ready us",
        "inquiries",
        "refusals",
    ):
        table.add_column(column, justify="left" if column in ("pattern", "method") else "right")
    last = None
    for f in figures:
        is_new = f["pattern"] != last
        if is_new and last is not None:
            table.add_section()
        table.add_row(
            str(f["table"]) if is_new else "",
            f["pattern"] if is_new else "",
            f["method"],
            f"{f['exchange_s'] * 1e6:.0f}",
            f"{f['to_alltoallv']:.2f}",
            f"{f['plan_s'] * 1e6:.0f}",
            "" if f["inquiries"] is None else f"{f['inquiries']:.2f}",
            "" if f["refusals"] is None else f"{f['refusals']:.2f}",
        )
        last = f["pattern"]
    Console(width=120).print(table)


def print_lists(figures):
    table = Table(title="Learning who sends what, us (004 table 3)")
    ways = list(dict.fromkeys(f["way"] for f in figures))
    for column in ("n", "d", *ways, "gather / am_count"):
        table.add_column(column, justify="right")
    for n, d in dict.fromkeys((f["n"], f["d"]) for f in figures):
        seconds = {f["way"]: f["seconds"] for f in figures if (f["n"], f["d"]) == (n, d)}
        ratio = seconds["gather"] / seconds["am_count"]
        table.add_row(str(n), str(d), *(f"{seconds[way] * 1e6:.0f}" for way in ways), f"{ratio:.2f}")
    Console(width=120).print(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=8, help="of the part exchange")
    parser.add_argument("--runs", type=int, default=3, help="how often nuice-bench is started for each case")
    parser.add_argument("--reps", type=int, default=20, help="repetitions inside one start")
    parser.add_argument("--part", choices=["exchange", "lists", "all"], default="all")
    parser.add_argument(
        "--cases", default="", help="of the part exchange: only those with this in their name"
    )
    parser.add_argument(
        "--testbed", metavar="PRESET", help="exchange on this network, such as shallow; as root"
    )
    parser.add_argument("--quick", action="store_true", help="few cases, one run of 3: only whether it works")
    parser.add_argument("--json", action="store_true", help="one JSON object per line and nothing else")
    options = parser.parse_args()
    if options.quick:
        options.runs, options.reps = 1, 3
    if options.testbed:
        options.part = "exchange"
        testbed(
            "up", "--preset", options.testbed, "--cc", "bbr", *(["--hosts", "4"] if options.quick else [])
        )
        options.ranks = json.loads(testbed("status", "--json"))["settings"]["hosts"]
    try:
        with tempfile.TemporaryDirectory() as folder:
            exchange = [] if options.part == "lists" else list(measure_exchange(options, folder))
            lists = [] if options.part == "exchange" else list(measure_lists(options, folder))
    finally:
        if options.testbed:
            testbed("down")
    if options.json:
        for figure in exchange + lists:
            print(json.dumps(figure))
        return
    if exchange:
        print_exchange(exchange, options)
    if lists:
        print_lists(lists)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Exchanges on a network with real contention (docs/testbed.md), every method in the same run.

Makes the network of each preset, runs nuice-bench on its hosts (methods interleaved, every byte verified) and
prints each method's median, slowest repetition, ratio to the best of MPI's own methods and to the bandwidth
bound. The last column is one permutation without contention, times the degree: phases that do not overlap.

usage: bench/network.py [--presets fast,shallow] [--cc bbr] [--reps 9] [--quick] [--json]    (as root)
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

import nuice
from nuice.airfoil import airfoil_mesh, halo_matrix, partition

TESTBED = [sys.executable, str(Path(__file__).parent / "testbed" / "nuice_testbed.py")]
PEERS = ["alltoallv", "neighbor", "isend"]
METHODS = [*PEERS, "rs_n", "coloring", "coloring:barrier", "rs_n:credit", "coloring:credit", "lpt:credit"]
# Where links contend: the same with and without a look at the network.
FABRIC = [*PEERS, "coloring:credit", "lp:credit", "rs_nl:credit", "link_coloring:credit"]
FABRIC += ["coloring:barrier", "link_coloring:barrier"]
# Several ranks on a host: without and with a look at hosts, and with combined messages.
MULTI = [*PEERS, "coloring:credit@blind", "coloring:credit", "rs_n:credit", "coloring"]
MULTI += ["ac@combine", "coloring@combine"]
MBIT = 125_000  # bytes per second


def methods(settings):
    """(methods, further options of nuice-bench) for a network."""
    if settings["uplink"]:
        half = settings["hosts"] // 2
        slots = megabits(settings["uplink"]) // megabits(settings["rate"])
        return FABRIC, ["--topology", f"tree:{half}x2/{half // slots}"]
    if settings["ranks_per_host"] > 1:
        return MULTI, ["--hosts", "auto"]
    return METHODS, []


def megabits(rate):
    return int(rate.removesuffix("mbit"))


def loads(matrix, settings):
    """Of the busiest host's port: bytes and messages; bytes over the uplink, the busier way."""
    per_host, half = settings["ranks_per_host"], settings["hosts"] // 2
    out, into, count, up = Counter(), Counter(), Counter(), Counter()
    for src, dst, size in zip(*(map(int, column) for column in matrix.entries()), strict=True):
        a, b = src // per_host, dst // per_host
        if a == b:
            continue
        out[a] += size
        into[b] += size
        count[a, "out"] += 1
        count[b, "in"] += 1
        if settings["uplink"] and (a < half) != (b < half):
            up[a < half] += size
    return max([0, *out.values(), *into.values()]), max([0, *count.values()]), max([0, *up.values()])


def near_and_far(num_ranks, unit_bytes):
    """Each rank has four partners on its own switch and four on the other."""
    half = num_ranks // 2
    steps = [*range(1, 5), *range(half, half + 4)]
    return nuice.CommMatrix.from_messages(
        num_ranks, [(rank, rank ^ step, unit_bytes) for rank in range(num_ranks) for step in steps]
    )


def cases(settings, quick):
    """(name, matrix)."""
    num_ranks = settings["hosts"] * settings["ranks_per_host"]
    degree = min(8, num_ranks - 1)
    yield "d=8, 64 KiB", nuice.random_regular(num_ranks, degree, unit_bytes=65536, seed=1)
    if quick:
        return
    if settings["uplink"]:
        yield "4 near, 4 far, 64 KiB", near_and_far(num_ranks, 65536)
    yield "d=8, 8..256 KiB", nuice.random_regular(num_ranks, degree, unit_bytes=8192, max_units=32, seed=1)
    yield "dense, 32 KiB", nuice.random_regular(num_ranks, num_ranks - 1, unit_bytes=32768, seed=1)
    mesh = airfoil_mesh(9428)
    halo = halo_matrix(mesh, partition(mesh, num_ranks), num_ranks, 1)
    unit = num_ranks * 8 * 65536 // nuice.lower_bounds(halo).total_bytes  # to the volume of the first case
    yield "airfoil 9428", halo_matrix(mesh, partition(mesh, num_ranks), num_ranks, unit)
    hot = [(rank, 0, 65536) for rank in range(1, num_ranks)]
    yield "hot receiver, 64 KiB", nuice.CommMatrix.from_messages(num_ranks, hot)
    yield "d=8, 1 KiB", nuice.random_regular(num_ranks, degree, unit_bytes=1024, seed=1)


def testbed(*words):
    done = subprocess.run([*TESTBED, *words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"nuice-testbed {words[0]}: {done.stderr.strip()}")
    return done.stdout


def run(matrix, methods, reps, folder, options=()):
    """What nuice-bench printed, one record per method, and the packets of the whole run."""
    path, counters = Path(folder) / "matrix.mtx", Path(folder) / "counters.json"
    nuice.save_matrix_market(path, matrix)
    words = [
        "--matrix",
        str(path),
        "--schedulers",
        ",".join(methods),
        "--reps",
        str(reps),
        "--json",
        *options,
    ]
    printed = testbed("run", "--timeout", "500", "--counters", str(counters), "nuice-bench", *words)
    hosts = json.loads(counters.read_text())["hosts"]
    return [json.loads(line) for line in printed.splitlines() if line.startswith("{")], hosts


def phases_apart_s(matrix, settings, reps, folder):
    """Time of one phase of the schedule alone, times the number of phases."""
    largest = int(max(matrix.entries()[2]))
    n, per_host = matrix.num_ranks, settings["ranks_per_host"]
    ring = [(r, (r + per_host) % n, largest) for r in range(0, n, per_host)]
    records, _ = run(nuice.CommMatrix.from_messages(n, ring), ["alltoallv", "isend"], reps, folder)
    return min(r["exchange_seconds_median"] for r in records) * loads(matrix, settings)[1]


def measure(preset, options, folder):
    settings = json.loads(testbed("status", "--json"))["settings"]
    port = megabits(settings["rate"]) * MBIT
    words, further = methods(settings)
    for name, matrix in cases(settings, options.quick):
        records, hosts = run(matrix, words, options.reps, folder, further)
        apart = phases_apart_s(matrix, settings, options.reps, folder)
        best = min(r["exchange_seconds_median"] for r in records if r["method"] in PEERS)
        port_bytes, _, up_bytes = loads(matrix, settings)
        bound = port_bytes / port
        if settings["uplink"]:
            bound = max(bound, up_bytes / (megabits(settings["uplink"]) * MBIT))
        for r in records:
            yield {
                "preset": preset,
                "cc": settings["cc"],
                "case": name,
                "method": r["method"],
                "phases": r["phases"],
                "median_s": r["exchange_seconds_median"],
                "slowest_s": r["exchange_seconds_max"],
                "to_best_mpi": r["exchange_seconds_median"] / best,
                "to_bound": r["exchange_seconds_median"] / bound,
                "bound_s": bound,
                "phases_apart_s": apart,
                "sent_again": sum(host["retransmitted"] for host in hosts),
                "mpi": r["mpi_library"],
                "verified": r["verified"],
            }


def print_table(figures, options):
    table = Table(title=f"medians of {options.reps} interleaved repetitions; {figures[0]['mpi']}")
    for column in (
        "network",
        "case",
        "method",
        "phases",
        "ms",
        "slowest",
        "/ best MPI",
        "/ bound",
        "bound",
        "apart",
    ):
        table.add_column(column, justify="left" if column in ("network", "case", "method") else "right")
    last = None
    for f in figures:
        here = (f["preset"], f["case"])
        if last not in (None, here):
            table.add_section()
        ms = [f"{f[key] * 1e3:.0f}" for key in ("median_s", "slowest_s", "bound_s", "phases_apart_s")]
        head = ("", "") if here == last else (f"{f['preset']} ({f['cc']})", f["case"])
        ratios = (f"{f['to_best_mpi']:.2f}", f"{f['to_bound']:.2f}")
        table.add_row(*head, f["method"], str(f["phases"] or "-"), *ms[:2], *ratios, *ms[2:])
        last = here
    Console(width=130).print(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presets", default="fast,shallow", help="of nuice-testbed, separated by commas")
    parser.add_argument("--cc", default="bbr", help="TCP congestion control of the hosts")
    parser.add_argument("--reps", type=int, default=9, help="timed repetitions of every method")
    parser.add_argument("--quick", action="store_true", help="4 hosts, one case: only whether it works")
    parser.add_argument("--json", action="store_true", help="one JSON object per line and nothing else")
    options = parser.parse_args()
    hosts = ["--hosts", "4"] if options.quick else []
    if options.quick:
        options.presets, options.reps = "fast", 2
    figures = []
    for preset in options.presets.split(","):
        testbed("up", "--preset", preset, "--cc", options.cc, *hosts)
        try:
            with tempfile.TemporaryDirectory() as folder:
                figures += measure(preset, options, folder)
        finally:
            testbed("down")
    if options.json:
        for figure in figures:
            print(json.dumps(figure))
    else:
        print_table(figures, options)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Exchanges on a network with real contention (docs/how-to/testbed.md), every method in the same run.

Makes the network of each preset, runs nuice-bench on its hosts (methods interleaved, every byte verified)
and prints, case by case: each method's median and 95th percentile, both over the best of MPI's own ways, the
median over the bandwidth bound, and the TCP segments that were sent again. `apart` is what TCP itself takes:
one permutation without contention, times the degree. `auto` times its candidates while planning.
Each timed exchange follows an untimed one by the same method, as TCP remembers what others have lost;
with --alone each method has a start, and so connections, of its own.

PetscSF is a peer where nuice-bench was built with it, by `make bench-peers`, then on Debian's MPI:
--bench build/peers/bench/nuice_bench/nuice-bench --mpiexec /usr/bin/mpiexec.

usage: network.py [--presets fast,shallow:reno] [--cases hot] [--methods auto,isend] [--reps 9]
       [--quick] [--bench PROGRAM --mpiexec MPIEXEC] [--json]    (as root)
"""

import argparse
import json
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from common import TESTBED, bench_on_testbed, testbed
from rich.console import Console
from rich.table import Table

import nuice
from nuice.airfoil import airfoil_mesh, halo_matrix, partition

PEERS = ["alltoallv", "neighbor", "neighbor_init", "isend", "nbx", "petscsf"]
CREDIT = ["coloring:credit", "rs_nh:credit", "lpt:credit"]
METHODS = [*PEERS, "auto", "rs_n", "coloring", "coloring:barrier", "ac:credit", *CREDIT]
# Where links contend: the same with and without a look at the network.
FABRIC = [*PEERS, "auto", "coloring:credit@blind", "coloring:barrier", "link_coloring:barrier"]
FABRIC += ["link_coloring:credit", "rs_nl:credit"]
# Several ranks on a host: without and with a look at hosts, and with combined messages.
MULTI = [*PEERS, "auto", "coloring:credit@blind", "coloring", "ac@combine", "coloring@combine", *CREDIT]
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


def start(options):
    return ["run", "--timeout", "550", *(["--mpiexec", options.mpiexec] if options.mpiexec else [])]


def known_peers(options):
    """Those that this nuice-bench was built with: it lists them when asked for one that is none."""
    words = [*start(options), "--ranks", "1", options.bench, "--matrix", "-", "--schedulers", "-"]
    said = subprocess.run([*TESTBED, *words], capture_output=True, text=True).stderr
    names = said.partition("one of MPI's own: ")[2].partition("\n")[0].split(", ")
    return [peer for peer in PEERS if peer in names]


def run(matrix, methods, options, folder, further=()):
    """What nuice-bench printed, one record per method that can carry the matrix."""
    path = Path(folder) / "matrix.mtx"
    nuice.save_matrix_market(path, matrix)
    settings = ["--settle", "1", "--warmup", "1", *further]
    records = bench_on_testbed(path, methods, options.reps, settings, [*start(options), options.bench])
    return [record for record in records if not record["refused"]]


def phases_apart_s(matrix, settings, options, folder):
    """Time of one phase of the schedule alone, times the number of phases."""
    largest = int(max(matrix.entries()[2]))
    n, per_host = matrix.num_ranks, settings["ranks_per_host"]
    ring = [(r, (r + per_host) % n, largest) for r in range(0, n, per_host)]
    records = run(nuice.CommMatrix.from_messages(n, ring), ["alltoallv", "isend"], options, folder)
    return min(r["exchange_seconds_median"] for r in records) * loads(matrix, settings)[1]


def measure(preset, options, folder):
    """The figures of one case after the other, a list of one per method."""
    settings = json.loads(testbed("status", "--json"))["settings"]
    port = megabits(settings["rate"]) * MBIT
    words, further = methods(settings)
    known = known_peers(options)
    words = [word for word in words if word not in PEERS or word in known]
    if options.methods:
        words = [word for word in words if word in options.methods.split(",")]
    machine = preset if preset in ("fast", "deep") else "shallow"
    further += ["--machine", f"testbed-{machine}", "--measure", "--wisdom", str(Path(folder) / "wisdom")]
    for name, matrix in cases(settings, options.quick):
        if options.cases not in name:
            continue
        starts = [[word] for word in words] if options.alone else [words]
        records = [r for start_words in starts for r in run(matrix, start_words, options, folder, further)]
        apart = phases_apart_s(matrix, settings, options, folder)
        peers = [r for r in records if r["method"] in PEERS]
        best = {key: min(r[f"exchange_seconds_{key}"] for r in peers) for key in ("median", "p95")}
        port_bytes, _, up_bytes = loads(matrix, settings)
        bound = port_bytes / port
        if settings["uplink"]:
            bound = max(bound, up_bytes / (megabits(settings["uplink"]) * MBIT))
        yield [
            {
                "preset": preset,
                "cc": settings["cc"],
                "case": name,
                "method": r["method"],
                "choice": r.get("choice"),
                "phases": r["phases"],
                "median_s": r["exchange_seconds_median"],
                "p95_s": r["exchange_seconds_p95"],
                "to_best_mpi": r["exchange_seconds_median"] / best["median"],
                "p95_to_best_mpi": r["exchange_seconds_p95"] / best["p95"],
                "to_bound": r["exchange_seconds_median"] / bound,
                "bound_s": bound,
                "phases_apart_s": apart,
                "sent_again": r["tcp_segments_sent_again"],
                "mpi": r["mpi_library"],
                "verified": r["verified"],
            }
            for r in records
        ]


def print_table(figures, options):
    first = figures[0]
    where = f"{first['preset']} ({first['cc']}), {first['case']}"
    bounds = f"bound {first['bound_s'] * 1e3:.1f} ms, apart {first['phases_apart_s'] * 1e3:.1f} ms"
    table = Table(title=f"{where}: {bounds}; {options.reps} repetitions", title_justify="left")
    for column in ("method", "phases", "ms", "/ bound", "/ best MPI", "p95 ms", "/ best MPI", "sent again"):
        table.add_column(column, justify="left" if column == "method" else "right")
    for f in figures:
        name = f"{f['method']}: {f['choice']}" if f["choice"] else f["method"]
        median = (f"{f['median_s'] * 1e3:.1f}", f"{f['to_bound']:.2f}", f"{f['to_best_mpi']:.2f}")
        p95 = (f"{f['p95_s'] * 1e3:.1f}", f"{f['p95_to_best_mpi']:.2f}")
        again = "-" if f["sent_again"] is None else f"{f['sent_again']:.0f}"
        table.add_row(name, str(f["phases"] or "-"), *median, *p95, again)
    console = Console(width=110)
    console.print(table)
    ours = [f for f in figures if f["method"] not in PEERS]
    if not any(f["method"] == "auto" for f in ours):
        return
    auto = next(f for f in ours if f["method"] == "auto")
    least = min(ours, key=lambda f: f["median_s"])
    console.print(
        f"times as fast as the best of MPI: auto {1 / auto['to_best_mpi']:.2f} (95th percentiles "
        f"{1 / auto['p95_to_best_mpi']:.2f}), {least['method']} {1 / least['to_best_mpi']:.2f}\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--presets",
        default="fast,shallow,shallow:reno,deep,fabric,multi",
        help="of nuice-testbed, separated by commas; :reno takes that congestion control instead of bbr",
    )
    parser.add_argument("--cases", default="", help="only those with this in their name")
    parser.add_argument("--reps", type=int, default=9, help="timed repetitions of every method")
    parser.add_argument("--methods", default="", help="only these of its methods, separated by commas")
    parser.add_argument("--alone", action="store_true", help="a start, so new connections, for every method")
    parser.add_argument("--bench", default="nuice-bench", help="the nuice-bench of another build")
    parser.add_argument("--mpiexec", default="", help="of the MPI that nuice-bench was built with")
    parser.add_argument("--quick", action="store_true", help="4 hosts, one case: only whether it works")
    parser.add_argument("--json", action="store_true", help="one JSON object per line and nothing else")
    options = parser.parse_args()
    hosts = ["--hosts", "4"] if options.quick else []
    if options.quick:
        options.presets, options.reps = "fast", 2
    for network in options.presets.split(","):
        preset, _, cc = network.partition(":")
        testbed("up", "--preset", preset, "--cc", cc or "bbr", *hosts)
        try:
            with tempfile.TemporaryDirectory() as folder:
                for figures in measure(preset, options, folder):
                    if options.json:
                        print("\n".join(json.dumps(figure) for figure in figures), flush=True)
                    else:
                        print_table(figures, options)
        finally:
            testbed("down")


if __name__ == "__main__":
    main()

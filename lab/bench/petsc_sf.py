#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""PetscSF's type nuice beside basic and neighbor, in turns in one process (docs/how-to/petsc.md).

Exchanges (PetscSFBcastBegin and End) of the patterns of network.py, on the test network and on shared
memory, and whole solutions: conjugate gradients with Jacobi, a 3-D Poisson problem, 16 right-hand sides at
once. Everything is Debian's PETSc and Open MPI; `make petsc` builds the library. What setting up took more
than basic's is counted in exchanges: after so many it has paid off. Every payload is verified, and solutions
are compared bit for bit.

usage: petsc_sf.py [--networks none:2,none:8,fast,shallow] [--cases d=8] [--reps 15] [--quick] [--json]
       (as root, but for none:N, which is shared memory with N ranks)
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

import peers
from common import TESTBED, testbed
from rich.console import Console
from rich.table import Table

import nuice
from nuice.airfoil import airfoil_mesh, halo_matrix, partition

ROOT = Path(__file__).parents[2]
TYPES = ["basic", "neighbor", "nuice"]
BOXES = {2: (2, 1, 1), 4: (2, 2, 1), 8: (2, 2, 2), 16: (4, 2, 2)}


def box_halo(num_ranks, points):
    """Of a 27-point stencil on points^3 doubles a rank, as in HPCG: faces, edges and corners."""
    boxes = BOXES[num_ranks]
    ranks = {at: rank for rank, at in enumerate(product(*map(range, boxes)))}
    messages = []
    for at, src in ranks.items():
        for step in product((-1, 0, 1), repeat=3):
            dst = ranks.get(tuple(a + s for a, s in zip(at, step, strict=True)))
            if any(step) and dst is not None:
                messages.append((src, dst, 8 * points ** step.count(0)))
    return nuice.CommMatrix.from_messages(num_ranks, messages)


def patterns(num_ranks, quick):
    """(name, matrix), sizes in whole doubles."""
    degree = min(8, num_ranks - 1)
    yield f"d={degree}, 64 KiB", nuice.random_regular(num_ranks, degree, unit_bytes=65536, seed=1)
    if quick:
        return
    mesh = airfoil_mesh(9428)
    parts = partition(mesh, num_ranks)
    total = nuice.lower_bounds(halo_matrix(mesh, parts, num_ranks, 1)).total_bytes
    unit = num_ranks * 8 * 65536 // total // 8 * 8  # to about the volume of the first case
    yield "airfoil 9428", halo_matrix(mesh, parts, num_ranks, unit)
    yield "as HPCG, 16^3 a rank", box_halo(num_ranks, 16)
    yield f"d={degree}, 1 KiB", nuice.random_regular(num_ranks, degree, unit_bytes=1024, seed=1)


def solutions(options):
    """(points a direction, right-hand sides)."""
    yield from [(8, 2)] if options.quick else [(32, 16), (48, 16)]


def run(options, network, num_ranks, program, *words):
    """What one start printed, an object per type."""
    library = Path(options.build).absolute() / "src" / "petsc" / "libnuice_petsc.so"
    environment = dict(
        os.environ, PETSC_OPTIONS=f"-dll_append {library}", OMPI_MCA_rmaps_base_oversubscribe="1"
    )
    environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    if network == "none":
        command = [options.mpiexec, "-n", str(num_ranks)]
    else:
        command = [*TESTBED, "run", "--timeout", "580", "--mpiexec", options.mpiexec]
    command += [str(word) for word in (program, *words, *TYPES)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}: {done.stdout}{done.stderr}")
    records = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {record["type"]: record for record in records}


def compared(name, network, num_ranks, by_type, key):
    """One figure: medians by type, and how many times as fast as the others nuice is."""
    ours = by_type["nuice"][key]
    figure = {"case": name, "network": network, "ranks": num_ranks, "what": key.partition("_")[0]}
    figure |= {f"{kind}_s": record[key] for kind, record in by_type.items()}
    figure |= {f"over_{kind}": by_type[kind][key] / ours for kind in TYPES if kind != "nuice"}
    return figure


def exchanges(options, network, num_ranks, program, folder):
    for name, matrix in patterns(num_ranks, options.quick):
        if options.cases not in name:
            continue
        entries = sorted(zip(*map(list, matrix.entries()), strict=True))
        (folder / "pattern").write_text("".join(f"{s} {d} {b // 8}\n" for s, d, b in entries))
        by_type = run(options, network, num_ranks, program, folder / "pattern", options.reps)
        figure = compared(name, network, num_ranks, by_type, "exchange_seconds_median")
        figure |= {f"{kind}_p95_s": record["exchange_seconds_p95"] for kind, record in by_type.items()}
        figure["right"] = all(record["verified"] for record in by_type.values())
        more_s = by_type["nuice"]["set_up_seconds"] - by_type["basic"]["set_up_seconds"]
        saved_s = figure["basic_s"] - figure["nuice_s"]
        figure["set_up_s"] = more_s
        figure["pays_after"] = max(0, round(more_s / saved_s)) if saved_s > 0.1 * figure["basic_s"] else None
        yield figure


def solves(options, network, num_ranks, program):
    for points, sides in solutions(options):
        name = f"CG, {points}^3 points, {sides} right-hand sides"
        if options.cases not in name:
            continue
        by_type = run(options, network, num_ranks, program, points, sides, 1e-2, max(2, options.reps // 5))
        figure = compared(name, network, num_ranks, by_type, "solve_seconds_median")
        iterations = {record["iterations"] for record in by_type.values()}
        figure["right"] = len(iterations) == 1 and not any(r["difference"] for r in by_type.values())
        yield figure | {"iterations": iterations.pop(), "set_up_s": None, "pays_after": None}


def print_table(figures, options):
    table = Table(title=f"medians, {options.reps} repetitions in turns", title_justify="left")
    for column in (
        "network",
        "case",
        *(f"{kind} ms" for kind in TYPES),
        "/ basic",
        "/ neighbor",
        "pays after",
        "",
    ):
        table.add_column(column, justify="left" if column in ("network", "case") else "right")
    for f in figures:
        times = [f"{1e3 * f[f'{kind}_s']:.4g}" for kind in TYPES]
        faster = [f"{f['over_basic']:.2f} x", f"{f['over_neighbor']:.2f} x"]
        pays = "" if f["set_up_s"] is None else "no gain" if f["pays_after"] is None else str(f["pays_after"])
        network = f"{f['network']}, {f['ranks']}"
        table.add_row(network, f["case"], *times, *faster, pays, "" if f["right"] else "WRONG")
    Console(width=130).print(table)


def measure(options, programs, folder):
    for network in options.networks.split(","):
        kind, _, ranks = network.partition(":")
        num_ranks = int(ranks or 16)
        if kind != "none":
            num_ranks = 4 if options.quick else 16
            testbed("up", "--preset", kind, "--hosts", str(num_ranks))
        try:
            yield from exchanges(options, kind, num_ranks, programs["petsc_sf"], folder)
            if options.solve and kind in ("fast", "none"):
                yield from solves(options, kind, num_ranks, programs["petsc_block_cg"])
        finally:
            if kind != "none":
                testbed("down")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=str(ROOT / "build" / "petsc"), help="where `make petsc` builds")
    parser.add_argument("--networks", default="none:2,none:8,fast,shallow", help="separated by commas")
    parser.add_argument("--cases", default="", help="only those with this in their name")
    parser.add_argument("--reps", type=int, default=15, help="timed repetitions of every type")
    parser.add_argument("--no-solve", dest="solve", action="store_false", help="exchanges only")
    parser.add_argument("--mpicxx", default="/usr/bin/mpicxx", help="of PETSc's MPI")
    parser.add_argument("--mpiexec", default="/usr/bin/mpiexec", help="of the same MPI")
    parser.add_argument("--quick", action="store_true", help="one small case each: only whether it works")
    parser.add_argument("--json", action="store_true", help="one JSON object per line and nothing else")
    options = parser.parse_args()
    if options.quick:
        options.reps = 2
    figures = []
    with tempfile.TemporaryDirectory() as name:
        programs = peers.build_peers(options, Path(name), ("petsc_sf", "petsc_block_cg"))
        if len(programs) < 2:
            sys.exit("PETSc is not here: `make petsc` says what it needs")
        for figure in measure(options, programs, Path(name)):
            figures.append(figure)
            if options.json:
                print(json.dumps(figure), flush=True)
    if not options.json:
        print_table(figures, options)
    return 0 if all(figure["right"] for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())

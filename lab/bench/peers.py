#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""nuice's programs beside other libraries': FFTW's own distributed transform, PETSc's and hypre's conjugate
gradients, PetscSF. Results must agree; times stand side by side.

The peers are built here, against Debian's MPI, with which Debian's libraries are linked; nuice-cg,
nuice-fft2d and nuice-bench must be built with the same MPI for times to compare (`make bench-peers` does
that), and the script says whether they are. Two libraries that need their own MPI_Init cannot share a
process in turns, so the programs are started one after the other, --runs times. A peer whose library is
missing is skipped by name.

usage: peers.py --build FOLDER [--ranks 2] [--runs 3] [--reps 30] [--quick] [--json]
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import scipy.io
import scipy.sparse
from rich.console import Console
from rich.table import Table

import nuice
from nuice.airfoil import airfoil_mesh, halo_matrix, partition
from nuice.flow import stiffness_matrix

ROOT = Path(__file__).parents[2]
# What links each: words, or the name of a package that pkg-config knows.
PEERS = {
    "fftw_mpi": ["-lfftw3_mpi", "-lfftw3", "-lm"],
    "petsc_cg": "petsc",
    "hypre_cg": ["-isystem", "/usr/include/hypre", "-lHYPRE", "-lm"],
    "petsc_sf": "petsc",
}
BESIDE = {"petsc_block_cg": "petsc"}  # for other scripts
TOLERANCE = 1e-12  # of a transform


def flags(linked):
    """What links a peer; None where its package is not here."""
    if isinstance(linked, list):
        return linked
    found = subprocess.run(["pkg-config", "--cflags", "--libs", linked], capture_output=True, text=True)
    return found.stdout.split() if found.returncode == 0 else None


def build_peers(options, folder, names=tuple(PEERS)):
    """Programs by name. Says what is missing."""
    programs = {}
    common = [str(ROOT / "lab" / "kit" / "timing.cpp")]
    for name in names:
        linked = (PEERS | BESIDE)[name]
        words = flags(linked)
        command = [options.mpicxx, "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", "-O3", "-std=c++20"]
        command += [
            f"-I{ROOT / 'include'}",
            f"-I{ROOT / 'lab'}",
            str(ROOT / "lab" / "bench" / "peers" / f"{name}.cpp"),
        ]
        if words is None or shutil.which(options.mpicxx) is None:
            missing = options.mpicxx if words is not None else linked
            print(f"{name} is skipped: {missing} is not here", file=sys.stderr)
            continue
        program = folder / name
        done = subprocess.run([*command, *common, *words, "-o", str(program)], capture_output=True, text=True)
        if done.returncode == 0:
            programs[name] = program
        else:
            reasons = [line for line in done.stderr.splitlines() if "error" in line or "cannot find" in line]
            print(f"{name} is skipped, as it does not build: {' '.join(reasons[:1])}", file=sys.stderr)
    return programs


def find(options, name):
    found = [path for path in Path(options.build).rglob(name) if path.is_file() and os.access(path, os.X_OK)]
    if not found:
        sys.exit(f"{options.build} has no {name}: `make bench-peers` builds it")
    return found[0]


def mpi_of(program):
    """The MPI library that a program loads."""
    lines = subprocess.run(["ldd", program], capture_output=True, text=True).stdout.splitlines()
    return next((line.split()[2] for line in lines if line.split()[0].startswith("libmpi.so")), "an MPI")


def start(options, program, *words):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    environment.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
    environment.setdefault("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")
    command = [options.mpiexec, "-n", str(options.ranks), str(program), *map(str, words)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def in_turns(options, ours, peer):
    """The medians of both, by key, of programs started in turns."""
    rounds = [(ours(), peer()) for _ in range(options.runs)]
    for records in zip(*rounds, strict=True):
        numbers = [key for key in records[0] if all(isinstance(record[key], float) for record in records)]
        yield records[0] | {key: median(record[key] for record in records) for key in numbers}


def figure(case, what, peer, ours_s, peer_s, right, seen):
    return {
        "case": case,
        "what": what,
        "peer": peer,
        "nuice_s": ours_s,
        "peer_s": peer_s,
        "ratio": ours_s / peer_s,
        "right": bool(right),
        "seen": seen,
    }


def transforms(options, peer, folder):
    """fftw_mpi, and SciPy for the numbers."""
    import scipy.fft

    random = np.random.Generator(np.random.PCG64(1))
    for rows, columns in ((60, 37),) if options.quick else ((100, 37), (512, 512), (1024, 1024)):
        array = random.random((rows, columns)) + 1j * random.random((rows, columns))
        array.tofile(folder / "in.c128")
        np.zeros_like(array).tofile(folder / "peer.c128")
        words = ["--size", f"{rows}x{columns}", "--input", folder / "in.c128", "--schedulers"]
        words += ["coloring:async", "--no-check", "--output", folder / "ours.c128", "--json", "--reps"]

        def ours(words=words):
            return start(options, find(options, "nuice-fft2d"), *words, options.reps)[0]["methods"][0]

        def theirs(rows=rows, columns=columns):
            names = [folder / "in.c128", folder / "peer.c128"]
            return start(options, peer, rows, columns, *names, options.reps)[0]

        mine, other = in_turns(options, ours, theirs)
        expected = scipy.fft.fft2(array)
        results = [np.fromfile(folder / f"{name}.c128", dtype=complex) for name in ("ours", "peer")]
        errors = [
            float(np.abs(a - b).max() / np.abs(expected).max())
            for a, b in ((results[0], results[1]), (results[0], expected.ravel()))
        ]
        seen = f"differs by {errors[0]:.1e} from fftw_mpi, {errors[1]:.1e} from SciPy"
        key = "transform_seconds_median"
        right = max(errors) <= TOLERANCE
        yield figure(f"FFT {rows} x {columns}", "transform", "fftw_mpi", mine[key], other[key], right, seen)


def write_petsc(path, matrix):
    """PETSc's binary form: big-endian, 32-bit indices."""
    matrix = matrix.tocsr()
    matrix.sort_indices()
    head = np.array([1211216, *matrix.shape, matrix.nnz], dtype=">i4")
    with path.open("wb") as out:
        for part, kind in ((head, ">i4"), (np.diff(matrix.indptr), ">i4"), (matrix.indices, ">i4")):
            out.write(np.asarray(part, dtype=kind).tobytes())
        out.write(matrix.data.astype(">f8").tobytes())


def metis_order(matrix, num_parts):
    """Rows by part, and the number of rows of each: nuice-cg partitions by METIS itself."""
    import pymetis

    graph = matrix - scipy.sparse.diags(matrix.diagonal())
    graph = graph.tocsr()
    graph.eliminate_zeros()
    adjacency = pymetis.CSRAdjacency(graph.indptr, graph.indices)
    part = np.asarray(pymetis.part_graph(num_parts, adjacency=adjacency)[1])
    return np.argsort(part, kind="stable"), np.bincount(part, minlength=num_parts)


def solvers(options, peer, folder, label):
    """Conjugate gradients without preconditioner."""
    side = 24 if options.quick else 128
    line = scipy.sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(side, side))
    one = scipy.sparse.identity(side)
    cases = {f"CG, Poisson {side} x {side}": scipy.sparse.kron(line, one) + scipy.sparse.kron(one, line)}
    if not options.quick:
        cases["CG, airfoil 9428"] = stiffness_matrix(airfoil_mesh(9428))
    for name, matrix in cases.items():
        order, rows = metis_order(matrix, options.ranks)
        scipy.io.mmwrite(folder / "a.mtx", matrix.tocoo(), symmetry="symmetric", precision=17)
        write_petsc(folder / "a.petsc", matrix.tocsr()[order][:, order])
        (folder / "rows").write_text("\n".join(map(str, rows)) + "\n")

        def ours():
            words = [
                "--matrix",
                folder / "a.mtx",
                "--solution",
                folder / "ours.x",
                "--no-sequential",
                "--json",
            ]
            report = start(options, find(options, "nuice-cg"), *words, "--reps", options.reps)[0]
            return report["methods"][0]

        def theirs():
            words = [folder / "a.petsc", folder / "rows", folder / "peer.x", "1e-10", options.reps]
            return start(options, peer, *words)[0]

        mine, other = in_turns(options, ours, theirs)
        x = np.loadtxt(folder / "ours.x")
        difference = float(np.abs(x[order] - np.loadtxt(folder / "peer.x")).max() / np.abs(x).max())
        right = mine["iterations"] == other["iterations"] and difference <= 1e-8 and other["converged"]
        seen = f"{mine['iterations']} and {other['iterations']} iterations, x differs by {difference:.1e}"
        for what, key in (("solution", "solve_seconds"), ("exchange", "exchange_seconds_median")):
            yield figure(name, what, label, mine[key], other[key], right, seen)


def exchanges(options, peer, folder):
    """PetscSFBcast."""
    n = options.ranks
    cases = {"all to all, 64 B": nuice.random_regular(n, n - 1, unit_bytes=64, seed=1)}
    if not options.quick:
        cases["all to all, 16 KiB"] = nuice.random_regular(n, n - 1, unit_bytes=16384, seed=1)
        mesh = airfoil_mesh(2800)
        for unit in (8, 1024):
            cases[f"airfoil 2800, {unit} B a point"] = halo_matrix(mesh, partition(mesh, n), n, unit)
    for name, matrix in cases.items():
        nuice.save_matrix_market(folder / "pattern.mtx", matrix)
        entries = sorted(zip(*map(list, matrix.entries()), strict=True))
        (folder / "pattern").write_text("".join(f"{s} {d} {b // 8}\n" for s, d, b in entries))
        batch = max(1, round(1e-3 / (1e-6 + 2e-10 * nuice.lower_bounds(matrix).total_bytes)))

        def ours(batch=batch):
            words = ["--matrix", folder / "pattern.mtx", "--schedulers", "coloring:async,isend", "--json"]
            program = find(options, "nuice-bench")
            return start(options, program, *words, "--reps", options.reps, "--batch", batch)[0]

        def theirs():
            return start(options, peer, folder / "pattern", options.reps)[0]

        mine, other = in_turns(options, ours, theirs)
        key = "exchange_seconds_median"
        right = mine["verified"] and other["verified"]
        yield figure(name, "exchange", "PetscSF", mine[key], other[key], right, "payloads verified")


RUNS = {
    "fftw_mpi": transforms,
    "petsc_cg": partial(solvers, label="KSPCG"),
    "hypre_cg": partial(solvers, label="hypre's PCG"),
    "petsc_sf": exchanges,
}


def print_table(figures, options):
    table = Table(title=f"{options.ranks} ranks, medians of {options.runs} starts in turns")
    for column in ("case", "what", "nuice us", "peer us", "peer", "ratio", "results"):
        table.add_column(column, justify="right" if column in ("nuice us", "peer us", "ratio") else "left")
    for f in figures:
        times = [f"{1e6 * f[key]:.2f}" for key in ("nuice_s", "peer_s")]
        seen = ("" if f["right"] else "WRONG: ") + f["seen"]
        table.add_row(f["case"], f["what"], *times, f["peer"], f"{f['ratio']:.2f}", seen)
    Console(width=150).print(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True, help="folder with nuice-cg, nuice-fft2d and nuice-bench")
    parser.add_argument(
        "--mpicxx", default="/usr/bin/mpicxx", help="of the MPI that the peers are linked with"
    )
    parser.add_argument("--mpiexec", default="/usr/bin/mpiexec", help="of the same MPI")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3, help="how often each program is started")
    parser.add_argument("--reps", type=int, default=30, help="measurements inside one start")
    parser.add_argument("--quick", action="store_true", help="small cases, one start: only whether it works")
    parser.add_argument("--json", action="store_true", help="one JSON object per line and nothing else")
    options = parser.parse_args()
    if options.ranks < 2:
        parser.error("--ranks: one rank alone exchanges nothing")
    if options.quick:
        options.runs, options.reps = 1, 3
    figures = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        programs = build_peers(options, folder)
        ours = mpi_of(find(options, "nuice-bench"))
        for peer, program in programs.items():
            if mpi_of(program) != ours:
                print(f"{peer} is skipped: it runs on {mpi_of(program)}, nuice on {ours}", file=sys.stderr)
                continue
            run = RUNS[peer]
            figures += [f | {"mpi": ours, "ranks": options.ranks} for f in run(options, program, folder)]
    if options.json:
        for f in figures:
            print(json.dumps(f))
    else:
        print_table(figures, options)
    return 0 if all(f["right"] for f in figures) else 1


if __name__ == "__main__":
    sys.exit(main())

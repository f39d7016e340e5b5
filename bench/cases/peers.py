# SPDX-License-Identifier: BSD-3-Clause
"""nuice's programs compared with other libraries': FFTW's own distributed transform, PETSc's and hypre's
conjugate gradients, PetscSF.

Results must agree; times are shown together. The peers are built here against Debian's MPI, with which
Debian's libraries are linked. nuice-cg, nuice-fft2d and nuice-bench must be built with the same MPI for
comparable times (`make bench-peers` does that). A program with another MPI is skipped by name, as is a peer
whose library is missing. Two libraries that need their own MPI_Init cannot share a process, so the programs
are started one after the other, --runs times.
"""

import sys
from functools import partial
from statistics import median

import numpy as np
import scipy.io
import scipy.sparse

import nuice
from kit import ROOT, Case, Column, Failed, Table, here, in_turns, objects, scratch
from kit.patterns import airfoil, everybody, laplacian, mesh
from kit.peers import OPTIONS, build_peers, find, mpi_of, write_pattern
from nuice.flow import stiffness_matrix

TOLERANCE = 1e-12  # relative error of a transform
EXCHANGE = "exchange_seconds_median"


def start(options, program, *words):
    """Starts a program and returns its output."""
    done = here(options.ranks).run([program, *words], mpiexec=options.mpiexec, timeout_s=300)
    return objects(done.stdout)[0]


def own(options, name, *words):
    """Returns what one of NUICE's programs printed about its exchange by NUICE."""
    return start(options, find(options.build, name), *words, "--json", "--reps", options.reps)["methods"][0]


def medians(options, ours, peer):
    """Returns the medians of both by key; the programs are started alternately."""
    for records in in_turns(options.runs, ours, peer):
        numbers = [key for key in records[0] if all(isinstance(record[key], float) for record in records)]
        yield records[0] | {key: median(record[key] for record in records) for key in numbers}


def figure(case, what, peer, ours_s, peer_s, right, seen):
    times = {"nuice_s": ours_s, "peer_s": peer_s, "ratio": ours_s / peer_s}
    return {"case": case, "what": what, "peer": peer} | times | {"right": bool(right), "seen": seen}


def transforms(options, peer, folder):
    """Compares with fftw_mpi, and with SciPy for the numbers."""
    import scipy.fft

    random = np.random.Generator(np.random.PCG64(1))
    for rows, columns in ((60, 37),) if options.quick else ((100, 37), (512, 512), (1024, 1024)):
        array = random.random((rows, columns)) + 1j * random.random((rows, columns))
        array.tofile(folder / "in.c128")
        np.zeros_like(array).tofile(folder / "peer.c128")
        words = ["--size", f"{rows}x{columns}", "--input", folder / "in.c128", "--schedulers"]
        words += ["coloring:async", "--no-check", "--output", folder / "ours.c128"]
        ours = partial(own, options, "nuice-fft2d", *words)
        names = [folder / "in.c128", folder / "peer.c128"]
        theirs = partial(start, options, peer, rows, columns, *names, options.reps)
        mine, other = medians(options, ours, theirs)
        expected = scipy.fft.fft2(array)
        results = [np.fromfile(folder / f"{name}.c128", dtype=complex) for name in ("ours", "peer")]
        others = (results[1], expected.ravel())
        errors = [float(np.abs(results[0] - x).max() / np.abs(expected).max()) for x in others]
        seen = f"differs by {errors[0]:.1e} from fftw_mpi, {errors[1]:.1e} from SciPy"
        key = "transform_seconds_median"
        right = max(errors) <= TOLERANCE
        yield figure(f"FFT {rows} x {columns}", "transform", "fftw_mpi", mine[key], other[key], right, seen)


def write_petsc(path, matrix):
    """Writes a matrix in PETSc's binary form: big-endian, 32-bit indices."""
    matrix = matrix.tocsr()
    matrix.sort_indices()
    head = np.array([1211216, *matrix.shape, matrix.nnz], dtype=">i4")
    with path.open("wb") as out:
        for part, kind in ((head, ">i4"), (np.diff(matrix.indptr), ">i4"), (matrix.indices, ">i4")):
            out.write(np.asarray(part, dtype=kind).tobytes())
        out.write(matrix.data.astype(">f8").tobytes())


def metis_order(matrix, num_parts):
    """Returns the rows by part, and the number of rows of each part: nuice-cg partitions by METIS itself."""
    import pymetis

    graph = matrix - scipy.sparse.diags(matrix.diagonal())
    graph = graph.tocsr()
    graph.eliminate_zeros()
    adjacency = pymetis.CSRAdjacency(graph.indptr, graph.indices)
    part = np.asarray(pymetis.part_graph(num_parts, adjacency=adjacency)[1])
    return np.argsort(part, kind="stable"), np.bincount(part, minlength=num_parts)


def solvers(options, peer, folder, label):
    """Compares conjugate gradients without preconditioner."""
    side = 24 if options.quick else 128
    cases = {f"CG, Poisson {side} x {side}": laplacian(side, 2)}
    if not options.quick:
        cases["CG, airfoil 9428"] = stiffness_matrix(mesh(9428))
    for name, matrix in cases.items():
        order, rows = metis_order(matrix, options.ranks)
        scipy.io.mmwrite(folder / "a.mtx", matrix.tocoo(), symmetry="symmetric", precision=17)
        write_petsc(folder / "a.petsc", matrix.tocsr()[order][:, order])
        (folder / "rows").write_text("\n".join(map(str, rows)) + "\n")
        words = ["--matrix", folder / "a.mtx", "--solution", folder / "ours.x", "--no-sequential"]
        files = [folder / "a.petsc", folder / "rows", folder / "peer.x"]
        ours = partial(own, options, "nuice-cg", *words)
        mine, other = medians(options, ours, partial(start, options, peer, *files, "1e-10", options.reps))
        x = np.loadtxt(folder / "ours.x")
        difference = float(np.abs(x[order] - np.loadtxt(folder / "peer.x")).max() / np.abs(x).max())
        right = mine["iterations"] == other["iterations"] and difference <= 1e-8 and other["converged"]
        seen = f"{mine['iterations']} and {other['iterations']} iterations, x differs by {difference:.1e}"
        for what, key in (("solution", "solve_seconds"), ("exchange", EXCHANGE)):
            yield figure(name, what, label, mine[key], other[key], right, seen)


def exchanges(options, peer, folder):
    """Compares with PetscSFBcast."""
    n = options.ranks
    cases = {"all to all, 64 B": everybody(n, 64)}
    if not options.quick:
        cases["all to all, 16 KiB"] = everybody(n, 16384)
        for unit in (8, 1024):
            cases[f"airfoil 2800, {unit} B a point"] = airfoil(2800, n, unit)
    for name, matrix in cases.items():
        write_pattern(folder / "pattern", matrix)
        batch = max(1, round(1e-3 / (1e-6 + 2e-10 * nuice.lower_bounds(matrix).total_bytes)))
        methods, program = ["coloring:async", "isend"], find(options.build, "nuice-bench")
        how = {"program": program, "mpiexec": options.mpiexec, "timeout_s": 300}
        ours = partial(here(n).bench, matrix, methods, options.reps, "--batch", batch, **how)
        theirs = partial(start, options, peer, folder / "pattern", options.reps)
        mine, other = medians(options, lambda ours=ours: ours()[0], theirs)
        right = mine["verified"] and other["verified"]
        yield figure(name, "exchange", "PetscSF", mine[EXCHANGE], other[EXCHANGE], right, "payloads verified")


RUNS = {
    "fftw_mpi": transforms,
    "petsc_cg": partial(solvers, label="KSPCG"),
    "hypre_cg": partial(solvers, label="hypre's PCG"),
    "petsc_sf": exchanges,
}


def rows(options):
    if options.ranks < 2:
        raise Failed("--ranks: one rank alone exchanges nothing")
    ours = mpi_of(find(options.build, "nuice-bench"))
    with scratch() as folder:
        for peer, program in build_peers(options.mpicxx, folder, *RUNS).items():
            if mpi_of(program) != ours:
                print(f"{peer} is skipped: it runs on {mpi_of(program)}, nuice on {ours}", file=sys.stderr)
                continue
            for row in RUNS[peer](options, program, folder):
                yield row | {"mpi": ours, "ranks": options.ranks}


CASE = Case(
    rows,
    needs=["peers"],
    options=dict(
        build=(str(ROOT / "build" / "peers"), "of nuice's programs"), ranks=2, runs=3, reps=30, **OPTIONS
    ),
    quick=dict(runs=1, reps=3),
    minutes=5,
    tables=Table(
        "{o.ranks} ranks, medians of {o.runs} alternate starts",
        "case | what | nuice us = nuice_s*1e6 .2f | peer us = peer_s*1e6 .2f | peer | ratio .2f",
        Column("results", lambda row: ("" if row["right"] else "WRONG: ") + row["seen"]),
    ),
    wrong=lambda rows, _: "" if all(row["right"] for row in rows) else "results differ",
)

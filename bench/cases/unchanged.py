# SPDX-License-Identifier: BSD-3-Clause
"""The gain of `nuice run` for unmodified programs: with and without it, alternately, on a test network.

Runs unchanged/all_to_all.cpp in several cases, timed from its first call to its last; or with --programs
Debian's programs, with Debian's Open MPI, which `make bench-programs` installs; or with --heffte DIR heFFTe,
built from its sources; or with --program any program. Figures are the times of whole runs, the times that
programs print, and with --record each rank's mean time in all-to-alls and neighbourhoods, as recorded with
and without `nuice run`. Every pair of runs must print the same results. Figures are medians over the rounds,
and the ratio with over without. --settings: the program also runs without `nuice run` but with settings of
MPI, as in the case `tuned`, each in every round.

For all_to_all the table also has the first call, which connects, and the mean of later calls. In the case
1:BYTES every rank has one partner, so nothing contends: MPI's time is then TCP's time for these bytes per
port.
"""

from __future__ import annotations

import gzip
import re
import shlex
import shutil
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import NamedTuple

from kit import (
    LOAD,
    ROOT,
    CannotRun,
    Case,
    Column,
    Failed,
    Place,
    Table,
    call,
    in_turns,
    median_ratio,
    middle,
    place,
)
from kit.settings import setting
from nuice.cli.bench import find_program
from nuice.cli.running import RECORDER, SETTINGS, WINDOWS, find_library
from nuice.recording import load

BENCH = ROOT / "bench"
INPUTS = BENCH / "programs"
HEFFTE = ROOT / "build" / "heffte"
PSEUDOPOTENTIAL = Path("/usr/share/doc/quantum-espresso/examples/EPW/sic/pp/Si.pz-vbc.UPF.gz")
SUPERLU = Path(f"/usr/lib/{sysconfig.get_config_var('MULTIARCH')}/superlu-dist/tests/EXAMPLE")
MPIEXEC = "/usr/bin/mpiexec.openmpi"
CASES = ["changing", "turns", "8:65536", "15:32768", "15:1024", "15:512"]
CASES += ["grid:65536", "grid:4096", "grid:1024"]
CASES += [
    "igrid:65536",
    "igrid:11264",
    "igrid:1024",
    "igrid:65536:40",
    "igrid:65536:300",
    "pgrid:65536",
    "pgrid:1024",
]
CASES += ["i8:65536", "i15:1024", "p8:65536", "sgrid:65536", "sgrid:11264"]


def lammps(folder):
    return ["lmp", "-in", str(INPUTS / "lammps.in"), "-log", "none"]


def spectral(points, steps):
    return lambda folder: ["/usr/bin/python3", str(INPUTS / "spectral.py"), str(points), str(steps)]


def silicon(folder):
    with gzip.open(PSEUDOPOTENTIAL) as packed, open(folder / "Si.pz-vbc.UPF", "wb") as file:
        shutil.copyfileobj(packed, file)
    text = (INPUTS / "silicon.in").read_text()
    text = text.replace("PSEUDO", str(folder)).replace("OUT", str(folder / "out"))
    (folder / "silicon.in").write_text(text)
    return ["pw.x", "-in", str(folder / "silicon.in")]


def poisson(folder):
    case = ["--problem_type", "poisson", "--scaling_type", "strong", "--ndofs", "100000"]
    return ["dolfinx-scaling-test", *case, "-ksp_type", "cg", "-pc_type", "jacobi"]


def halo(folder):
    """Returns the same program with PETSc's halo exchange by MPI_Ineighbor_alltoallv, which users may
    choose."""
    return [*poisson(folder), "-sf_type", "neighbor"]


def partition(folder, points=40):
    """Writes a graph of points^3 vertices in Scotch's format: every vertex lists its neighbours."""
    steps = (1, points, points**2)
    lines = []
    for v in range(points**3):
        at = (v % points, v // points % points, v // points**2)
        near = [v - s for x, s in zip(at, steps, strict=True) if x > 0]
        near += [v + s for x, s in zip(at, steps, strict=True) if x < points - 1]
        lines.append(" ".join(map(str, (len(near), *near))))
    arcs = 6 * (points - 1) * points**2
    graph = folder / "grid.grf"
    graph.write_text(f"0\n{points**3} {arcs}\n0 000\n" + "\n".join(lines) + "\n")
    return ["dgpart", "16", str(graph), str(folder / "parts.map"), "-vm"]


def sparse(folder):
    """Returns SuperLU_DIST's own example as Debian ships it: one system of 4,960 unknowns, factored and
    solved."""
    return [SUPERLU / "pddrive", "-r", "4", "-c", "4", SUPERLU / "big.rua"]


def transform(reshape):
    """Returns heFFTe's own benchmark: a warm-up, and five transforms there and back."""
    program = HEFFTE / "benchmarks" / "speed3d_r2c"
    return lambda folder: [program, "fftw", "double", "128", "128", "128", "-a2av", reshape]


def build_heffte(sources):
    """Builds heFFTe with Debian's FFTW and Open MPI."""
    settings = dict(CMAKE_BUILD_TYPE="Release", Heffte_ENABLE_FFTW="ON", BUILD_SHARED_LIBS="ON")
    settings |= dict(MPI_CXX_COMPILER="/usr/bin/mpicxx.openmpi", MPIEXEC_EXECUTABLE=MPIEXEC)
    call(["cmake", "-S", sources, "-B", HEFFTE, *(f"-D{k}={v}" for k, v in settings.items())])
    call(["cmake", "--build", HEFFTE, "-j2", "--target", "speed3d_r2c"])


class Program(NamedTuple):
    """A program, started in its own folder. results: a regular expression for output that must be equal.
    own_s: a regular expression for the seconds that the program prints."""

    words: Callable[[Path], list[str]]
    exchanges: str
    results: str = ""
    needs: str = ""
    repeats: bool = True  # whether two runs print the same
    mpiexec: str = MPIEXEC
    own_s: str = ""


OF_HEFFTE = ["slabs", "pencils"]
TRANSFORMS = {"results": r"^Max error: .*$", "own_s": r"Time per run: (\S+)"}
DOLFINX = {
    "results": r"Solution norm.*$",
    "needs": "dolfinx-scaling-test",
    "own_s": r"PETSc Krylov solver +\| +1 +(\S+)",
}
MPI4PY_FFT = {"results": r"^energy .*$", "needs": MPIEXEC, "own_s": r"steps took (\S+)"}
LAMMPS_LOOP = r"Loop time of (\S+)"
PROGRAMS = {
    "lammps": Program(
        lammps, "Alltoallv: pppm of 32,768 ions", r"^ +\d+ +-?[\d.]+ +-.*$", "lmp", own_s=LAMMPS_LOOP
    ),
    "spectral": Program(spectral(64, 8), "Alltoallw: mpi4py-fft, 64^3", **MPI4PY_FFT),
    "spectral128": Program(spectral(128, 2), "Alltoallw: mpi4py-fft, 128^3", **MPI4PY_FFT),
    "silicon": Program(silicon, "Alltoall, small: Quantum ESPRESSO", r"^! +total energy.*$", "pw.x"),
    "poisson": Program(poisson, "Neighbor_alltoallv: DOLFINx", **DOLFINX),
    "halo": Program(halo, "Ineighbor_alltoallv: DOLFINx, PETSc", **DOLFINX),
    "partition": Program(partition, "never the same: PT-Scotch", r"^M\t.*$", "dgpart", repeats=False),
    "sparse": Program(sparse, "never the same: SuperLU_DIST", r"^.*Sol +0:.*$", str(SUPERLU / "pddrive")),
    "slabs": Program(transform("-slabs"), "Alltoallv: heFFTe, 128^3, slabs", **TRANSFORMS),
    "pencils": Program(transform("-pencils"), "Alltoallv: heFFTe, 128^3, pencils", **TRANSFORMS),
}


def chosen(options, folder: Path) -> dict[str, Program]:
    if options.program:
        words = shlex.split(options.program)
        return {options.program: Program(lambda _: words, "", mpiexec=options.mpiexec)}
    names = list(options.programs)
    if options.heffte:
        build_heffte(Path(options.heffte).resolve())
        names += OF_HEFFTE if not set(names) & set(OF_HEFFTE) else []
    for name in names:
        if name in OF_HEFFTE and not options.heffte:
            raise CannotRun(f"{name} is heFFTe: --heffte DIR with its sources")
        if PROGRAMS[name].needs and shutil.which(PROGRAMS[name].needs) is None:
            raise CannotRun(f"{name} needs {PROGRAMS[name].needs}: make bench-programs installs it")
    if names:
        return {name: PROGRAMS[name] for name in names}
    built = folder / "all_to_all"
    call([find_program("mpicxx"), "-std=c++20", "-O2", BENCH / "unchanged" / "all_to_all.cpp", "-o", built])
    return {
        case: Program(lambda _, case=case: [built, case, options.calls], "Alltoallv", mpiexec=options.mpiexec)
        for case in options.cases
    }


def start(
    where: Place, program: Program, words: list, windows: bool, record: Path | None, of_mpi: Mapping[str, str]
) -> dict:
    """Returns two things: the seconds, as the program printed them or by the clock, and the results that it
    printed. windows: whether to use `nuice run`. record: a folder for the recording, which is emptied.
    of_mpi: settings as environment variables."""
    settings = ["OMP_NUM_THREADS=1", "SCOTCH_PTHREAD_NUMBER=1"]
    settings += [f"{name}={value}" for name, value in ((SETTINGS if windows else {}) | dict(of_mpi)).items()]
    preloads = [find_library(name) for name, used in ((WINDOWS, windows), (RECORDER, record)) if used]
    settings += [f"LD_PRELOAD={':'.join(map(str, preloads))}"] if preloads else []
    if record:
        shutil.rmtree(record, ignore_errors=True)
        record.mkdir()
        settings.append(f"NUICE_RECORD_DIR={record}")
    begin = time.monotonic()
    done = where.run(["/usr/bin/env", *settings, *words], mpiexec=program.mpiexec, timeout_s=900)
    elapsed = time.monotonic() - begin
    found = re.findall(program.results, done.stdout, re.MULTILINE) if program.results else None
    if found == []:
        raise Failed(f"{words[0]} printed no result like {program.results}:\n{done.stdout[-2000:]}")
    said = re.search(r"milliseconds (\S+)", done.stdout)
    own = re.search(program.own_s, done.stdout) if program.own_s else None
    each = re.search(r"^each (.*)", done.stdout, re.MULTILINE) if said else None
    first, *later = map(float, each[1].split()) if each else [0.0]
    return {
        "first_ms": first if each else None,
        "later_ms": sum(later) / len(later) if later else None,
        "seconds": float(said[1]) / 1e3 if said else elapsed,
        "own_s": float(own[1]) if own else None,
        "inside_s": inside(record) if record else None,
        "results": found,
    }


def inside(record: Path) -> float:
    """Returns a rank's mean seconds in its all-to-alls and neighbourhood collectives, including starting and
    waiting."""
    recording = load(record)
    calls = [each for each in recording.exchanges if "all" in each.call]
    return sum(each.seconds * len(each.ranks) for each in calls) / recording.num_ranks


def measure(where: Place, program: Program, options, folder: Path) -> dict:
    words = program.words(folder)
    rounds = options.rounds
    record = folder / "record" if options.record else None
    tuned = [setting(word, "openmpi") for word in options.settings]
    ways = [(False, {}), (True, {}), *((False, each.environment) for each in tuned)]
    off, on, *others = in_turns(
        rounds, *(lambda way=way: start(where, program, words, way[0], record, way[1]) for way in ways)
    )
    has_each = all(run["later_ms"] is not None for run in off + on)
    is_equal = all(a["results"] == b["results"] for a, b in zip(off, on, strict=True))
    clock = "own_s" if program.own_s else "seconds"
    runs = {"without": off, "with": on} | {each.name: o for each, o in zip(tuned, others, strict=True)}
    return {
        "all_s": {name: [run[clock] for run in each] for name, each in runs.items()},
        "network": where.name,
        "hosts": where.settings["hosts"] if where.settings else where.ranks,
        "rounds": rounds,
        "without_s": middle(off, "seconds"),
        "with_s": middle(on, "seconds"),
        "with_over_without": median_ratio((b["seconds"] for b in on), (a["seconds"] for a in off)),
        "own_with_over_without": median_ratio((b["own_s"] for b in on), (a["own_s"] for a in off))
        if program.own_s
        else None,
        "inside_without_s": middle(off, "inside_s") if record else None,
        "inside_with_s": middle(on, "inside_s") if record else None,
        "inside_with_over_without": median_ratio((b["inside_s"] for b in on), (a["inside_s"] for a in off))
        if record
        else None,
        "first_without_ms": middle(off, "first_ms") if has_each else None,
        "first_with_ms": middle(on, "first_ms") if has_each else None,
        "later_without_ms": middle(off, "later_ms") if has_each else None,
        "later_with_ms": middle(on, "later_ms") if has_each else None,
        "same_results": is_equal if program.repeats and program.results else None,
    }


def rows(options) -> Iterator[dict]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        todo = chosen(options, folder)
        for preset in [""] if options.one_host else options.presets:
            with place(preset, options.hosts, hosts=options.hosts) as where:
                for name, program in todo.items():
                    row = measure(where, program, options, folder)
                    yield {"program": name, "exchanges": program.exchanges} | row


def settings_of(row):
    """Returns, for each setting of MPI, the median by the program's own clock, if it has one."""
    medians = {name: median(times) for name, times in row["all_s"].items()}
    return "; ".join(f"{name} {seconds:.3g}" for name, seconds in medians.items())


def gain(ratio):
    return f"{1 / ratio:.2f}" if ratio else "-"


def pair(without, with_it):
    return "-" if without is None else f"{without:.0f} -> {with_it:.0f}"


CASE = Case(
    rows,
    needs=["mpi", "testbed"],
    options=dict(
        presets=["fast"],
        hosts=16,
        cases=(CASES, "of all_to_all"),
        calls=(32, "of MPI_Alltoallv"),
        rounds=5,
        programs=([], f"instead of all_to_all, some of {', '.join(PROGRAMS)}", tuple(PROGRAMS)),
        settings=([], "of MPI, without `nuice run`, such as rcvbuf=4k+eager=1m"),
        record=(False, "the time in all-to-alls and neighbourhoods, too"),
        heffte=("", "sources of heFFTe, which are built with Debian's FFTW: slabs, pencils"),
        program=("", 'another program, such as "lmp -in bench.in"'),
        mpiexec="",
        one_host=False,
    ),
    quick=dict(hosts=4, cases=["8:65536"], calls=2, rounds=1, one_host=True),
    minutes=15,
    tables=Table(
        "medians of {o.rounds} pairs; x is without over with",
        "network | hosts | program | exchanges | without, s = without_s .3f | with, s = with_s .3f",
        "with / without = with_over_without .3f",
        Column("x", lambda row: 1 / row["with_over_without"], ".2f"),
        Column("x by its own clock", lambda row: gain(row["own_with_over_without"])),
        Column("first call, ms", lambda row: pair(row["first_without_ms"], row["first_with_ms"])),
        Column("later ones, each", lambda row: pair(row["later_without_ms"], row["later_with_ms"])),
        Column("x in its exchanges", lambda row: gain(row["inside_with_over_without"])),
        Column("medians by that clock", settings_of),
        Column("same results", lambda row: {True: "yes", False: "NO", None: "-"}[row["same_results"]]),
        LOAD,
    ),
    wrong=lambda rows, _: "other results" if any(row["same_results"] is False for row in rows) else "",
)

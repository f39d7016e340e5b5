# SPDX-License-Identifier: BSD-3-Clause
"""The library, C, Fortran and nuice.mpi with the MPICH wheel: with MPICH's own handles (native) and with the
ABI of MPI 5 (abi), for which one build is enough. `make test-mpich` makes what is needed in build/mpich.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mpi_job

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
NAMES = {"native": "mpich", "abi": "mpi_abi"}
SUM = "sum after 200 steps: 37730.960018\n"
VERSION = re.search(r"project\(nuice VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


class Kind:
    def __init__(self, name: str) -> None:
        self.name = name
        self.prefix = ROOT / "build" / "mpich" / f"venv-{name}"
        self.library = self.prefix / "lib" / "libnuice.so.1"

    def compiler(self, language: str) -> str:
        return str(self.prefix / "bin" / (language + ("_abi" if self.name == "abi" else "")))

    def compile_c(self, sources: list[str], out: Path, *options: str) -> Path:
        """As `pkg-config --cflags --libs nuice` says, with this tree's headers."""
        here = ["-I", str(self.prefix / "include"), "-L", str(self.prefix / "lib"), "-lnuice", "-lpthread"]
        rpath = f"-Wl,-rpath,{self.prefix / 'lib'}"
        command = [self.compiler("mpicc"), "-std=c99", *options, *sources, *here, rpath, "-o", str(out)]
        must(command)
        return out

    def run(self, ranks: int, *command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        # Ranks of MPICH do not yield the core: more of them than cores, or other work on them, take long.
        mpiexec = [str(self.prefix / "bin" / "mpiexec"), "-n", str(ranks)]
        return mpi_job.run_ranks([*mpiexec, *map(str, command)], 900, environment)

    def python(self, ranks: int, *arguments: str | Path, **environment: str):
        return self.run(ranks, self.prefix / "bin" / "python", *arguments, **environment)


@pytest.fixture(params=["native", "abi"])
def kind(request: pytest.FixtureRequest) -> Kind:
    found = Kind(request.param)
    if not found.library.exists():
        pytest.skip(f"there is no libnuice for the MPICH wheel in {found.prefix}: make test-mpich")
    return found


def must(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


def test_the_library_needs_the_mpi_that_it_was_built_for(kind: Kind) -> None:
    listed = subprocess.run(["readelf", "-d", kind.library], capture_output=True, text=True, check=True)
    needed = re.findall(r"NEEDED.*\[(libmpi\w*)\.so", listed.stdout)
    assert needed == ["libmpi_abi" if kind.name == "abi" else "libmpi"]


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_c(kind: Kind, ranks: int, tmp_path: Path) -> None:
    names = ("alltoallv", "exchange", "errors", "halo", "planner")
    sources = [str(ROOT / f"tests/capi/{name}_test.c") for name in names]
    options = ("-D_POSIX_C_SOURCE=200809L", f'-DNUICE_EXPECTED_VERSION="{VERSION}"')
    program = kind.compile_c(sources, tmp_path / "capi", *options, "-I", str(ROOT / "tests/capi"))
    done = kind.run(ranks, program)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("program", ["heat", "heat_mpi"])
def test_heat_in_c(kind: Kind, program: str, tmp_path: Path) -> None:
    built = kind.compile_c([str(ROOT / f"examples/heat/c/{program}.c")], tmp_path / program)
    assert kind.run(4, built).stdout == SUM


def configure_heat(prefix: Path, compiler: str, build: Path) -> subprocess.CompletedProcess[str]:
    command = ["cmake", "-S", str(ROOT / "examples/heat/c"), "-B", str(build), f"-DMPI_C_COMPILER={compiler}"]
    return subprocess.run([*command, f"-DCMAKE_PREFIX_PATH={prefix}"], capture_output=True, text=True)


def test_tutorial_in_cxx(kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plain twin too: MPI::MPI_CXX has the MPI_ABI of the compiler."""
    monkeypatch.chdir(tmp_path)  # where it leaves its matrix
    paths = ["-S", str(ROOT / "examples/tutorial"), "-B", str(tmp_path), f"-DCMAKE_PREFIX_PATH={kind.prefix}"]
    must(["cmake", *paths, f"-DMPI_CXX_COMPILER={kind.compiler('mpicxx')}"])
    must(["cmake", "--build", str(tmp_path)])
    for program in ("before", "after"):
        assert "sum of squares: 9134485.392500019" in kind.run(4, tmp_path / program).stdout


def test_heat_by_cmake(kind: Kind, tmp_path: Path) -> None:
    done = configure_heat(kind.prefix, kind.compiler("mpicc"), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    must(["cmake", "--build", str(tmp_path), "--target", "heat"])
    assert kind.run(4, tmp_path / "heat").stdout == SUM


def test_cmake_refuses_another_mpi_than_that_of_the_abi(kind: Kind, tmp_path: Path) -> None:
    """They lie next to each other in one prefix, and CMake takes mpicc where it is not told."""
    if kind.name != "abi":
        pytest.skip("a build for MPICH's own handles cannot tell its libmpi from another MPI's")
    done = configure_heat(kind.prefix, str(kind.prefix / "bin/mpicc"), tmp_path)
    assert done.returncode != 0
    assert "nuice was built with the ABI of MPI 5 (mpi_abi), and MPI here is mpi" in " ".join(
        done.stderr.split()
    )


@pytest.mark.parametrize("ranks", [1, 3])
def test_fortran(kind: Kind, ranks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wheel has no Fortran of its own: MPI is C's, as handles that are integers."""
    monkeypatch.chdir(tmp_path)  # where it leaves its files
    if shutil.which("gfortran") is None:
        pytest.skip("there is no gfortran")
    module = kind.prefix / "share/nuice/fortran"
    sources = [module / "nuice_c.f90", module / "nuice.F90"]
    sources += [ROOT / "tests/fortran" / name for name in ("checks.f90", "planner.f90", "exchanges.F90")]
    objects = [tmp_path / f"{source.stem}.o" for source in sources]
    for source, made in zip(sources, objects, strict=True):
        must(["gfortran", "-std=f2018", "-J", str(tmp_path), "-c", str(source), "-o", str(made)])
    from_c = str(ROOT / "tests/fortran/from_c.c")
    program = kind.compile_c([from_c, *map(str, objects), "-lgfortran", "-lm"], tmp_path / "fortran")
    done = kind.run(ranks, program)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("ranks", [1, 2])
def test_nuice_mpi(kind: Kind, ranks: int) -> None:
    program = ROOT / "tests/python/mpi/program.py"
    cases = sum(file.read_text().count("\ndef test_") for file in program.parent.glob("*.py"))
    done = kind.python(ranks, program)
    assert done.stdout.split() == [str(cases), "passed"], done.stdout + done.stderr


@pytest.mark.parametrize("program", ["heat", "heat_mpi"])
def test_heat_in_python(kind: Kind, program: str) -> None:
    done = kind.python(4, ROOT / f"examples/heat/python/{program}.py")
    assert done.stdout == SUM, done.stdout + done.stderr


def test_an_exception_on_one_rank_ends_all(kind: Kind) -> None:
    done = kind.python(3, ROOT / "tests/python/mpi/program.py", "fail_on_one_rank")
    assert done.returncode != 0
    assert "rank 2 ends all ranks after RuntimeError" in done.stderr


def test_the_library_is_chosen_by_the_mpi_of_mpi4py(kind: Kind) -> None:
    done = kind.python(1, "-c", "import nuice.mpi as m; print(m.mpi_name, m.library_path)")
    assert done.stdout.split() == [NAMES[kind.name], str(kind.library)], done.stderr


def test_the_library_of_another_mpi_is_refused_with_both_names(kind: Kind) -> None:
    other = Kind("native" if kind.name == "abi" else "abi")
    if not other.library.exists():
        pytest.skip(f"there is no {other.library}: make test-mpich")
    done = kind.python(1, "-c", "import nuice.mpi", NUICE_LIBRARY=str(other.library))
    assert done.returncode != 0
    assert f"mpi4py runs on {NAMES[kind.name]} (MPICH" in done.stderr
    assert f"{other.library}: built with {NAMES[other.name]}" in done.stderr


def test_plans_on_more_communicators_than_mpich_has(kind: Kind) -> None:
    """MPICH has 2,048, of which a plan's first on a communicator takes two in addition."""
    done = kind.python(2, ROOT / "tests/python/mpi/many_communicators.py", "3000")
    assert done.returncode == 0, done.stdout + done.stderr
    kept, refused, refusal = done.stdout.splitlines()
    found = re.fullmatch(r"kept: (\d+) plans, (\d+) communicators without", kept)
    assert found and 600 < int(found[1]) < int(found[2]) < 2048, kept
    assert refused == "refused on all ranks: True"
    assert refusal.startswith("mpi: MPI makes no more communicators (MPICH has 2,048 in all"), refusal


def test_one_build_runs_under_every_mpi_that_offers_the_abi(tmp_path: Path) -> None:
    """Under Open MPI too, from the version on that has libmpi_abi.so."""
    abi = Kind("abi")
    if not abi.library.exists():
        pytest.skip(f"there is no libnuice for the ABI of MPI 5 in {abi.prefix}: make test-mpich")
    lib = Path(sys.prefix) / "lib"
    if not (lib / "libmpi_abi.so").exists() and not (lib / "libmpi_abi.so.1").exists():
        pytest.skip(f"the Open MPI in {lib} has no libmpi_abi.so")
    program = abi.compile_c([str(ROOT / "examples/heat/c/heat.c")], tmp_path / "heat")
    paths = {"LD_LIBRARY_PATH": f"{lib}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
    done = mpi_job.run_ranks([str(Path(sys.prefix) / "bin/mpiexec"), "-n", "4", str(program)], 120, paths)
    assert done.stdout == SUM, done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a test network")
@pytest.mark.parametrize("netmod", ["ofi", "ucx"])
def test_windows_of_its_connections_are_governed(kind: Kind, netmod: str, tmp_path: Path) -> None:
    program = "from mpi4py import MPI; print(MPI.COMM_WORLD.allreduce(b'x' * 100000)[:1])"
    preloaded = Path(sys.executable).parent.parent / "lib" / "nuice" / "libnuice_flow.so"
    settings = {"LD_PRELOAD": preloaded, "NUICE_FLOW_REPORT": tmp_path, "MPIR_CVAR_CH4_NETMOD": netmod}
    environment = ["/usr/bin/env", *(f"{name}={value}" for name, value in settings.items())]
    testbed = [Path(sys.executable).parent / "nuice-testbed", "once", "--hosts", "2", "--timeout", "100"]
    mpiexec = ["--mpiexec", kind.prefix / "bin" / "mpiexec"]
    python = [kind.prefix / "bin" / "python", "-c", program]
    must([str(word) for word in [*testbed, *mpiexec, *environment, *python]])
    reports = [json.loads(file.read_text()) for file in tmp_path.glob("flow-*.json")]
    assert sum(port["connections"] for report in reports for port in report["ports"]) >= 2

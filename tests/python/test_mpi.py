# SPDX-License-Identifier: BSD-3-Clause
"""nuice.mpi under mpiexec: mpi/program.py on 1, 2 and 4 ranks, and what must end a job or an import."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import mpi_job

pytest.importorskip("mpi4py")
pytestmark = pytest.mark.slow

PROGRAM = Path(__file__).parent / "mpi" / "program.py"
MPIEXEC = Path(sys.executable).parent / "mpiexec"


def run(ranks: int, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    settings = {"OMPI_MCA_osc": "^ucx", **environment}
    return mpi_job.run_ranks([MPIEXEC, "-n", str(ranks), sys.executable, *arguments], 240, settings)


@pytest.mark.parametrize("ranks", [1, 2, pytest.param(4, marks=pytest.mark.alone)])
def test_on_ranks(ranks: int) -> None:
    done = run(ranks, str(PROGRAM))
    cases = sum(file.read_text().count("\ndef test_") for file in PROGRAM.parent.glob("*.py"))
    assert cases > 10 and done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split() == [str(cases), "passed"], done.stdout + done.stderr


def test_an_exception_on_one_rank_ends_all() -> None:
    done = run(3, str(PROGRAM), "fail_on_one_rank")
    assert done.returncode != 0
    assert "the sky falls" in done.stderr
    assert "rank 2 ends all ranks after RuntimeError" in done.stderr


def test_an_exchange_that_is_under_way_at_the_end() -> None:
    for _ in range(3):
        done = run(3, str(PROGRAM), "leave_under_way")
        assert done.returncode == 0, done.stdout + done.stderr


def test_calls_before_and_after_mpi() -> None:
    """MPI itself would end the program."""
    done = run(2, str(PROGRAM), "finalize_too_early")
    assert (done.returncode, done.stdout.split()) == (0, ["ok", "ok"]), done.stdout + done.stderr
    early = (
        "import mpi4py; mpi4py.rc.initialize = False\n"
        "import nuice.mpi; nuice.mpi.Plan(mpi4py.MPI.COMM_WORLD, {})"
    )
    done = run(1, "-c", early)
    assert "Error: MPI is needed here, between MPI.Init() and MPI.Finalize()" in done.stderr, done.stderr


def test_the_library_of_another_mpi_is_refused(tmp_path: Path) -> None:
    """Stands in for a libnuice that was built with MPICH: before anything else it is asked for its MPI."""
    source = tmp_path / "other.c"
    source.write_text('const char* nuice_mpi_name(void) { return "mpich"; }\n')
    library = tmp_path / "libother.so"
    subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    done = run(1, "-c", "import nuice.mpi", NUICE_LIBRARY=str(library))
    assert done.returncode != 0
    assert "mpi4py runs on openmpi (Open MPI" in done.stderr
    assert f"{library}: built with mpich" in done.stderr


def test_planning_needs_no_mpi() -> None:
    script = "import sys, nuice; sys.exit('mpi4py' in sys.modules or 'nuice.mpi' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], timeout=60).returncode == 0


@pytest.mark.parametrize("program", ["heat.py", "heat_mpi.py"])
def test_heat(program: str) -> None:
    """The same sum as in C, C++ and Fortran (tests/CMakeLists.txt)."""
    done = run(4, str(Path(__file__).parents[2] / "examples" / "heat" / "python" / program))
    assert done.stdout == "sum after 200 steps: 37730.960018\n", done.stdout + done.stderr


def test_bench_of_the_overhead() -> None:
    bench = Path(__file__).parents[2] / "bench" / "run.py"
    done = run(1, str(bench), "python_overhead", "--json", "--reps", "500", "--rounds", "3")
    figures = json.loads(done.stdout)
    assert 0 < figures["c_us"] < figures["python_us"], done.stderr

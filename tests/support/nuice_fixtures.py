# SPDX-License-Identifier: BSD-3-Clause
"""What the Python tests share: a fixed Hypothesis profile and the installed command."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# The same examples in every run: a failure is then found again with the same command.
settings.register_profile(
    "nuice",
    derandomize=True,
    deadline=None,
    max_examples=80,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("nuice")

# As cmake/NuiceMpiTest.cmake: Open MPI 5 otherwise looks for fabrics whenever ranks are started, for longer
# than most of these tests run; and ranks that wait keep the core from others.
for setting in ("btl=^ofi", "pml=ob1", "mpi_yield_when_idle=1"):
    name, value = f"OMPI_MCA_{setting}".split("=")
    os.environ.setdefault(name, value)

COMMAND = Path(sys.executable).parent / "nuice"


@dataclass(frozen=True)
class Outcome:
    status: int
    out: str
    err: str

    def json(self) -> dict[str, Any]:
        """stdout as the one JSON object that it must be."""
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return value


@pytest.fixture(autouse=True)
def turn(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Of parallel workers (pytest-xdist), one that runs a test marked `alone` has the machine.

    More ranks than cores yield to each other at every step. Alongside computing processes, a step takes a
    time slice.
    """
    folder = tmp_path_factory.getbasetemp().parent
    if "PYTEST_XDIST_WORKER" not in os.environ:
        yield
        return
    alone = request.node.get_closest_marker("alone") is not None
    with (folder / "next.lock").open("w") as next_one, (folder / "machine.lock").open("w") as machine:
        fcntl.flock(
            next_one, fcntl.LOCK_EX
        )  # a test that waits for the machine comes before those that begin later
        fcntl.flock(machine, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(next_one, fcntl.LOCK_UN)
        yield


@pytest.fixture
def nuice_command(tmp_path: Path):
    """Runs `nuice ARGUMENTS...` in a folder of its own, without a terminal."""

    def run(*arguments: object, timeout_s: float = 120) -> Outcome:
        environment = {
            k: v for k, v in os.environ.items() if k not in ("FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS")
        }
        done = subprocess.run(
            [COMMAND, *map(str, arguments)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            env=environment,
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def nuice_main(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """The same within this process: for cases that are many and need no process of their own."""
    from nuice.cli import main

    def run(*arguments: object) -> Outcome:
        monkeypatch.chdir(tmp_path)
        capsys.readouterr()
        status = main([str(a) for a in arguments])
        return Outcome(status, *capsys.readouterr())

    return run

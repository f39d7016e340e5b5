# SPDX-License-Identifier: BSD-3-Clause
"""MPICH's own tests of alltoallv and its relatives, rewritten to NUICE's calls, on Debian's sources."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent


@pytest.mark.long
@pytest.mark.skipif(shutil.which("apt-get") is None, reason="the sources come from Debian's archive")
@pytest.mark.parametrize("way", [[], ["--init"]], ids=["once", "init"])
def test_mpich_coll(way: list[str], tmp_path: Path) -> None:
    fetched = subprocess.run(
        [ROOT / "tools/mpich_source.sh", ROOT / "build/mpich-source"],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert fetched.returncode == 0, fetched.stderr
    done = subprocess.run(
        [
            sys.executable,
            ROOT / "tests/capi/mpich_coll.py",
            Path(fetched.stdout.strip()) / "test/mpi",
            "--include",
            BIN.parent / "include",
            "--library",
            BIN.parent / "lib/libnuice.so",
            "--mpicc",
            BIN / "mpicc",
            "--mpiexec",
            BIN / "mpiexec",
            "--work",
            tmp_path,
            *way,
        ],
        capture_output=True,
        text=True,
        timeout=1200,
        env=os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
    )
    assert done.returncode == 0 and " 0 failed" in done.stdout, done.stdout + done.stderr

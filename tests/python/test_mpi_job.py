# SPDX-License-Identifier: BSD-3-Clause
"""What the tests with dying ranks start ends with them."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
import mpi_job


def test_nothing_is_left_after_a_time_out(tmp_path):
    """As a launcher whose ranks have groups and sessions of their own, and one that is stopped."""
    pids = tmp_path / "pids"
    rank = f"echo $$ >>{pids}; exec sleep 100"
    stopped = f"echo $$ >>{pids}; kill -STOP $$"
    launcher = f"setsid sh -c '{rank}' & set -m; sh -c '{rank}' & sh -c '{stopped}' & sleep 100"
    with pytest.raises(subprocess.TimeoutExpired):
        mpi_job.run_job(["bash", "-c", launcher], 2)
    started = [int(pid) for pid in pids.read_text().split()]
    assert len(started) == 3
    end = time.monotonic() + 10
    while time.monotonic() < end and any(runs(pid) for pid in started):
        time.sleep(0.05)
    assert not any(runs(pid) for pid in started)


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_launcher_that_did_not_start_is_started_again(tmp_path: Path) -> None:
    """Once, and only then."""
    starts = tmp_path / "starts"
    launcher = f"echo x >>{starts}; echo {mpi_job.NOT_STARTED} >&2; exit 213"
    assert mpi_job.run_ranks(["bash", "-c", launcher], 5).returncode == 213
    assert starts.read_text() == "x\nx\n"
    assert mpi_job.run_ranks(["bash", "-c", f"echo y >>{starts}; exit 1"], 5).returncode == 1
    assert starts.read_text() == "x\nx\ny\n"

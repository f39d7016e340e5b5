# SPDX-License-Identifier: BSD-3-Clause
"""Programs whose ranks die or stop: nothing of them is left, also when a test gives up waiting."""

import contextlib
import os
import signal
import subprocess
import tempfile
import uuid
from pathlib import Path

MARK = "NUICE_TEST_JOB"  # inherited by all that the launcher starts, whatever group or session they make
NOT_STARTED = "listener thread failed to start"  # PMIx says so on a busy machine, rarely


def run_ranks(command: list[str], timeout_s: float, environment: dict[str, str] | None = None):
    """A CompletedProcess with text. Started once more where the launcher could not start itself: nothing of
    none of its processes had run then."""
    for _ in range(2):
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            env=os.environ | (environment or {}),
        )
        if done.returncode == 0 or NOT_STARTED not in done.stderr:
            break
    return done


def run_job(command: list[str], timeout_s: float, environment: dict[str, str] | None = None):
    """A CompletedProcess with text. All that the command has started is ended then, and on
    subprocess.TimeoutExpired too: ranks that have lost their launcher spin and fill memory otherwise."""
    job = uuid.uuid4().hex
    # Open MPI leaves its shared memory behind when a rank is killed: here, where it goes with the folder.
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        places = {f"OMPI_MCA_{name}_backing_directory": folder for name in ("btl_sm", "osc_sm")}
        try:
            return subprocess.run(
                command,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout_s,
                env=os.environ | places | (environment or {}) | {MARK: job},
            )
        finally:
            end_job(job)


def end_job(job: str) -> None:
    while pids := processes_of(job):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def processes_of(job: str) -> list[int]:
    """Those that run, not those that only wait to be collected."""
    mark = f"{MARK}={job}".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # gone meanwhile, or another user's
            if mark in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
    return found

# SPDX-License-Identifier: BSD-3-Clause
"""Runs nuice-bench under mpiexec and reads its results."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import Error

TIME_LIMIT_S = 300


def find_program(name: str) -> str:
    """Returns the path of a program next to this Python, where `make build` puts it, or on PATH. Raises Error
    with code "io" if there is no such program.
    """
    own = Path(sys.executable).parent / name
    found = str(own) if os.access(own, os.X_OK) else shutil.which(name)
    if found is None:
        raise Error(f"{name} is neither in {own.parent} nor on PATH; `make build` puts it there", "io")
    return found


def run_bench(
    num_ranks: int,
    matrix_file: Path,
    methods: Sequence[str],
    repetitions: int,
    seed: int = 0,
    batch: int = 1,
    start: Sequence[str] = (),
    more: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Returns one record per method, as nuice-bench --json prints them. Raises Error with code "mpi" if the
    run fails.

    start: the command that starts nuice-bench, instead of mpiexec -n num_ranks. more: further options of
    nuice-bench.
    """
    problem = ["--matrix", str(matrix_file), "--seed", str(seed), "--batch", str(batch), *more]
    return _bench(start or _mpiexec(num_ranks), problem, methods, repetitions)


def run_broadcast_bench(
    num_ranks: int,
    num_bytes: int,
    methods: Sequence[str],
    repetitions: int,
    root: int = 0,
    group: Sequence[int] | None = None,
) -> list[dict[str, Any]]:
    """Runs a broadcast to all ranks, or to a group. Returns the same kind of records as run_bench()."""
    problem = ["--broadcast", str(num_bytes), "--root", str(root)]
    if group is not None:
        problem += ["--group", ",".join(map(str, group))]
    return _bench(_mpiexec(num_ranks), problem, methods, repetitions)


def _mpiexec(num_ranks: int) -> list[str]:
    return [find_program("mpiexec"), "-n", str(num_ranks)]


def _bench(
    start: Sequence[str], problem: Sequence[str], methods: Sequence[str], repetitions: int
) -> list[dict[str, Any]]:
    command = [*start, find_program("nuice-bench"), "--json"]
    command += [*problem, "--schedulers", ",".join(methods), "--reps", str(repetitions)]
    output, complaints, status = _run(command)
    if status != 0:
        last = [line for line in complaints.splitlines() if line.strip()][-3:]
        raise Error(f"nuice-bench ended with status {status}: {' '.join(last) or 'no message'}", "mpi")
    records = [json.loads(line) for line in output.splitlines()]
    if [record["method"] for record in records] != list(methods):
        raise Error(f"nuice-bench was asked for {', '.join(methods)} and answered {output[:200]!r}", "mpi")
    return records


def _run(command: list[str]) -> tuple[str, str, int]:
    # A session of its own, so that a time-out ends mpiexec together with the ranks that it started.
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
        start_new_session=True,
    )
    with process:
        try:
            output, complaints = process.communicate(timeout=TIME_LIMIT_S)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGTERM)
            if isinstance(error, subprocess.TimeoutExpired):
                raise Error(f"nuice-bench did not end within {TIME_LIMIT_S} s", "mpi") from error
            raise
    return output, complaints, process.returncode


def environment() -> dict[str, str]:
    """Returns this process's environment, changed so that Open MPI may start more ranks than cores and, in
    a container, run as root.
    """
    environment = dict(os.environ)
    environment.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")  # version 4
    environment.setdefault("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")  # version 5
    if os.geteuid() == 0:
        for prefix in ("OMPI", "PRTE"):
            environment.setdefault(f"{prefix}_ALLOW_RUN_AS_ROOT", "1")
            environment.setdefault(f"{prefix}_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    return environment

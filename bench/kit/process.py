# SPDX-License-Identifier: BSD-3-Clause
"""Starts programs for cases, and reads their output."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .case import Failed

ROOT = Path(__file__).resolve().parents[2]


def call(
    words: Sequence[Any],
    *,
    timeout_s: float = 600,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    status: int | None = 0,
) -> subprocess.CompletedProcess[str]:
    """Runs a command in its own session. A timeout ends the whole session: mpiexec and all its ranks.

    Raises Failed if the command does not end with this status; None: any status is accepted."""
    command = [str(word) for word in words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=cwd, env=env, text=True, start_new_session=True, **pipes) as process:
        try:
            out, err = process.communicate(timeout=timeout_s)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGTERM)
            if isinstance(error, subprocess.TimeoutExpired):
                raise Failed(f"{' '.join(command)} did not end within {timeout_s:g} s") from error
            raise
    if status is not None and process.returncode != status:
        said = (err.strip() or out.strip())[-4000:]
        raise Failed(f"{' '.join(command)} ended with status {process.returncode}: {said}")
    return subprocess.CompletedProcess(command, process.returncode, out, err)


@contextmanager
def scratch() -> Iterator[Path]:
    """Makes a temporary folder, and removes it at the end."""
    with tempfile.TemporaryDirectory(prefix="nuice-bench-") as name:
        yield Path(name)


def objects(text: str) -> list[dict[str, Any]]:
    """Returns the JSON objects among the lines."""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]

# SPDX-License-Identifier: BSD-3-Clause
"""The "run" entry of every row: the commit, the date, the machine, and the load before and after."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from .process import ROOT


def commit() -> str:
    """Returns the commit as `git describe` names it, with -dirty if files have changed; "" outside a
    clone."""
    words = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12"]
    return subprocess.run(words, capture_output=True, text=True).stdout.strip() if shutil.which("git") else ""


def machine() -> dict[str, Any]:
    known = Path("/proc/cpuinfo")
    models = re.findall(r"model name\s*: (.*)", known.read_text()) if known.exists() else []
    processor = models[0] if models else platform.machine()
    return {"processor": processor, "cores": os.cpu_count(), "system": platform.platform()}


def stamped(case: str, rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Adds "run" to each row. The loads are the one-minute averages before and after its measurement."""
    constant = {"case": case, "commit": commit(), "machine": machine()}
    before = os.getloadavg()[0]
    for row in rows:
        after = os.getloadavg()[0]
        date = datetime.now(timezone.utc).isoformat(timespec="seconds")
        yield row | {"run": constant | {"date": date, "load_before": before, "load_after": after}}
        before = os.getloadavg()[0]

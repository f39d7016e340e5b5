# SPDX-License-Identifier: BSD-3-Clause
"""The benches that need no MPI, in a small form: they run, and print one JSON object per line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import nuice

BENCH = Path(__file__).parents[2] / "lab" / "bench"


def test_bytes_measures_every_one_port_scheduler() -> None:
    command = [sys.executable, str(BENCH / "bytes.py"), "--quick", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    figures = [json.loads(line) for line in done.stdout.splitlines()]
    one_port = {s.name for s in nuice.schedulers() if "one_port" in s.guarantees and not s.needs_topology}
    for case in {f["case"] for f in figures}:
        rows = {f["scheduler"]: f for f in figures if f["case"] == case}
        assert set(rows) == one_port
        assert rows["birkhoff"]["bytes_to_bound"] == 1
        assert rows["coloring_by_size"]["phases_to_max_degree"] == 1
        assert min(f["bytes_to_bound"] for f in rows.values()) >= 1

# SPDX-License-Identifier: BSD-3-Clause
"""nuice convergence: which method carried out which exchange."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path


def record(method: str, times: list[float], by: list[str] | None, best: str | None) -> dict:
    return {
        "method": method,
        "ranks": 4,
        "refused": None,
        "exchange_seconds_all": times,
        "exchange_seconds_median": sorted(times)[len(times) // 2],
        "exchange_methods_all": by,
        "best_mpi": best,
        "learnt": {"executor": "phased", "methods": [{"name": "coloring:phased", "is_in": True}]}
        if by
        else None,
    }


def run(folder: Path, *words: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(["nuice", "convergence", *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done


def test_runs_of_methods(tmp_path: Path) -> None:
    by = ["coloring:phased", "coloring:phased", "coloring:async", "coloring:phased"]
    lines = [
        record("auto", [0.3, 0.2, 0.5, 0.1], by, "alltoallv"),
        record("alltoallv", [0.4, 0.4, 0.4, 0.4], None, "alltoallv"),
    ]
    (tmp_path / "b.json").write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = json.loads(run(tmp_path, "b.json", "--json", "--plot", "b.png").stdout)
    found = [(r["method"], r["first"], r["last"], r["max_seconds"]) for r in result["runs"]]
    assert found == [
        ("coloring:phased", 1, 2, 0.3),
        ("coloring:async", 3, 3, 0.5),
        ("coloring:phased", 4, 4, 0.1),
    ]
    assert (result["best_mpi"], result["best_mpi_seconds"]) == ("alltoallv", 0.4)
    assert (tmp_path / "b.png").stat().st_size > 1000
    assert "1 to 2" in run(tmp_path, "b.json").stdout


def test_bad_input_is_named(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text(json.dumps(record("nbx", [0.1], None, None)) + "\n")
    assert "no method auto; there are: nbx" in run(tmp_path, "b.json", status=2).stderr
    (tmp_path / "empty.json").write_text("")
    assert "no record of nuice-bench" in run(tmp_path, "empty.json", status=2).stderr
    (tmp_path / "torn.json").write_text('{"method": "au')
    assert "torn.json:1: no JSON" in run(tmp_path, "torn.json", status=2).stderr

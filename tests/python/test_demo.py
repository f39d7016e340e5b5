# SPDX-License-Identifier: BSD-3-Clause
"""The demo in a small form, and how it answers when a program that it needs is missing or fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import nuice
from nuice.cli import bench

PICTURES = ("mesh.png", "matrix.png", "phases.png", "compare.png", "times.png")


def missing_programs() -> str:
    missing = []
    for name in ("mpiexec", "nuice-bench"):
        try:
            bench.find_program(name)
        except nuice.Error:
            missing.append(name)
    return " and ".join(missing)


@pytest.mark.slow
@pytest.mark.skipif(bool(missing_programs()), reason=f"not installed: {missing_programs()}")
def test_the_demo_runs_and_leaves_what_it_says(nuice_command, tmp_path: Path) -> None:
    words = ["demo", "--points", "600", "--parts", "4", "--reps", "3", "--out", "pictures"]
    done = nuice_command(*words, "--json", timeout_s=240)
    assert done.status == 0, done.err
    result = done.json()
    assert result["verified"] is True
    assert result == json.loads((tmp_path / "pictures/summary.json").read_text())
    assert {m["method"] for m in result["methods"]} >= {
        "ac",
        "lp",
        "rs_n",
        "coloring",
        "alltoallv",
        "neighbor",
    }
    for method in result["methods"]:
        assert 0 < method["exchange_seconds_min"] <= method["exchange_seconds_median"]
    assert all((tmp_path / "pictures" / name).stat().st_size > 10_000 for name in PICTURES)
    assert set(result["files"]) >= {*PICTURES, "airfoil.mtx", "coloring.plan"}
    assert "every byte" in done.err  # progress is on stderr
    matrix = nuice.load_matrix_market(tmp_path / "pictures/airfoil.mtx")
    assert nuice.load_plan(tmp_path / "pictures/coloring.plan", matrix).verified


def test_a_missing_program_is_named_with_what_to_do() -> None:
    with pytest.raises(nuice.Error, match="no-such-program.*make build"):
        bench.find_program("no-such-program")


def test_a_failing_run_is_reported_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "fails"
    program.write_text("#!/bin/sh\necho out of luck >&2\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setattr(bench, "find_program", lambda name: str(program))
    with pytest.raises(nuice.Error, match="status 3: out of luck") as caught:
        bench.run_bench(2, tmp_path / "a.mtx", ["ac"], 1)
    assert caught.value.code == "mpi"


def test_a_run_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "hangs"
    program.write_text("#!/bin/sh\nsleep 600\n")
    program.chmod(0o755)
    monkeypatch.setattr(bench, "find_program", lambda name: str(program))
    monkeypatch.setattr(bench, "TIME_LIMIT_S", 0.2)
    with pytest.raises(nuice.Error, match=r"did not end within 0.2 s"):
        bench.run_bench(2, tmp_path / "a.mtx", ["ac"], 1)

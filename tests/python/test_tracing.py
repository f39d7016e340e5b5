# SPDX-License-Identifier: BSD-3-Clause
"""Traces: what ranks wrote becomes one picture of the exchange, and which rank waited for which."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import nuice
from nuice import tracing
from nuice.cli import bench
from nuice.tracing import LANDED, NOTE, OVER, SENT, START, STEP, WAIT
from test_demo import missing_programs

needs_mpi = pytest.mark.skipif(bool(missing_programs()), reason=f"not installed: {missing_programs()}")


def write(folder: Path, rank: int, notes: list, /, offset_s: float = 0.0, **more) -> Path:
    body = np.array(notes, dtype=NOTE).tobytes()
    header = {"nuice_trace": 2, "key": 7, "rank": rank, "ranks": 2, "scheduler": "coloring"}
    header |= {"executor": "phased", "phases": 1, "entries": [[0, 1 - rank, 100, 1 - rank, 100]]}
    header |= {"offset_s": offset_s, "clock_error_s": 1e-6, "notes": len(notes), "kept": len(notes), **more}
    path = folder / f"7-rank-{rank}.trace"
    path.write_bytes(json.dumps(header).encode() + b"\n" + body)
    return path


def two_ranks(folder: Path) -> None:
    """Rank 1's clock is 5 s behind; it begins 1 s late, so rank 0 waits for its message until second 3."""
    write(
        folder,
        0,
        [
            *[(0, START, -1, 0), (0, SENT, 1, 100), (0.5, WAIT, -1, 0), (3, LANDED, 1, 0)],
            *[(3, STEP, -1, 1), (3.25, OVER, -1, 0)],
        ],
    )
    late = [(-4, START, -1, 0), (-4, SENT, 0, 100), (-4, WAIT, -1, 0)]
    write(folder, 1, [*late, (-2.5, LANDED, 0, 0), (-2, OVER, -1, 0)], offset_s=5.0)


def test_clocks_are_merged_and_waits_have_a_name(tmp_path: Path) -> None:
    two_ranks(tmp_path)
    (exchange,) = tracing.load(tmp_path)
    (run,) = exchange.runs
    assert run.complete
    assert run.seconds == pytest.approx(3.25)
    assert [(t.src, t.dst, t.begin_s, t.end_s, t.bytes) for t in run.transfers()] == [
        (0, 1, 0, 2.5, 100),
        (1, 0, 1, 3, 100),
    ]
    waits = {(w.rank, w.waits_for, w.what): w.end_s - w.begin_s for w in run.waits()}
    assert waits == {
        (0, 1, "message"): pytest.approx(2.5),
        (0, 1, "send"): pytest.approx(0.25),
        (1, 0, "message"): pytest.approx(1.5),
        (1, 0, "send"): pytest.approx(0.5),
    }
    first = exchange.waited(run)[0]
    assert (first["rank"], first["waits_for"], first["seconds"]) == (0, 1, pytest.approx(2.75))
    assert exchange.matrix().entries()[2].tolist() == [100, 100]


def test_what_a_full_ring_has_lost_is_counted_and_the_latest_runs_stay(tmp_path: Path) -> None:
    run = [(0, START, -1, 0), (1, OVER, -1, 0)]
    later = [(5, START, -1, 0), (7, OVER, -1, 0)]
    write(tmp_path, 0, run + later)
    write(tmp_path, 1, later, notes=4)
    (exchange,) = tracing.load(tmp_path)
    (only,) = exchange.runs
    assert exchange.lost_notes == 2
    assert only.seconds == pytest.approx(2)


def test_files_that_are_none_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(nuice.Error, match="NUICE_TRACE="):
        tracing.load(tmp_path)
    path = write(tmp_path, 0, [(0, START, -1, 0)])
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(nuice.Error, match="1 notes announced, 23 bytes"):
        tracing.load(tmp_path)
    path.write_bytes(b"\x00\xff nonsense")
    with pytest.raises(nuice.Error, match=r"7-rank-0.trace: not a trace"):
        tracing.load(tmp_path)


def check_trace_events(events: dict) -> None:
    """The Trace Event Format (Google, 2016): what ui.perfetto.dev needs of complete and metadata events."""
    assert set(events) == {"traceEvents", "displayTimeUnit"}
    assert events["displayTimeUnit"] in ("ms", "ns")
    for event in events["traceEvents"]:
        assert isinstance(event["name"], str)
        assert isinstance(event["pid"], int)
        assert isinstance(event["args"], dict)
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "thread_name")
            assert isinstance(event["args"]["name"], str)
        else:
            assert event["ph"] == "X"
            assert isinstance(event["tid"], int)
            assert isinstance(event["cat"], str)
            assert event["ts"] >= -1
            assert event["dur"] >= 0


def test_the_command_tells_draws_and_exports(nuice_command, tmp_path: Path) -> None:
    two_ranks(tmp_path)
    done = nuice_command("trace", str(tmp_path), "-o", "t.json", "--plot", "t.png", "--json")
    assert done.status == 0, done.err
    result = done.json()
    assert result["run"] == {"seconds": pytest.approx(3.25), "complete": True, "transfers": 2}
    assert result["waited"][0]["waits_for"] == 1
    events = json.loads((tmp_path / "t.json").read_text())
    check_trace_events(events)
    assert sum(e["ph"] == "X" for e in events["traceEvents"]) == 2 * 2 + 4
    assert (tmp_path / "t.png").stat().st_size > 10_000
    text = nuice_command("trace", str(tmp_path))
    assert "waited for" in text.out
    assert nuice_command("trace", str(tmp_path), "--run", "1").status == 2


@needs_mpi
@pytest.mark.slow
@pytest.mark.parametrize("executor", ["async", "phased", "pairwise", "depend"])
def test_every_executor_is_seen(executor: str, tmp_path: Path) -> None:
    matrix = nuice.random_regular(4, 2, unit_bytes=40_000, seed=3)
    nuice.save_matrix_market(tmp_path / "m.mtx", matrix)
    command = [
        bench.find_program("mpiexec"),
        "-n",
        "4",
        bench.find_program("nuice-bench"),
        "--matrix",
        "m.mtx",
    ]
    command += ["--schedulers", f"coloring:{executor}", "--reps", "4", "--warmup", "1"]
    command += ["--hosts", "1"]  # each rank a port of its own
    environment = {**bench.environment(), "NUICE_TRACE": str(tmp_path / "t")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    (exchange,) = tracing.load(tmp_path / "t")
    assert (exchange.scheduler, exchange.executor, exchange.num_ranks) == ("coloring", executor, 4)
    assert exchange.matrix().entries()[2].tolist() == matrix.entries()[2].tolist()
    assert len(exchange.runs) == 5
    for run in exchange.runs:
        assert run.complete
        pairs = {(t.src, t.dst) for t in run.transfers()}
        assert pairs == set(zip(*(column.tolist() for column in matrix.entries()[:2]), strict=True))
        slack_s = 2 * exchange.clock_error_s
        assert all(
            -slack_s <= t.begin_s <= t.end_s + slack_s <= run.seconds + 2 * slack_s for t in run.transfers()
        )
        for rank in range(4):
            assert sum(w.end_s - w.begin_s for w in run.waits() if w.rank == rank) <= run.seconds
    assert os.listdir(tmp_path / "t") == [p for p in os.listdir(tmp_path / "t") if p.endswith(".trace")]

# SPDX-License-Identifier: BSD-3-Clause
"""Schedules in GOAL: what one rank sends another receives, and phases are waited for."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

import nuice
from nuice.goal import goal_text

OPERATION = re.compile(r"l(\d+): (send|recv) (\d+)b (?:to|from) (\d+) tag (\d+)")
REQUIRES = re.compile(r"l(\d+) requires l(\d+)")


def read(text: str):
    """Operations by rank and label, and what they require."""
    lines = text.splitlines()
    num_ranks = int(lines[0].removeprefix("num_ranks "))
    operations: dict[tuple[int, int], tuple[str, int, int, int]] = {}
    requires: list[tuple[int, int, int]] = []
    rank = -1
    for line in lines[1:]:
        if match := re.fullmatch(r"rank (\d+) {", line):
            assert int(match[1]) == rank + 1
            rank += 1
        elif match := OPERATION.fullmatch(line):
            operations[rank, int(match[1])] = (match[2], int(match[3]), int(match[4]), int(match[5]))
        elif match := REQUIRES.fullmatch(line):
            requires.append((rank, int(match[1]), int(match[2])))
        else:
            assert line in ("", "}"), line
    assert rank == num_ranks - 1
    return operations, requires


@pytest.mark.parametrize("scheduler", ["ac", "coloring", "rs_n", "bruck"])
def test_what_is_sent_is_received_and_phases_are_waited_for(scheduler: str) -> None:
    matrix = nuice.random_density(9, 0.6, unit_bytes=100, max_units=5, seed=2)
    plan = nuice.plan(matrix, scheduler)
    operations, requires = read(goal_text(plan.schedule, matrix.num_ranks))
    sent = Counter(
        (rank, peer, n, tag) for (rank, _), (what, n, peer, tag) in operations.items() if what == "send"
    )
    got = Counter(
        (peer, rank, n, tag) for (rank, _), (what, n, peer, tag) in operations.items() if what == "recv"
    )
    assert sent == got
    assert sum(sent.values()) == plan.schedule.num_transfers
    phases = {}
    for (rank, _), (_, _, _, tag) in operations.items():
        phases.setdefault(rank, set()).add(tag)
    for rank, label, before in requires:
        busy = sorted(phases[rank])
        tag, tag_before = operations[rank, label][3], operations[rank, before][3]
        assert busy.index(tag) == busy.index(tag_before) + 1
    waiting = {(rank, label) for rank, label, _ in requires}
    assert all(
        (place in waiting) == (tag != min(phases[place[0]])) for place, (_, _, _, tag) in operations.items()
    )


def test_async_waits_for_nothing_and_others_are_refused() -> None:
    matrix = nuice.random_density(5, 0.6, seed=2)
    plan = nuice.plan(matrix, "coloring")
    assert "requires" not in goal_text(plan.schedule, 5, "async")
    with pytest.raises(
        nuice.Error, match="cannot say what the executor depend waits for; it can for async, phased"
    ):
        goal_text(plan.schedule, 5, "depend")


def test_the_command(tmp_path: Path) -> None:
    nuice.save_matrix_market(tmp_path / "m.mtx", nuice.random_density(6, 0.5, unit_bytes=64, seed=3))
    command = ["nuice", "export", "goal", "m.mtx", "-o", "m.goal", "--scheduler", "coloring", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    record = json.loads(done.stdout)
    operations, _ = read((tmp_path / "m.goal").read_text())
    assert len(operations) == 2 * record["transfers"]


@pytest.mark.skipif(shutil.which("txt2bin") is None, reason="LogGOPSim's txt2bin is not there")
def test_its_own_reader_takes_it(tmp_path: Path) -> None:
    matrix = nuice.random_density(6, 0.5, unit_bytes=64, seed=3)
    (tmp_path / "m.goal").write_text(goal_text(nuice.plan(matrix, "coloring").schedule, 6))
    subprocess.run(["txt2bin", "-i", "m.goal", "-o", "m.bin"], cwd=tmp_path, check=True, capture_output=True)

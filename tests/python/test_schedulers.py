# SPDX-License-Identifier: BSD-3-Clause
"""The table of schedulers from Python. tests/unit/law_test.cpp has the laws that all of them keep."""

from __future__ import annotations

from pathlib import Path

import pytest

import nuice
from matrices import MATRIX, phases_of, plan_with

ROWS = nuice.schedulers()


def expect_slices_of(plan: nuice.Plan) -> None:
    pieces = sorted(
        (phase, t.src, t.dst, p.offset, p.bytes)
        for phase, transfers in enumerate(phases_of(plan.schedule))
        for t in transfers
        for p in t.pieces
    )
    sends, receives = [], []
    for table in plan.tables:
        for e in table.entries:
            if e.send_partner != nuice.NO_RANK:
                sends.append((e.phase, table.rank, e.send_partner, e.send_offset, e.send_bytes))
            if e.recv_partner != nuice.NO_RANK:
                receives.append((e.phase, e.recv_partner, table.rank, e.recv_offset, e.recv_bytes))
    assert sorted(sends) == sorted(receives) == pieces


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_scheduler_and_its_plans_in_files(row, tmp_path: Path) -> None:
    seed = 2**64 - 1
    plan = plan_with(row.name, MATRIX, seed)
    assert (plan.violation, plan.guarantees) == (None, tuple(row.guarantees))
    plan.save(tmp_path / "a.plan")
    again = nuice.load_plan(tmp_path / "a.plan", MATRIX)
    assert again.schedule == plan.schedule
    assert (again.scheduler, again.seed, again.guarantees) == (row.name, seed, plan.guarantees)
    assert again.verified
    if "direct" in row.guarantees:
        expect_slices_of(plan)


@pytest.mark.parametrize("name", [row.name for row in ROWS if row.randomized])
def test_the_seed_matters_where_the_table_says_so(name: str) -> None:
    matrix = nuice.random_regular(16, 6, seed=3)
    made = [plan_with(name, matrix, seed).schedule for seed in range(8)]
    assert any(schedule != made[0] for schedule in made)


def test_a_scheduler_that_cannot_handle_a_matrix_says_why() -> None:
    matrix = nuice.random_regular(8, 3, seed=1)
    with pytest.raises(nuice.Error, match="kpbs: the cost of a phase") as caught:
        nuice.plan(matrix, "kpbs", phase_cost_bytes=-1)
    assert caught.value.code == "not_applicable"
    reason = "more than 2^31 messages"  # as why_not() would say of a matrix too large for a test
    comparison = nuice.Comparison("kpbs", None, reason)
    assert comparison.figures() == {"scheduler": "kpbs", "applicable": False, "reason": reason}


def test_an_unknown_scheduler_is_answered_with_the_known_ones() -> None:
    with pytest.raises(nuice.Error) as caught:
        nuice.plan(nuice.random_regular(4, 1), "rsn")
    assert caught.value.code == "invalid_argument"
    assert all(row.name in str(caught.value) for row in ROWS)


def test_compare_covers_the_table_in_its_order() -> None:
    comparisons = nuice.compare(nuice.random_regular(12, 4, seed=1), seed=5, repeat=2, topology="fattree:4x4")
    assert [c.scheduler for c in comparisons] == [row.name for row in ROWS]
    assert all(c.plan is not None and c.plan.verified and c.plan.seed == 5 for c in comparisons)
    assert all(c.plan.plan_seconds > 0 for c in comparisons if c.plan)

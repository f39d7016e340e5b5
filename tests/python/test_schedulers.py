# SPDX-License-Identifier: BSD-3-Clause
"""Laws that every row of the scheduler table keeps, on matrices that hypothesis finds.

tests/unit/law_test.cpp has all laws, on matrices of its own.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nuice
from matrices import entry_lists, phases_of, plan_with

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
@given(entries=entry_lists(), seed=st.integers(0, 2**64 - 1), data=st.data())
def test_every_law(row, entries: tuple, seed: int, data: st.DataObject) -> None:
    num_ranks, messages = entries
    matrix = nuice.CommMatrix.from_messages(num_ranks, messages)
    plan = plan_with(row.name, matrix, seed)
    assert plan.violation is None
    assert plan.guarantees == tuple(row.guarantees)
    if "one_port" in plan.guarantees:
        # A forwarded transfer may carry several messages of a rank at once.
        assert plan.phases >= plan.bounds.max_degree or "direct" not in plan.guarantees
        assert plan.phase_bytes >= plan.bounds.max_port_bytes
        assert all(nuice.find_node_contention(plan.schedule, p) is None for p in range(plan.phases))
    if "fewest_phases" in plan.guarantees:
        assert plan.phases == plan.bounds.max_degree
    shuffled = nuice.CommMatrix.from_messages(num_ranks, data.draw(st.permutations(messages)))
    assert shuffled == matrix
    assert plan_with(row.name, shuffled, seed if row.randomized else 0).schedule == plan.schedule
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

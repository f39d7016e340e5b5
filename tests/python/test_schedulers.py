# SPDX-License-Identifier: BSD-3-Clause
"""Laws that every row of the scheduler table keeps, whatever the matrix."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nuice
from matrices import comm_matrices, delivers_all, entry_lists, phases_of, plan_with

ROWS = nuice.schedulers()
every_scheduler = pytest.mark.parametrize("name", [row.name for row in ROWS])
seeds = st.integers(0, 2**64 - 1)


def test_the_table_has_the_papers_algorithms_and_each_name_once() -> None:
    names = [row.name for row in ROWS]
    assert {"ac", "lp", "gm", "cgm", "rs_n", "coloring"} <= set(names)
    assert len(set(names)) == len(names)
    assert all(row.summary and row.source for row in ROWS)


@every_scheduler
@given(matrix=comm_matrices(), seed=seeds)
def test_delivers_every_byte_once_and_keeps_its_guarantees(
    name: str, matrix: nuice.CommMatrix, seed: int
) -> None:
    plan = plan_with(name, matrix, seed)
    assert plan.violation is None
    assert plan.guarantees == tuple(nuice.find_scheduler(name).guarantees)


@every_scheduler
@given(matrix=comm_matrices(max_ranks=7, max_bytes=5), seed=seeds)
def test_every_byte_arrives_when_followed_one_by_one(name: str, matrix: nuice.CommMatrix, seed: int) -> None:
    assert delivers_all(matrix, phases_of(plan_with(name, matrix, seed).schedule))


@every_scheduler
@given(matrix=comm_matrices(), seed=seeds)
def test_keeps_the_lower_bounds(name: str, matrix: nuice.CommMatrix, seed: int) -> None:
    plan = plan_with(name, matrix, seed)
    if "one_port" in plan.guarantees:
        # A forwarded transfer may carry several messages of a rank at once.
        assert plan.phases >= plan.bounds.max_degree or "direct" not in plan.guarantees
        assert plan.phase_bytes >= plan.bounds.max_port_bytes
        assert all(nuice.find_node_contention(plan.schedule, p) is None for p in range(plan.phases))
    if "fewest_phases" in plan.guarantees:
        assert plan.phases == plan.bounds.max_degree


@given(matrix=comm_matrices(), seed=seeds)
def test_coloring_needs_exactly_max_degree_phases(matrix: nuice.CommMatrix, seed: int) -> None:
    degrees = [len(matrix.sent_by(r)) for r in range(matrix.num_ranks)]
    degrees += [len(matrix.received_by(r)) for r in range(matrix.num_ranks)]
    assert nuice.plan(matrix, "coloring", seed).phases == max(degrees)


@every_scheduler
@given(matrix=comm_matrices(), seed=seeds)
def test_the_same_seed_gives_the_same_file(
    name: str, matrix: nuice.CommMatrix, seed: int, tmp_path: Path
) -> None:
    plan_with(name, matrix, seed).save(tmp_path / "a")
    plan_with(name, matrix, seed).save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("name", [row.name for row in ROWS if row.randomized])
def test_the_seed_matters_where_the_table_says_so(name: str) -> None:
    matrix = nuice.random_regular(16, 6, seed=3)
    assert (
        len({tuple(map(tuple, plan_with(name, matrix, s).schedule.transfer_table())) for s in range(8)}) > 1
    )


@pytest.mark.parametrize("name", [row.name for row in ROWS if not row.randomized])
@given(matrix=comm_matrices(), seed=seeds)
def test_the_seed_does_not_matter_elsewhere(name: str, matrix: nuice.CommMatrix, seed: int) -> None:
    assert plan_with(name, matrix, seed).schedule == plan_with(name, matrix, 0).schedule


@every_scheduler
@given(entries=entry_lists(), seed=seeds, data=st.data())
def test_the_order_of_entries_does_not_matter(
    name: str, entries: tuple, seed: int, data: st.DataObject
) -> None:
    num_ranks, messages = entries
    shuffled = data.draw(st.permutations(messages))
    matrices = [nuice.CommMatrix.from_messages(num_ranks, m) for m in (messages, shuffled)]
    assert matrices[0] == matrices[1]
    assert plan_with(name, matrices[0], seed).schedule == plan_with(name, matrices[1], seed).schedule


@pytest.mark.parametrize("name", [row.name for row in ROWS if "direct" in row.guarantees])
@given(matrix=comm_matrices(), seed=seeds)
def test_slices_reassemble_to_the_schedule(name: str, matrix: nuice.CommMatrix, seed: int) -> None:
    plan = plan_with(name, matrix, seed)
    pieces = sorted(
        (phase, t.src, t.dst, p.offset, p.bytes)
        for phase, transfers in enumerate(phases_of(plan.schedule))
        for t in transfers
        for p in t.pieces
    )
    sends, receives = [], []
    for table in plan.tables:
        assert table == nuice.slice(matrix, plan.schedule, table.rank)
        for e in table.entries:
            if e.send_partner != nuice.NO_RANK:
                sends.append((e.phase, table.rank, e.send_partner, e.send_offset, e.send_bytes))
            if e.recv_partner != nuice.NO_RANK:
                receives.append((e.phase, e.recv_partner, table.rank, e.recv_offset, e.recv_bytes))
    assert sorted(sends) == pieces
    assert sorted(receives) == pieces


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

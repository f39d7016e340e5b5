# SPDX-License-Identifier: BSD-3-Clause
"""Schedules that follow a changing matrix: any series of batches, against the full checker."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nuice
from matrices import comm_matrices

CHANGE = st.tuples(st.integers(0, 99), st.integers(0, 99), st.sampled_from([0, 0, 0, 1, 50]))
BATCHES = st.lists(st.lists(CHANGE, max_size=20), max_size=8)


def entries_of(matrix: nuice.CommMatrix) -> dict[tuple[int, int], int]:
    src, dst, size = matrix.entries()
    return {(int(s), int(d)): int(b) for s, d, b in zip(src, dst, size, strict=True)}


def require_right(live: nuice.DynamicSchedule, entries: dict[tuple[int, int], int]) -> None:
    matrix = live.matrix()
    expected = [(s, d, b) for (s, d), b in entries.items()]
    assert matrix == nuice.CommMatrix.from_messages(live.num_ranks, expected)
    schedule = live.schedule(matrix)
    fewest = ["fewest_phases"] if live.phases_above_max_degree == 0 else []
    assert nuice.check(matrix, schedule, ["direct", "one_port", *fewest]) is None
    assert live.check_changes() is None
    assert live.max_degree == nuice.lower_bounds(matrix).max_degree
    assert schedule.num_phases == live.num_phases
    assert (
        live.num_phases - live.max_degree == live.phases_above_max_degree
        or live.num_phases <= live.max_degree
    )
    assert [live.table(rank) for rank in range(live.num_ranks)] == nuice.slice_all(matrix, schedule)


@given(comm_matrices(), BATCHES, st.sampled_from(["coloring", "rs_n", "gs"]))
def test_any_series_of_batches_checks_clean(matrix, batches, scheduler) -> None:
    ranks = matrix.num_ranks
    live = nuice.plan(matrix, scheduler).dynamic()
    entries = entries_of(matrix)
    for batch in batches:
        changes = {(s % ranks, d % ranks): b for s, d, b in batch}
        update = live.apply([(s, d, b) for (s, d), b in changes.items()])
        before = {pair for pair, size in entries.items() if size > 0 and pair[0] != pair[1]}
        entries |= changes
        after = {pair for pair, size in entries.items() if size > 0 and pair[0] != pair[1]}
        assert (update.added, update.removed) == (len(after - before), len(before - after))
        require_right(live, entries)
    live.compact()
    assert live.phases_above_max_degree == 0
    require_right(live, entries)


@given(
    comm_matrices(),
    st.lists(CHANGE, max_size=5),
    st.sampled_from([(0, 100, 1), (-1, 0, 1), (0, 0, -1), (0, 0, nuice.MAX_BYTES + 1), "twice", "sum"]),
)
def test_a_bad_batch_changes_nothing(matrix, good, bad) -> None:
    ranks = matrix.num_ranks
    plan = nuice.plan(matrix, "coloring")
    live = plan.dynamic()
    changes = [(s, d, b) for (s, d), b in {(s % ranks, d % ranks): b for s, d, b in good}.items()]
    if bad == "twice":
        changes += [(0, 0, 1), (0, 0, 1)]
    elif bad == "sum":
        huge = {(s, d): b for s, d, b in changes} | {(0, 0): nuice.MAX_BYTES, (ranks - 1, 0): 1}
        if ranks == 1:
            return  # one entry only: no sum
        changes = [(s, d, b) for (s, d), b in huge.items()]
    else:
        changes.append(bad)
    with pytest.raises(nuice.Error) as error:
        live.apply(changes)
    assert error.value.code in ("invalid_argument", "limit")
    assert "\n" not in str(error.value)
    assert live.matrix() == matrix
    assert live.schedule(matrix) == plan.schedule


def test_arrays_are_as_good_as_lists() -> None:
    plan = nuice.plan(nuice.random_regular(20, 6, seed=1), "coloring")
    changes = [(0, 1, 5), (3, 3, 7), (4, 5, 0), (19, 2, 1 << 40)]
    one, other = plan.dynamic(), plan.dynamic()
    columns = [np.array(column, np.int64) for column in zip(*changes, strict=True)]
    assert one.apply(changes) == other.apply_arrays(*columns)
    matrix = one.matrix()
    assert one.schedule(matrix) == other.schedule(matrix)
    with pytest.raises(nuice.Error, match="3, 4 and 4 entries"):
        one.apply_arrays(columns[0][:3], *columns[1:])
    with pytest.raises(TypeError):
        one.apply([(0, 1, 2.5)])
    with pytest.raises(nuice.Error, match="32 bits"):
        one.apply_arrays(columns[0] + (1 << 40), *columns[1:])
    assert one.set(0, 1, 5) == other.apply([])
    assert "20 ranks" in repr(one)


def test_plans_that_cannot_be_updated_say_why() -> None:
    matrix = nuice.random_regular(8, 3, unit_bytes=100, max_units=9, seed=1)
    for scheduler in ("ac", "birkhoff", "rex"):
        with pytest.raises(nuice.Error) as error:
            nuice.plan(matrix, scheduler).dynamic()
        assert error.value.code == "not_applicable"
    live = nuice.plan(matrix, "coloring").dynamic()
    with pytest.raises(nuice.Error, match="9 ranks.*8"):
        live.schedule(nuice.random_regular(9, 2, seed=1))
    with pytest.raises(nuice.Error, match="rank 8"):
        live.table(8)

# SPDX-License-Identifier: BSD-3-Clause
"""Plans that follow a changing matrix."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nuice
from matrices import comm_matrices

CHANGES = st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99), st.integers(0, 50)), max_size=30)


@given(comm_matrices(), CHANGES)
def test_an_updated_plan_needs_the_new_maximum_degree(matrix, changes) -> None:
    ranks = matrix.num_ranks
    src, dst, size = matrix.entries()
    entries = {(int(s), int(d)): int(b) for s, d, b in zip(src, dst, size, strict=True)}
    if ranks > 0:
        entries |= {(s % ranks, d % ranks): b for s, d, b in changes}
    changed = nuice.CommMatrix.from_messages(ranks, [(s, d, b) for (s, d), b in entries.items()])
    updated = nuice.plan(matrix, "coloring").updated(changed)
    assert updated.verified, updated.violation.text
    assert updated.phases == nuice.lower_bounds(changed).max_degree


def test_nothing_changed_nothing_moved() -> None:
    plan = nuice.plan(nuice.random_regular(20, 6, seed=1), "coloring")
    assert plan.updated(plan.matrix).schedule == plan.schedule


def test_plans_that_cannot_be_updated_say_why() -> None:
    matrix = nuice.random_regular(8, 3, unit_bytes=100, max_units=9, seed=1)
    for scheduler in ("ac", "birkhoff", "rex"):
        with pytest.raises(nuice.Error) as error:
            nuice.plan(matrix, scheduler).updated(matrix)
        assert error.value.code == "not_applicable"
    with pytest.raises(nuice.Error, match="8 ranks.*9"):
        nuice.plan(matrix, "coloring").updated(nuice.random_regular(9, 2, seed=1))

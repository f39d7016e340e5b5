# SPDX-License-Identifier: BSD-3-Clause
"""The checker against the byte-by-byte oracle, on schedules that are right, broken, split or forwarded."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import nuice
from matrices import comm_matrices, delivers_all, phases_of, plan_with
from nuice import Piece, Transfer


@st.composite
def changed_schedules(draw: st.DrawFn) -> tuple[nuice.CommMatrix, list[list[Transfer]]]:
    """A small matrix and the phases of a schedule for it, after up to three changes of any kind."""
    matrix = draw(comm_matrices(max_ranks=5, max_bytes=4).filter(lambda m: m.num_messages > 0))
    name = draw(st.sampled_from([row.name for row in nuice.schedulers()]))
    phases = phases_of(plan_with(name, matrix, draw(st.integers(0, 100))).schedule)
    for _ in range(draw(st.integers(0, 3))):
        phases = draw(st.sampled_from((drop, repeat, redirect, shift, split, forward, reverse)))(
            draw, matrix, phases
        )
        phases = [phase for phase in phases if phase]
        if not phases:
            break
    return matrix, phases


def pick(draw: st.DrawFn, phases: list[list[Transfer]]) -> tuple[int, int, Transfer]:
    p = draw(st.integers(0, len(phases) - 1))
    t = draw(st.integers(0, len(phases[p]) - 1))
    return p, t, phases[p][t]


def put(phases: list[list[Transfer]], p: int, t: int, *instead: Transfer) -> list[list[Transfer]]:
    return [[*phase[:t], *instead, *phase[t + 1 :]] if i == p else phase for i, phase in enumerate(phases)]


def drop(draw, matrix, phases):
    p, t, _ = pick(draw, phases)
    return put(phases, p, t)


def repeat(draw, matrix, phases):
    _, _, transfer = pick(draw, phases)
    return [*phases, [transfer]]


def redirect(draw, matrix, phases):
    p, t, transfer = pick(draw, phases)
    return put(phases, p, t, Transfer(transfer.src, draw(st.integers(0, matrix.num_ranks)), transfer.pieces))


def shift(draw, matrix, phases):
    p, t, transfer = pick(draw, phases)
    first, *others = transfer.pieces
    moved = Piece(
        first.message, first.offset + draw(st.integers(-1, 1)), first.bytes + draw(st.integers(-1, 1))
    )
    return put(phases, p, t, Transfer(transfer.src, transfer.dst, [moved, *others]))


def split(draw, matrix, phases):
    """The second half of the first piece goes in a phase of its own."""
    p, t, transfer = pick(draw, phases)
    first, *others = transfer.pieces
    cut = first.bytes // 2
    if cut < 1:
        return phases
    head = Piece(first.message, first.offset, cut)
    tail = Piece(first.message, first.offset + cut, first.bytes - cut)
    changed = put(phases, p, t, Transfer(transfer.src, transfer.dst, [head, *others]))
    return [*changed, [Transfer(transfer.src, transfer.dst, [tail])]]


def forward(draw, matrix, phases):
    """Over a third rank, whose own sending comes in the same phase, the next, or at the end."""
    p, t, transfer = pick(draw, phases)
    third = draw(st.integers(0, matrix.num_ranks - 1))
    changed = put(phases, p, t, Transfer(transfer.src, third, transfer.pieces))
    second = Transfer(third, transfer.dst, transfer.pieces)
    where = draw(st.sampled_from((p, p + 1, len(phases))))
    if where == len(phases):
        return [*changed, [second]]
    return [[*phase, second] if i == where else phase for i, phase in enumerate(changed)]


def reverse(draw, matrix, phases):
    return phases[::-1]


@settings(max_examples=600)
@given(changed_schedules())
def test_checker_and_oracle_agree(case: tuple) -> None:
    matrix, phases = case
    violation = nuice.check(matrix, nuice.Schedule.from_phases(matrix.num_ranks, phases))
    assert (violation is None) == delivers_all(matrix, phases), violation


@given(changed_schedules())
def test_one_port_is_judged_by_counting(case: tuple) -> None:
    matrix, phases = case
    ranks = range(matrix.num_ranks)
    assume(all(t.src in ranks and t.dst in ranks and t.src != t.dst for phase in phases for t in phase))
    schedule = nuice.Schedule.from_phases(matrix.num_ranks, phases)
    for number, phase in enumerate(phases):
        clear = len({t.src for t in phase}) == len({t.dst for t in phase}) == len(phase)
        assert (nuice.find_node_contention(schedule, number) is None) == clear


def test_a_violation_names_phase_ranks_message_and_bytes() -> None:
    matrix = nuice.CommMatrix.from_messages(3, [(0, 1, 10), (1, 2, 4)])
    short = nuice.Schedule.from_phases(
        3, [[Transfer(0, 1, [Piece(0, 0, 7)]), Transfer(1, 2, [Piece(1, 0, 4)])]]
    )
    violation = nuice.check(matrix, short)
    assert violation is not None
    assert violation.kind == "not_delivered"
    assert (violation.message_src, violation.message_dst) == (0, 1)
    assert (violation.offset, violation.bytes) == (7, 3)
    assert "rank 0 -> rank 1" in violation.text
    assert "[7, 10)" in violation.text


def test_guarantees_are_known_by_name() -> None:
    matrix = nuice.CommMatrix.from_messages(3, [(0, 1, 1), (0, 2, 1)])
    both = nuice.Schedule.from_phases(
        3, [[Transfer(0, 1, [Piece(0, 0, 1)]), Transfer(0, 2, [Piece(1, 0, 1)])]]
    )
    assert nuice.check(matrix, both) is None
    violation = nuice.check(matrix, both, ["one_port"])
    assert violation is not None
    assert violation.kind == "two_sends"
    with pytest.raises(nuice.Error, match="two_port"):
        nuice.check(matrix, both, ["two_port"])

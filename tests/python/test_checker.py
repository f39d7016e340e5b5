# SPDX-License-Identifier: BSD-3-Clause
"""The checker from Python. tests/unit/check_fuzz_test.cpp has a second judge, which follows every byte."""

from __future__ import annotations

import pytest

import nuice
from nuice import Piece, Transfer


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

# SPDX-License-Identifier: BSD-3-Clause
"""The checker from Python. tests/unit/check_test.cpp has each kind of violation."""

from __future__ import annotations

import pytest

import nuice
from nuice import Piece, Transfer


def test_a_violation_names_phase_ranks_message_and_bytes() -> None:
    matrix = nuice.CommMatrix.from_messages(3, [(0, 1, 10), (0, 2, 4)])

    def with_bytes(first: int) -> nuice.Schedule:
        return nuice.Schedule.from_phases(
            3, [[Transfer(0, 1, [Piece(0, 0, first)]), Transfer(0, 2, [Piece(1, 0, 4)])]]
        )

    violation = nuice.check(matrix, with_bytes(7))
    assert violation is not None
    assert violation.kind == "not_delivered"
    assert (violation.message_src, violation.message_dst) == (0, 1)
    assert (violation.offset, violation.bytes) == (7, 3)
    assert "rank 0 -> rank 1: bytes [7, 10)" in violation.text
    assert nuice.check(matrix, with_bytes(10)) is None
    assert nuice.check(matrix, with_bytes(10), ["one_port"]).kind == "two_sends"
    with pytest.raises(nuice.Error, match="two_port"):
        nuice.check(matrix, with_bytes(10), ["two_port"])

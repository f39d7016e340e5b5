# SPDX-License-Identifier: BSD-3-Clause
"""The serial executor from Python: what arrives is what was sent."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import nuice
from matrices import comm_matrices, plan_with


def payload(src: int, dst: int, size: int) -> np.ndarray:
    """Bytes that tell source, destination and offset apart."""
    return ((np.arange(size) * 7 + src * 31 + dst * 101 + 1) % 251).astype(np.uint8)


def send_buffers(matrix: nuice.CommMatrix) -> list[dict[int, np.ndarray]]:
    buffers: list[dict[int, np.ndarray]] = [{} for _ in range(matrix.num_ranks)]
    for src, dst, size in zip(*(a.tolist() for a in matrix.entries()), strict=True):
        buffers[src][dst] = payload(src, dst, size)
    return buffers


@pytest.mark.parametrize("name", ["coloring", "rex"])
@given(matrix=comm_matrices(max_ranks=8, max_bytes=300))
def test_what_arrives_is_what_was_sent(name: str, matrix: nuice.CommMatrix) -> None:
    """tests/exchange/serial_test.cpp has all schedulers."""
    received = plan_with(name, matrix).exchange(send_buffers(matrix))
    expected = {
        (s, d): payload(s, d, b).tobytes() for s, d, b in zip(*map(list, matrix.entries()), strict=True)
    }
    assert {(s, d): data.tobytes() for d, got in enumerate(received) for s, data in got.items()} == expected


def test_bytes_and_other_buffers_can_be_sent() -> None:
    matrix = nuice.CommMatrix.from_messages(2, [(0, 1, 8), (1, 0, 3)])
    received = nuice.plan(matrix).exchange([{1: np.array([1.5])}, {0: b"abc"}])
    assert received[1][0].view(np.float64).tolist() == [1.5]
    assert received[0][1].tobytes() == b"abc"


def test_forwarded_messages_are_parts_of_a_phase_table() -> None:
    matrix = nuice.CommMatrix.from_messages(4, [(0, 3, 8), (0, 2, 4)])
    plan = nuice.plan(matrix, "rex")
    table = plan.tables[2]
    (entry,) = [e for e in table.entries if e.send_partner == 3]
    carried = [table.parts[i] for i in entry.send_parts]
    assert [(part.src, part.dst, part.offset, part.bytes) for part in carried] == [(0, 3, 0, 8)]
    assert table.staged_bytes == 8
    assert plan.exchange([{3: b"12345678", 2: b"abcd"}, {}, {}, {}])[3][0].tobytes() == b"12345678"


def test_wrong_buffers_are_named() -> None:
    plan = nuice.plan(nuice.CommMatrix.from_messages(2, [(0, 1, 8)]))
    with pytest.raises(nuice.Error, match="from rank 0 to rank 1 has 7 bytes"):
        plan.exchange([{1: bytes(7)}, {}])
    with pytest.raises(nuice.Error, match="no buffer from rank 0 to rank 1"):
        plan.exchange([{}, {}])
    with pytest.raises(nuice.Error, match="1 ranks"):
        plan.exchange([{1: bytes(8)}])


def test_a_receive_buffer_that_is_too_small_is_refused() -> None:
    plan = nuice.plan(nuice.CommMatrix.from_messages(2, [(0, 1, 8)]))
    send = [[np.zeros(8, np.uint8)], []]
    with pytest.raises(nuice.Error) as caught:
        nuice.exchange_serially(plan.tables, send, [[], [np.zeros(4, np.uint8)]])
    assert caught.value.code == "invalid_argument"

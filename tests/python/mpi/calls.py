# SPDX-License-Identifier: BSD-3-Clause
"""Tests of program.py: calls shaped like those of MPI."""

from __future__ import annotations

import numpy as np
from mpi4py import MPI
from ranks import comm, must_fail, rank, size

import nuice
import nuice.mpi


def test_persistent_calls_as_those_of_mpi4py() -> None:
    counts = np.array([(rank + 2 * dst) % 4 for dst in range(size)])
    receive_counts = [(src + 2 * rank) % 4 for src in range(size)]
    places = [5 * dst for dst in range(size)]
    send = np.arange(5.0 * size) + 100 * rank
    for fields in ([(counts, places)], [(counts, places), MPI.DOUBLE], [counts, places, "d"]):
        receive, expected = np.full(5 * size, -1.0), np.full(5 * size, -1.0)
        comm.Alltoallv([send, (counts, places)], [expected, (receive_counts, places)])
        x = nuice.mpi.Alltoallv_init(comm, [send, *fields], [receive, (receive_counts, places), MPI.DOUBLE])
        for step in range(3):
            receive[:] = -1
            x.Start()
            assert step == 0 or x.Wait()
            while step == 0 and not x.Test():
                pass
            assert np.array_equal(receive, expected)
        x.Free()


def test_persistent_calls_in_place_and_with_types() -> None:
    numbers = np.arange(1.0 * size) + 10 * rank
    x = nuice.mpi.Alltoallv_init(comm, MPI.IN_PLACE, [numbers, [1] * size], "coloring", executor="phased")
    x.Start()
    x.Wait()
    x.Free()
    assert np.array_equal(numbers, 10.0 * np.arange(size) + rank)
    send, receive = np.arange(2.0 * size) + 10 * rank, np.zeros(2 * size)
    ones, places = [1] * size, [16 * dst for dst in range(size)]
    side = (ones, places)
    x = nuice.mpi.Alltoallw_init(
        comm, [send, side, [MPI.DOUBLE] * size], [receive, ones, places, [MPI.DOUBLE] * size]
    )
    x.Start()
    x.Wait()
    x.Free()
    assert np.array_equal(receive[::2], 2.0 * rank + 10 * np.arange(size)) and not receive[1::2].any()


def test_messages_that_are_ready_one_by_one() -> None:
    ones, send, receive = [1] * size, np.zeros(size), np.zeros(size)
    x = nuice.mpi.Alltoallv_init(comm, [send, ones], [receive, ones], parts=True)
    must_fail(nuice.Error, "the exchange was not started", x.Ready, 0)
    for round_ in range(3):
        x.Start()
        for dst in reversed(range(size)):
            send[dst] = 10 * rank + dst + 100 * round_
            x.Ready(dst)
        while not x.Arrived(size - 1):
            pass
        assert receive[-1] == 10 * (size - 1) + rank + 100 * round_
        x.Wait()
        assert np.array_equal(receive, 10.0 * np.arange(size) + rank + 100 * round_)
    must_fail(nuice.Error, "there is no message", x.Arrived, size)
    x.Free()


def test_persistent_calls_with_neighbours() -> None:
    grid = comm.Create_cart([size], periods=[True])
    send, receive, expected = np.arange(4.0) + 10 * rank, np.zeros(4), np.zeros(4)
    grid.Neighbor_alltoallv([send, [2, 2]], [expected, [2, 2]])
    types = [MPI.DOUBLE, MPI.DOUBLE]
    for x in (
        nuice.mpi.Neighbor_alltoallv_init(grid, [send, [2, 2]], [receive, [2, 2]]),
        nuice.mpi.Neighbor_alltoallw_init(
            grid, [send, ([2, 2], [0, 16]), types], [receive, ([2, 2], [0, 16]), types]
        ),
    ):
        receive[:] = 0
        x.Start()
        x.Wait()
        x.Free()
        assert np.array_equal(receive, expected)
    grid.Free()


def test_messages_that_nobody_expects() -> None:
    for length in (1, 5, 20_000):
        sent = {(rank * 3 + k) % size: np.arange(length + rank) + k for k in range(min(2, size))}
        sent[rank] = np.empty(0)
        came = nuice.mpi.sparse_alltoallv(comm, sent, np.int64)
        expected = []
        for source in range(size):
            for k in range(min(2, size)):
                if (source * 3 + k) % size == rank and rank != source:
                    expected.append((source, np.arange(length + source) + k))
        assert [one for one, _ in came] == [one for one, _ in expected]
        assert all(np.array_equal(a, b) for (_, a), (_, b) in zip(came, expected, strict=True))
    wrong = {size: np.ones(1)} if rank == size - 1 else {}
    must_fail(nuice.Error, f"a message to rank {size} of {size}", nuice.mpi.sparse_alltoallv, comm, wrong)
    kind = TypeError if rank == 0 else nuice.Error
    must_fail(kind, "", nuice.mpi.sparse_alltoallv, comm, {0: "text"} if rank == 0 else {})


def test_several_at_once() -> None:
    ones, sends, receives = [1] * size, np.ones((3, size)) * rank, np.zeros((3, size))
    exchanges = [
        nuice.mpi.Alltoallv_init(comm, [s, ones], [r, ones]) for s, r in zip(sends, receives, strict=True)
    ]
    for way in range(3):
        receives[:] = -1
        for x in exchanges:
            x.Start()
        done: list[int | None] = []
        while way > 0 and len(done) < 3:
            done += [nuice.mpi.Waitany(exchanges)] if way == 1 else nuice.mpi.Testsome(exchanges)
        nuice.mpi.Waitall(exchanges)
        assert (receives == np.arange(size)).all() and sorted(done) == list(range(3))[: len(done)]
    assert nuice.mpi.Waitany(exchanges) is None
    for x in exchanges:
        x.Free()


def test_persistent_calls_with_wrong_arguments() -> None:
    memory, ones = np.zeros(size), [1] * size

    def make(counts: object) -> None:
        nuice.mpi.Alltoallv_init(comm, [memory.copy(), ones], [memory, counts])

    last = size - 1
    must_fail(nuice.Error, f"rank {last}: receive: block 0", make, ones if rank < last else [-1, *ones[1:]])
    must_fail(nuice.Error, f"{size - 1} counts", make, ones[1:])
    must_fail(nuice.Error, "8 bytes are sent, 0 are expected", make, [0] * size)
    kind = TypeError if rank == last else nuice.Error
    must_fail(kind, "", make, ones if rank < last else ["one"] * size)
    neighbours = nuice.mpi.Neighbor_alltoallv_init
    must_fail(nuice.Error, "no topology", neighbours, comm, [memory, ones], [memory.copy(), ones])


def test_alltoallv_with_counts_that_change() -> None:
    """On rank 0, in every call; tests/mpi/kept_calls_test.cpp has more."""
    own = comm.Dup()
    for round_ in range(4):
        counts = [1 + (round_ * (rank == 0) + rank + dst) % 3 for dst in range(size)]
        receive_counts = [1 + (round_ * (src == 0) + src + rank) % 3 for src in range(size)]
        send = np.random.default_rng(round_ + 100 * rank).random(sum(counts))
        expected, received = np.empty(sum(receive_counts)), np.empty(sum(receive_counts))
        own.Alltoallv([send, counts], [expected, receive_counts])
        nuice.mpi.alltoallv(own, [send, counts, MPI.DOUBLE], [received, receive_counts, "d"])
        assert (received == expected).all()
    numbers = np.arange(1.0 * size) + 10 * rank
    nuice.mpi.alltoallv(own, MPI.IN_PLACE, [numbers, [1] * size])
    assert np.array_equal(numbers, 10.0 * np.arange(size) + rank)
    places, types = [8 * dst for dst in range(size)], [MPI.DOUBLE] * size
    received = np.zeros(size)
    nuice.mpi.alltoallw(own, [numbers, ([1] * size, places), types], [received, ([1] * size, places), types])
    assert np.array_equal(received, 10.0 * rank + np.arange(size))
    own.Free()
    grid = comm.Create_cart([size], periods=[True])
    send, received, expected = np.arange(4.0) + 10 * rank, np.zeros(4), np.zeros(4)
    grid.Neighbor_alltoallv([send, [2, 2]], [expected, [2, 2]])
    side, types = ([2, 2], [0, 16]), [MPI.DOUBLE] * 2
    for _ in range(2):
        received[:] = 0
        nuice.mpi.neighbor_alltoallv(grid, [send, [2, 2]], [received, [2, 2]])
        assert np.array_equal(received, expected)
        received[:] = 0
        nuice.mpi.neighbor_alltoallw(grid, [send, side, types], [received, side, types])
        assert np.array_equal(received, expected)
    grid.Free()


def test_alltoallv_with_wrong_arguments() -> None:
    own, memory, ones, last = comm.Dup(), np.zeros(size), [1] * size, rank == size - 1

    def call(counts: object) -> None:
        nuice.mpi.alltoallv(own, [memory.copy(), ones], [memory, counts])

    must_fail(nuice.Error, f"rank {size - 1}: receive: block 0", call, [-1, *ones[1:]] if last else ones)
    must_fail(nuice.Error, "8 bytes are sent, 0 are expected", call, [0] * size)
    must_fail(TypeError if last else nuice.Error, "not a whole number", call, [1.5] * size if last else ones)
    call(ones)  # all of these were of the first call
    must_fail(nuice.Error, f"rank {size - 1}: receive: block 0", call, [-1, *ones[1:]] if last else ones)
    must_fail(nuice.Error, f"rank {size - 1}: receive: block 0", call, ones)
    own.Free()
    must_fail(nuice.Error, "no topology", nuice.mpi.neighbor_alltoallv, comm, [memory, ones], [memory, ones])

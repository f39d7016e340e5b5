# SPDX-License-Identifier: BSD-3-Clause
"""What test_mpi.py runs under mpiexec: every function whose name begins with test_, on all ranks, or one by
name.

A failed assertion on one rank ends all ranks, by the hook of nuice.mpi: that is under test, too.
"""

from __future__ import annotations

import array
import copy
import os
import pickle
import sys
import threading
import time

import numpy as np
from mpi4py import MPI

import nuice
import nuice.mpi

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
after, before = (rank + 1) % size, (rank - 1) % size


def ring(options: str = "", count: int = 10, **named: object) -> nuice.mpi.Plan:
    return nuice.mpi.Plan(comm, {after: 8 * count}, options, **named)


def exchanged(plan: nuice.mpi.Plan, send: object, receive: object, direction: str = "forwards") -> None:
    with plan.bind(send, receive, direction) as exchange:
        exchange.Start()
        exchange.Wait()


def must_fail(kind: type[Exception], text: str, call, *arguments: object) -> None:
    """On all ranks, each with an exception of the kind."""
    try:
        call(*arguments)
    except kind as error:
        assert text in str(error), str(error)
    else:
        raise AssertionError(f"no {kind.__name__} with {text!r}")


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


def test_every_executor_against_alltoallv() -> None:
    rng = np.random.default_rng(rank)
    counts = [int(3 * ((rank + 2 * dst) % 4)) for dst in range(size)]
    receive_counts = [int(3 * ((src + 2 * rank) % 4)) for src in range(size)]
    send = rng.random(sum(counts))
    expected = np.empty(sum(receive_counts))
    comm.Alltoallv([send, counts], [expected, receive_counts])
    num_run = 0
    for executor in nuice.executors():
        if not executor.on_mpi:
            continue
        destinations = [(dst, 8 * n) for dst, n in enumerate(counts)]
        with nuice.mpi.Plan(comm, destinations, "coloring", executor=executor.name) as plan:
            assert [p.rank for p in plan.destinations] == list(range(size))
            assert [tuple(p) for p in plan.sources] == [
                (src, 8 * n) for src, n in enumerate(receive_counts) if n
            ]
            received = np.zeros_like(expected)
            exchanged(plan, send, received)
            assert (received == expected).all()
            back = np.zeros_like(send)
            exchanged(plan, received, back, "backwards")
            assert (back == send).all()
        num_run += 1
    assert num_run >= 4


def test_a_plan_that_follows() -> None:
    options = "planning=distributed scheduler=distributed_coloring distributed.gather=0"
    with ring(options) as plan:
        with plan.follow({after: 80}) as same:
            assert same.figure("kept") == same.figure("messages")
        wider = {dst: 16 * (rank + 1) for dst in range(size)}
        with plan.follow(wider) as followed:
            assert dict(followed.destinations) == wider
            assert [tuple(p) for p in followed.sources] == [(src, 16 * (src + 1)) for src in range(size)]
            received = np.zeros(2 * sum(range(1, size + 1)))
            exchanged(followed, np.full(2 * size * (rank + 1), float(rank)), received)
            assert (received == np.repeat(np.arange(size), 2 * np.arange(1, size + 1))).all()
        is_last = rank == size - 1
        must_fail(nuice.Error, "", plan.follow, {0: 2**70 if is_last else 8})
    must_fail(nuice.Error, "the plan was freed", plan.follow, {})


def test_buffers_of_every_kind() -> None:
    want = np.full(10, float(before))
    mine = np.full(10, float(rank))
    with ring() as plan:
        for send in (
            mine,
            array.array("d", mine),
            bytes(mine),
            bytearray(mine),
            memoryview(mine),
            mine.reshape(2, 5),
        ):
            for receive in (
                np.zeros(10),
                array.array("d", [0] * 10),
                bytearray(80),
                memoryview(bytearray(80)),
            ):
                exchanged(plan, send, receive)
                assert (np.frombuffer(memoryview(receive).cast("B"), "d") == want).all()
        by_field = np.zeros(20)
        exchanged(plan, [mine, ([10], [0]), MPI.DOUBLE], [by_field, ([10], [5]), "d"])
        assert (by_field[5:15] == want).all() and by_field[:5].sum() == 0
        every_second = MPI.DOUBLE.Create_resized(0, 16).Commit()
        exchanged(plan, [mine, (10,), MPI.DOUBLE], [by_field, (10,), every_second])
        every_second.Free()
        assert (by_field[::2] == want).all()
        fortran = np.asfortranarray(np.zeros((5, 2)))
        exchanged(plan, mine, fortran)
        assert (fortran == before).all()
    with nuice.mpi.Plan(comm, {after: 8, rank: 4} if size > 1 else {rank: 8}) as plan:
        parts = [np.full(p.bytes // 4, rank, np.int32) for p in plan.destinations]
        landed = [np.zeros(p.bytes // 4, np.int32) for p in plan.sources]
        exchanged(plan, parts, landed)
        assert all((one == p.rank).all() for one, p in zip(landed, plan.sources, strict=True))


class OnlyDlpack:
    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def __dlpack__(self, **arguments: object) -> object:
        return self.values.__dlpack__(**arguments)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.values.__dlpack_device__()


class OnDevice(OnlyDlpack):
    def __dlpack__(self, **arguments: object) -> object:
        raise BufferError("it is on a device")

    def __dlpack_device__(self) -> tuple[int, int]:
        return (7, 0)  # Vulkan, which NUICE does not know


def test_dlpack() -> None:
    with ring() as plan:
        receive = np.zeros(10)
        exchanged(plan, OnlyDlpack(np.full(10, float(rank))), OnlyDlpack(receive))
        assert (receive == before).all()
        must_fail(BufferError, "not in memory that the host can read", plan.bind, OnDevice(receive), receive)


def test_wrong_buffers_on_all_ranks() -> None:
    good = np.zeros(10)
    with ring() as plan:
        must_fail(BufferError, "read-only", plan.bind, good, bytes(80))
        locked = np.zeros(10)
        locked.flags.writeable = False
        must_fail(BufferError, "read-only", plan.bind, good, locked)
        must_fail(ValueError, "72 bytes (9 of float64), its 1 partners 80", plan.bind, np.zeros(9), good)
        must_fail(ValueError, "40 bytes (10 of float32)", plan.bind, np.zeros(10, "f"), good)
        must_fail(BufferError, "gaps", plan.bind, np.zeros(20)[::2], good)
        must_fail(BufferError, "gaps", plan.bind, memoryview(np.zeros(20))[::2], good)
        must_fail(BufferError, "gaps", plan.bind, good, np.zeros(20)[::2])
        must_fail(BufferError, "gaps", plan.bind, good, np.zeros((10, 2))[:, 0])
        must_fail(BufferError, "read-only", plan.bind, good, memoryview(bytearray(80)).toreadonly())
        must_fail(ValueError, "the receive buffer has 40 bytes", plan.bind, good, array.array("f", [0] * 10))
        must_fail(BufferError, "Python objects", plan.bind, np.array([None] * 10), good)
        must_fail(TypeError, "no buffer", plan.bind, 3.5, good)
        must_fail(ValueError, "2 send buffers for 1 partners", plan.bind, [good, good], good)
        must_fail(ValueError, "2 counts for 1 partners", plan.bind, [good, (5, 5), "d"], good)
        must_fail(ValueError, "reach out of a buffer of 80 bytes", plan.bind, [good, ([10], [5]), "d"], good)
        must_fail(ValueError, "forwards, backwards", plan.bind, good, good, "sideways")
    must_fail(nuice.Error, "freed", plan.bind, good, good)
    must_fail(nuice.Error, "freed", plan.text, "scheduler")
    must_fail(nuice.Error, "there is no option", nuice.mpi.Plan, comm, {}, "colour=red")
    must_fail(TypeError, "'a' is no whole number", nuice.mpi.Plan, comm, ["ab"])
    plan.Free()


def test_wrong_on_one_rank_only() -> None:
    """That rank gets what it did wrong, the others an Error with its name; no rank waits forever."""
    if size == 1:
        return
    last = rank == size - 1
    good = np.zeros(10)
    with ring() as plan:
        kind = ValueError if last else nuice.Error
        must_fail(kind, "" if last else f"rank {size - 1}", plan.bind, good[: 9 if last else 10], good.copy())
        exchanged(plan, np.full(10, float(rank)), good)
        assert (good == before).all()
    must_fail(TypeError if last else nuice.Error, "", nuice.mpi.Plan, comm, [3] if last else {})
    must_fail(
        TypeError if last else nuice.Error,
        "",
        lambda: nuice.mpi.Halo(comm, [0.5] if last else [], owned=[rank]),
    )
    must_fail(
        TypeError if last else nuice.Error,
        "",
        lambda: nuice.mpi.Halo(comm, [], owned=[0.5] if last else [rank]),
    )


def test_numbers_that_are_not_cut_off() -> None:
    """ctypes would send 2^70 bytes as none, and a rank of 2^32 as rank 0."""
    must_fail(
        nuice.Error, f"{2**70} is beyond a whole number of 64 bits", nuice.mpi.Plan, comm, {after: 2**70}
    )
    must_fail(nuice.Error, "rank: 4294967296 is beyond", nuice.mpi.Plan, comm, {2**32: 8})
    must_fail(TypeError, "1.5 is no whole number", nuice.mpi.Plan, comm, {after: 1.5})
    must_fail(
        nuice.Error,
        "global index 18446744073709551615 is beyond",
        lambda: nuice.mpi.Halo(comm, np.array([2**64 - 1], np.uint64), owned=[rank]),
    )
    must_fail(nuice.Error, "4294967296 is no rank", lambda: nuice.mpi.Halo(comm, [0], owners=[2**32] * size))
    must_fail(TypeError, "integers, not float64", lambda: nuice.mpi.Halo(comm, [0], owned=[0.5]))


def test_auto_goes_through_memory_on_one_host() -> None:
    send, receive = np.full(10, float(rank)), np.zeros(10)
    exchange = ring("scheduler=auto auto.wisdom=none").bind(send, receive)
    assert size == 1 or exchange.shared_memory.startswith(f"{size} messages inside hosts")
    for _ in range(40):
        exchange.Start()
        exchange.Wait()
    assert receive[0] == before
    assert ring("coloring").bind(send, receive).shared_memory == ""


def test_an_exchange_as_a_request() -> None:
    plan = ring("lp", executor="phased")
    assert plan.scheduler == "lp" and plan.executor == "phased" and plan.phases >= min(size - 1, 1)
    assert "messages" in repr(plan) and plan.figure("check_s") >= 0
    send, receive = np.full(10, float(rank)), np.zeros(10)
    exchange = plan.bind(send, receive)
    must_fail(nuice.Error, "start", exchange.Wait)
    exchange.Start()
    assert exchange.is_under_way and "active" in repr(exchange)
    while not exchange.Test():
        pass
    assert receive[0] == before
    exchange.Start()
    assert list(exchange.arrivals()) == [0]
    exchange.Start()
    while exchange.is_under_way:
        exchange.Poll()
    exchange.Start()
    assert exchange.Next() == 0 and exchange.Next() is None
    for method in (pickle.dumps, copy.deepcopy):
        must_fail(TypeError, "pickled", method, exchange)
        must_fail(TypeError, "pickled", method, plan)
    plan.Free()
    exchange.Start()  # outlives its plan
    exchange.Wait()
    exchange.Free()
    exchange.Free()
    assert "freed" in repr(exchange) and "freed" in repr(plan)
    must_fail(nuice.Error, "the exchange was freed", exchange.Start)
    with ring("auto", **{"auto.wisdom": "none", "auto.machine": "ethernet-10g"}) as chosen:
        assert chosen.text("advice_json").startswith("{")


def test_buffers_stay_alive() -> None:
    with ring(count=100000) as plan:
        exchange = plan.bind(np.full(100000, float(rank)), receive := np.zeros(100000))
        for _ in range(20):
            np.full(100000, -1.0)  # would take the memory of what is freed
            exchange.Start()
            exchange.Wait()
            assert (receive == before).all()
        exchange.Free()


def test_halo() -> None:
    total, mine = 3 * size, np.arange(3) + 3 * rank
    needed = [(mine[0] - 1) % total, *mine, (mine[-1] + 1) % total]
    ghosts = 2 if size > 1 else 0
    for ownership in (
        {"owned": mine},
        {"ranges": [3 * r for r in range(size + 1)]},
        {"owners": np.repeat(np.arange(size), 3)},
    ):
        with nuice.mpi.Halo(comm, needed, "coloring", **ownership) as halo:
            assert (halo.num_owned, halo.num_ghosts) == (3, ghosts)
            rows = halo.local(needed)
            everything = np.concatenate([mine, halo.ghosts])
            assert (everything[rows] == needed).all()
            for dtype, shape in (("d", ()), ("i", (2,)), ("c16", (2, 2))):
                values = np.multiply.outer(mine, np.ones(shape)).astype(dtype)
                fetched = halo.gather(values)
                assert fetched.shape == (ghosts, *shape) and fetched.dtype == np.dtype(dtype)
                assert (np.moveaxis(fetched, 0, -1) == halo.ghosts).all()
                whole = np.concatenate([values, np.zeros((ghosts, *shape), dtype)])
                assert size == 1 or (halo.gather(whole) is whole and (whole[3:] == fetched).all())
                ones = np.ones((halo.num_entries, *shape), dtype)
                halo.scatter_add(ones)
                edge = 2 if size > 1 else 1
                added = np.array([edge, 1, edge])
                assert (np.moveaxis(ones[:3], 0, -1) == added).all()
            owned, largest = mine.astype("d"), np.full(ghosts, 1e6)
            with halo.bind_scatter(largest, owned, MPI.MAX) as exchange:
                exchange.Start()
                exchange.Wait()
            assert (owned == ([1e6, mine[1], 1e6] if size > 1 else mine)).all()
            must_fail(ValueError, "rows", halo.gather, np.zeros(7))
            must_fail(TypeError, "byte order", halo.scatter_add, np.ones(halo.num_entries, ">f8"))
            last = rank == size - 1
            no_op = (largest, owned, None if last else MPI.SUM)
            must_fail(TypeError if last else nuice.Error, "", halo.bind_scatter, *no_op)
            must_fail(nuice.Error, "neither", halo.local, [total])
        must_fail(nuice.Error, "freed", halo.gather, mine)
    must_fail(TypeError, "give the owners by one of", nuice.mpi.Halo, comm, needed)


def test_all_ranks_hear_what_was_wrong_on_one() -> None:
    last = rank == size - 1
    kind = ValueError if last else nuice.Error
    text = "" if last else f"rank {size - 1}: "
    with ring() as plan:
        short = np.zeros(7 if last else 80, np.uint8)
        must_fail(kind, f"{text}the send buffer has 7 bytes", plan.bind, short, np.zeros(10))
        field = [np.zeros(20), [10, 10], "d"] if last else [np.zeros(10), [10], "d"]
        must_fail(kind, f"{text}2 counts for 1 partners", plan.bind, field, [np.zeros(10), [10], "d"])
        direction = "x" if last else "backwards"
        must_fail(kind, f"{text}direction is one of", plan.bind, np.zeros(10), np.zeros(10), direction)
        exchanged(plan, np.zeros(10), np.zeros(10))
    with nuice.mpi.Halo(comm, [after], owned=[rank]) as halo:
        ghosts = np.zeros(halo.num_ghosts)
        must_fail(kind, f"{text}owned must be", halo.bind_gather, np.zeros(2 if last else 1), ghosts)
        must_fail(kind, f"{text}owned must be", halo.bind_scatter, ghosts, np.zeros(2 if last else 1))
        rows = f"{text}{1 + halo.num_ghosts}" if last else text
        must_fail(kind, rows, halo.gather, np.zeros(9 if last else 1))


def test_a_bad_array_on_one_rank_of_a_halo() -> None:
    """An error of all ranks, whether or not others have such a stage already; the halo stays usable."""
    if size == 1:
        return  # which has no ghosts, and no other rank to hear of it
    total, mine, last = 3 * size, np.arange(3) + 3 * rank, rank == size - 1
    needed = [(mine[0] - 1) % total, *mine, (mine[-1] + 1) % total]
    with nuice.mpi.Halo(comm, needed, ranges=[3 * r for r in range(size + 1)]) as halo:
        good = np.concatenate([mine, halo.ghosts]).astype("d")
        bad = [
            (ValueError, good[:2]),
            (ValueError, np.float64(1)),
            (ValueError, [[1.0], [2.0, 3.0]]),
            (BufferError, good.astype(object)),
            (BufferError, np.broadcast_to(1.0, good.shape)),
            (nuice.Error, good.astype("f")),
            (nuice.Error, good.astype("i8")),
            (nuice.Error, np.ones((len(good), 2))),
        ]
        for first in (True, False):  # without a stage, and with one
            for kind, array in bad:
                for call in (halo.gather, halo.scatter_add):
                    must_fail(kind if last else nuice.Error, "", call, array if last else good.copy())
            everything = good.copy()
            everything[3:] = -1
            assert (halo.gather(everything) == good).all(), first
            ones = np.ones(len(good))
            assert halo.scatter_add(ones)[1] == 1, first


def test_alltoallv_with_counts_that_change() -> None:
    own = comm.Dup()
    for round_ in range(40):  # more than are kept

        def count(src: int, dst: int, round_: int = round_) -> int:
            return 1 + (round_ % 20 * (src == 0) + src + dst) % 3  # rank 0's change in every call

        counts = [count(rank, dst) for dst in range(size)]
        receive_counts = [count(src, rank) for src in range(size)]
        send = np.random.default_rng(round_ + 100 * rank).random(sum(counts))
        expected, received = np.empty(sum(receive_counts)), np.empty(sum(receive_counts))
        own.Alltoallv([send, counts], [expected, receive_counts])
        nuice.mpi.alltoallv(own, [send, counts, MPI.DOUBLE], [received, receive_counts, "d"])
        assert (received == expected).all()
        send += 1
        nuice.mpi.alltoallv(own, [send, counts], [received, receive_counts])
        assert (received == expected + 1).all()
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
    must_fail(TypeError if last else nuice.Error, "no whole number", call, [1.5] * size if last else ones)
    call(ones)  # all of these were of the first call
    must_fail(nuice.Error, f"rank {size - 1}: receive: block 0", call, [-1, *ones[1:]] if last else ones)
    must_fail(nuice.Error, f"rank {size - 1}: receive: block 0", call, ones)
    own.Free()
    must_fail(nuice.Error, "no topology", nuice.mpi.neighbor_alltoallv, comm, [memory, ones], [memory, ones])


def test_many_plans_on_many_communicators() -> None:
    """3,000 after each other, on communicators that come and go."""
    for _ in range(3000):
        own = comm.Dup()
        with nuice.mpi.Plan(own, {after: 8}, check=False):
            pass
        own.Free()


def test_options_that_are_no_option_text() -> None:
    """What C would cut off, or read as two options."""
    must_fail(ValueError, "has a zero in it", ring, "scheduler=lp\0seed=9")
    must_fail(nuice.Error, "unknown executor", lambda: ring(executor="async\tseed=3"))
    must_fail(TypeError, "options are a text", ring, 5)
    must_fail(TypeError, "None is no communicator", nuice.mpi.Plan, None, {})
    with ring() as plan:
        must_fail(ValueError, "has a zero in it", plan.figure, "phases\0")
        must_fail(AttributeError, "destinations", setattr, plan, "destinations", ())


def test_who_was_wrong_is_said() -> None:
    if size > 1 and rank != 1:
        must_fail(nuice.Error, "rank 1: ", nuice.mpi.Plan, comm, {})
    elif size > 1:
        must_fail(TypeError, "no whole number", nuice.mpi.Plan, comm, {0: None})


def wait_when_nobody_else_is_in_it(exchange: nuice.mpi.Exchange) -> None:
    while True:
        try:
            exchange.Wait()
            return
        except nuice.Error as error:
            assert "another thread" in str(error)


def test_an_exchange_in_two_threads() -> None:
    """Rank 1 waits for rank 0, which starts when it has heard that no other rank can do so meanwhile."""
    if size == 1:
        return
    with ring(executor="async") as plan:
        exchange = plan.bind(np.full(10, float(rank)), received := np.zeros(10))
        if rank == 0:
            comm.recv(source=1)
        exchange.Start()
        if rank == 1:
            waiting = threading.Thread(target=wait_when_nobody_else_is_in_it, args=(exchange,))
            waiting.start()
            while "another thread" not in repr(exchange):
                time.sleep(0.001)
            must_fail(nuice.Error, "another thread", exchange.Test)
            must_fail(nuice.Error, "another thread", exchange.Free)
            comm.send(None, 0)
            waiting.join()
        else:
            exchange.Wait()
        assert (received == before).all()
        exchange.Free()


def test_forked() -> None:
    with ring() as plan, plan.bind(np.full(10, float(rank)), np.zeros(10)) as exchange:
        exchange.Start()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                must_fail(nuice.Error, "forked", exchange.Test)
                must_fail(nuice.Error, "forked", plan.Free)
                sys.excepthook(RuntimeError, RuntimeError("no rank's"), None)  # ends no rank
                code = 0
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
        exchange.Wait()


def fail_on_one_rank() -> None:
    if rank == size - 1:
        raise RuntimeError("the sky falls")
    comm.Barrier()


def leave_under_way() -> None:
    """Python is gone, and its arrays with it, when mpi4py ends MPI, which completes what was started."""
    plan = nuice.mpi.Plan(comm, {after: 1 << 20})
    plan.bind(np.zeros(1 << 17), np.zeros(1 << 17)).Start()
    sys.exit()


def finalize_too_early() -> None:
    plan, halo = ring(), nuice.mpi.Halo(comm, [after], owned=[rank])
    exchange, mine = plan.bind(np.zeros(10), np.zeros(10)), [np.zeros(size), [1] * size, "d"]
    nuice.mpi.alltoallv(comm, mine, [np.zeros(size), [1] * size, "d"])
    MPI.Finalize()
    for call in (
        lambda: nuice.mpi.Plan(comm, {}),
        lambda: nuice.mpi.Halo(comm, [], owned=[]),
        lambda: nuice.mpi.alltoallv(comm, mine, mine),
        lambda: plan.bind([np.zeros(10), [10], "d"], np.zeros(10)),
        lambda: plan.follow({after: 8}),
        lambda: halo.gather(np.zeros(1)),
        exchange.Start,
    ):
        must_fail(nuice.Error, "MPI", call)
    exchange.Free()
    halo.Free()
    plan.Free()
    print("ok")


if __name__ == "__main__":
    chosen = sys.argv[1:] or [name for name in globals() if name.startswith("test_")]
    for name in chosen:
        globals()[name]()
        if MPI.Is_finalized():
            sys.exit()
        comm.Barrier()
    if rank == 0:
        print(f"{len(chosen)} passed")

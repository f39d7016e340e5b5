# SPDX-License-Identifier: BSD-3-Clause
"""What test_mpi.py runs under mpiexec: every function of this file, buffers.py and calls.py whose name begins
with test_, on all ranks, or one by name.

A failed assertion on one rank ends all ranks, by the hook of nuice.mpi: that is under test, too.
"""

from __future__ import annotations

import copy
import os
import pickle
import sys
import threading
import time
from collections.abc import Callable

import buffers
import calls
import numpy as np
from mpi4py import MPI
from ranks import after, before, comm, exchanged, must_fail, rank, ring, size

import nuice
import nuice.mpi


def test_a_plan_against_alltoallv() -> None:
    """tests/mpi/executor_test.cpp has all executors."""
    rng = np.random.default_rng(rank)
    counts = [int(3 * ((rank + 2 * dst) % 4)) for dst in range(size)]
    receive_counts = [int(3 * ((src + 2 * rank) % 4)) for src in range(size)]
    send = rng.random(sum(counts))
    expected = np.empty(sum(receive_counts))
    comm.Alltoallv([send, counts], [expected, receive_counts])
    destinations = [(dst, 8 * n) for dst, n in enumerate(counts)]
    with nuice.mpi.Plan(comm, destinations, "coloring", executor="pairwise") as plan:
        assert [p.rank for p in plan.destinations] == list(range(size))
        assert [tuple(p) for p in plan.sources] == [(src, 8 * n) for src, n in enumerate(receive_counts) if n]
        received = np.zeros_like(expected)
        exchanged(plan, send, received)
        assert (received == expected).all()
        back = np.zeros_like(send)
        exchanged(plan, received, back, "backwards")
        assert (back == send).all()


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
        others = MPI.COMM_WORLD.Split(rank == 0, -rank)
        with plan.follow(wider) as followed, followed.follow_on(others) as left:
            numbers = {0: 0} if rank == 0 else {old: size - 1 - old for old in range(1, size)}
            assert dict(left.destinations) == {number: 16 * (rank + 1) for number in numbers.values()}
            assert dict(left.sources) == {number: 16 * (old + 1) for old, number in numbers.items()}
        others.Free()
        is_last = rank == size - 1
        must_fail(nuice.Error, "", plan.follow, {0: 2**70 if is_last else 8})
    must_fail(nuice.Error, "the plan was freed", plan.follow, {})
    must_fail(nuice.Error, "the plan was freed", plan.follow_on, MPI.COMM_WORLD)


def test_numbers_that_are_not_cut_off() -> None:
    """ctypes would send 2^70 bytes as none, and a rank of 2^32 as rank 0."""
    must_fail(nuice.Error, f"{2**70} does not fit into 64 bits", nuice.mpi.Plan, comm, {after: 2**70})
    must_fail(nuice.Error, "rank: 4294967296 does not fit", nuice.mpi.Plan, comm, {2**32: 8})
    must_fail(TypeError, "1.5 is not a whole number", nuice.mpi.Plan, comm, {after: 1.5})
    must_fail(
        nuice.Error,
        "global index 18446744073709551615 does not fit",
        lambda: nuice.mpi.Halo(comm, np.array([2**64 - 1], np.uint64), owned=[rank]),
    )
    must_fail(
        nuice.Error, "4294967296 is not a rank", lambda: nuice.mpi.Halo(comm, [0], owners=[2**32] * size)
    )
    must_fail(TypeError, "integers, not float64", lambda: nuice.mpi.Halo(comm, [0], owned=[0.5]))


def test_auto_goes_through_memory_on_one_host() -> None:
    send, receive = np.full(10, float(rank)), np.zeros(10)
    exchange = ring("scheduler=auto").bind(send, receive)
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
    with ring("auto", **{"auto.machine": "ethernet-10g"}) as chosen:
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
            owned, ghosts_of = 256 + mine / 1024, np.zeros(ghosts)
            with halo.bind_gather(owned, ghosts_of, "bfloat16") as exchange:
                exchange.Start()
                exchange.Wait()
            assert (ghosts_of == 256).all()
            given, owned = 256 + halo.ghosts / 1024, np.full(3, 1 / 1024)
            with halo.bind_scatter(given, owned, MPI.SUM, "bfloat16") as exchange:
                exchange.Start()
                exchange.Wait()
            assert (owned == 1 / 1024 + (np.array([256, 0, 256]) if size > 1 else 0)).all()
            must_fail(ValueError, "wire='half'", halo.bind_gather, owned, ghosts_of, "half")
            must_fail(TypeError, "doubles", halo.bind_gather, mine, halo.ghosts.copy(), "float32")
            owned = mine.astype("d")
            must_fail(ValueError, "rows", halo.gather, np.zeros(7))
            must_fail(TypeError, "byte order", halo.scatter_add, np.ones(halo.num_entries, ">f8"))
            last = rank == size - 1
            no_op = (largest, owned, None if last else MPI.SUM)
            must_fail(TypeError if last else nuice.Error, "", halo.bind_scatter, *no_op)
            must_fail(nuice.Error, "neither", halo.local, [total])
        must_fail(nuice.Error, "freed", halo.gather, mine)
    must_fail(TypeError, "give the owners by one of", nuice.mpi.Halo, comm, needed)


def test_wrong_on_one_rank_only() -> None:
    """That rank gets what it did wrong, the others an Error with its name; no rank waits forever."""
    last = rank == size - 1
    text = "" if last else f"rank {size - 1}: "

    def expect(kind: type[Exception], what: str, call: Callable, *arguments: object) -> None:
        must_fail(kind if last else nuice.Error, text + what, call, *arguments)

    with ring() as plan:
        short = np.zeros(7 if last else 80, np.uint8)
        expect(ValueError, "the send buffer has 7 bytes", plan.bind, short, np.zeros(10))
        field = [np.zeros(20), [10, 10], "d"] if last else [np.zeros(10), [10], "d"]
        expect(ValueError, "2 counts for 1 partners", plan.bind, field, [np.zeros(10), [10], "d"])
        direction = "x" if last else "backwards"
        expect(ValueError, "direction is one of", plan.bind, np.zeros(10), np.zeros(10), direction)
        exchanged(plan, np.full(10, float(rank)), received := np.zeros(10))
        assert (received == before).all()
    with nuice.mpi.Halo(comm, [after], owned=[rank]) as halo:
        ghosts = np.zeros(halo.num_ghosts)
        expect(ValueError, "owned must be", halo.bind_gather, np.zeros(2 if last else 1), ghosts)
        expect(ValueError, "owned must be", halo.bind_scatter, ghosts, np.zeros(2 if last else 1))
        rows = f"{1 + halo.num_ghosts}" if last else ""
        expect(ValueError, rows, halo.gather, np.zeros(9 if last else 1))
    expect(TypeError, "", nuice.mpi.Plan, comm, [3] if last else {})
    expect(TypeError, "", nuice.mpi.Plan, comm, {0: None} if last else {})
    expect(TypeError, "", lambda: nuice.mpi.Halo(comm, [0.5] if last else [], owned=[rank]))
    expect(TypeError, "", lambda: nuice.mpi.Halo(comm, [], owned=[0.5] if last else [rank]))


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


def test_many_plans_on_many_communicators() -> None:
    """3,000 after each other, on communicators that come and go: more than MPICH has at a time."""
    sent, received = np.full(1, float(rank)), np.zeros(1)
    for _ in range(3000):
        own = comm.Dup()
        with nuice.mpi.Plan(own, {after: 8}, check=False) as plan:
            exchanged(plan, sent, received)
        assert received[0] == before
        own.Free()


def test_options_that_are_no_option_text() -> None:
    """What C would cut off, or read as two options."""
    must_fail(ValueError, "has a zero in it", ring, "scheduler=lp\0seed=9")
    must_fail(nuice.Error, "unknown executor", lambda: ring(executor="async\tseed=3"))
    must_fail(TypeError, "options are a text", ring, 5)
    must_fail(TypeError, "None is not a communicator", nuice.mpi.Plan, None, {})
    with ring() as plan:
        must_fail(ValueError, "has a zero in it", plan.figure, "phases\0")
        must_fail(AttributeError, "destinations", setattr, plan, "destinations", ())


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
    known = vars(buffers) | vars(calls) | globals()
    chosen = sys.argv[1:] or [name for name in known if name.startswith("test_")]
    for name in chosen:
        known[name]()
        if MPI.Is_finalized():
            sys.exit()
        comm.Barrier()
    if rank == 0:
        print(f"{len(chosen)} passed")

# SPDX-License-Identifier: BSD-3-Clause
"""Tests of program.py: what can be bound."""

from __future__ import annotations

import array

import numpy as np
from mpi4py import MPI
from ranks import after, before, comm, exchanged, must_fail, rank, ring, size

import nuice
import nuice.mpi


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
        must_fail(TypeError, "not a buffer", plan.bind, 3.5, good)
        must_fail(ValueError, "2 send buffers for 1 partners", plan.bind, [good, good], good)
        must_fail(ValueError, "2 counts for 1 partners", plan.bind, [good, (5, 5), "d"], good)
        must_fail(ValueError, "extend beyond a buffer of 80 bytes", plan.bind, [good, ([10], [5]), "d"], good)
        must_fail(ValueError, "forwards, backwards", plan.bind, good, good, "sideways")
    must_fail(nuice.Error, "freed", plan.bind, good, good)
    must_fail(nuice.Error, "freed", plan.text, "scheduler")
    must_fail(nuice.Error, "there is no option", nuice.mpi.Plan, comm, {}, "colour=red")
    must_fail(TypeError, "'a' is not a whole number", nuice.mpi.Plan, comm, ["ab"])
    plan.Free()

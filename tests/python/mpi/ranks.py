# SPDX-License-Identifier: BSD-3-Clause
"""The ranks of program.py, and what its tests share."""

from __future__ import annotations

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

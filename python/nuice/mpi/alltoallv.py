# SPDX-License-Identifier: BSD-3-Clause
"""MPI_Alltoallv by plans that are kept with the communicator."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from ctypes import byref, c_void_p
from typing import Any

import numpy as np
from mpi4py import MPI

from ..errors import Error
from ._buffers import Field, field_of
from ._library import addresses, int64s, ints, lib, must, option_text, require_mpi
from .exchange import Exchange
from .plan import Plan

MOST_KEPT = 16  # plans for one communicator; the oldest goes
WRONG = -2  # instead of the number of an exchange

_keyval: int | None = None
_is_ending = False


class _Kept:
    """The exchanges of one communicator, in the order in which they were made: the same on all ranks."""

    def __init__(self) -> None:
        self.first = 0
        self.keys: list[tuple[Any, ...]] = []
        self.exchanges: list[tuple[Plan, Exchange]] = []

    def number_of(self, key: tuple[Any, ...]) -> int:
        return self.first + self.keys.index(key) if key in self.keys else -1

    def drop_oldest(self) -> None:
        plan, exchange = self.exchanges.pop(0)
        self.keys.pop(0)
        self.first += 1
        exchange.Free()
        plan.Free()


def _note_the_end(*_: object) -> None:
    """The first thing that MPI_Finalize does."""
    global _is_ending
    _is_ending = True


def _drop(_comm: MPI.Comm, _key: int, kept: _Kept) -> None:
    """The communicator is being freed, and these cannot be used any more."""
    while kept.exchanges and not _is_ending:
        with suppress(Error):  # one that is active after an error stays, with its buffers
            kept.drop_oldest()


def _kept(comm: MPI.Intracomm) -> _Kept:
    global _keyval
    if _keyval is None:
        MPI.COMM_SELF.Set_attr(MPI.Comm.Create_keyval(delete_fn=_note_the_end), True)
        _keyval = MPI.Comm.Create_keyval(delete_fn=_drop)
    kept = comm.Get_attr(_keyval)
    if kept is None:
        kept = _Kept()
        comm.Set_attr(_keyval, kept)
    assert isinstance(kept, _Kept)
    return kept


def alltoallv(
    comm: MPI.Intracomm, sendbuf: Sequence[Any], recvbuf: Sequence[Any], options: str = "", **named: object
) -> None:
    """Collective. What comm.Alltoallv(sendbuf, recvbuf) does, by a plan that is made in the first call with
    these counts, types and buffers, and used again while they stay the same: their contents may change.
    sendbuf, recvbuf: [buffer, counts, type] or [buffer, (counts, displs), type], with a count for every rank.
    Up to 16 plans are kept with a communicator, and with them their buffers. Ranks agree in each call on
    whether theirs is known: a reduction of two numbers, which Plan does without. Raises Error, the same on
    all ranks; mismatch where a rank expects other bytes than are sent.
    """
    require_mpi()
    key: tuple[Any, ...] | None = None
    wrong: Exception | None = None
    try:
        send, receive = field_of(sendbuf, False), field_of(recvbuf, True)
        for field in (send, receive):
            if len(field.counts) != comm.size:
                raise ValueError(f"{len(field.counts)} counts for {comm.size} ranks")
        key = (*_key(send), *_key(receive), option_text(options, named))
    except Exception as error:
        wrong = error
    kept = _kept(comm)
    number = kept.number_of(key) if key is not None else WRONG
    bounds = np.array([number, -number], np.int64)
    comm.Allreduce(MPI.IN_PLACE, bounds, MPI.MIN)
    least, most = int(bounds[0]), -int(bounds[1])
    if wrong is not None:
        raise wrong
    if least == WRONG:
        raise Error("alltoallv: the arguments of another rank cannot be", "invalid_argument")
    assert key is not None
    if least != most or least < 0:
        kept.exchanges.append(_make(comm, send, receive, options, named))
        kept.keys.append(key)
        number = kept.first + len(kept.keys) - 1
        if len(kept.keys) > MOST_KEPT:
            kept.drop_oldest()
    exchange = kept.exchanges[number - kept.first][1]
    exchange.Start()
    exchange.Wait()


def _key(field: Field) -> tuple[Any, ...]:
    displs = None if field.displs is None else tuple(field.displs)
    return (field.memory.address, field.memory.nbytes, tuple(field.counts), displs, _layout(field.datatype))


def _layout(datatype: MPI.Datatype) -> object:
    """What it is made of: the handle of a type that was freed may be another one's."""
    if datatype.is_predefined:
        return datatype.py2f()
    integers, places, counts, parts = datatype.Get_contents()
    layouts = [_layout(part) for part in parts]
    for part in parts:
        if not part.is_predefined:
            part.Free()
    return (datatype.combiner, tuple(integers), tuple(places), tuple(counts), tuple(layouts))


def _make(
    comm: MPI.Intracomm, send: Field, receive: Field, options: str, named: dict[str, object]
) -> tuple[Plan, Exchange]:
    size = send.datatype.Get_size()
    plan = Plan(comm, {r: n * size for r, n in enumerate(send.counts) if n}, options, **named)
    source_ranks = [source.rank for source in plan.sources]
    expected = [rank for rank, count in enumerate(receive.counts) if count]
    handle = c_void_p()
    if source_ranks != expected:
        wrong = ValueError(
            f"ranks {source_ranks} send to this one, but it has receive counts for ranks {expected}"
        )
        plan._refuse(wrong)
        plan.Free()
        raise wrong
    try:
        must(
            lib.nuice_plan_bind_fields_f(
                plan._handle,
                1,
                *_arguments(send, [destination.rank for destination in plan.destinations]),
                *_arguments(receive, source_ranks),
                0,
                byref(handle),
            )
        )
    except Exception:
        plan.Free()
        raise
    return plan, Exchange(handle, (send, receive))


def _arguments(field: Field, ranks: list[int]) -> tuple[Any, ...]:
    displs = field.displs
    if displs is None:
        displs = [sum(field.counts[:rank]) for rank in range(len(field.counts))]
    return (
        addresses([field.memory.address]),
        ints([field.datatype.py2f()]),
        int64s([field.counts[rank] for rank in ranks]),
        int64s([displs[rank] for rank in ranks]),
    )

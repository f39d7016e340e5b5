# SPDX-License-Identifier: BSD-3-Clause
"""A checked schedule for the messages between the ranks of a communicator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from ctypes import byref, c_char_p, c_double, c_int, c_void_p
from types import TracebackType
from typing import Any, NamedTuple, NoReturn

from mpi4py import MPI

from ..errors import Error
from ._buffers import Field, Memory, field_of, is_field, memory_of
from ._library import (
    addresses,
    fortran_handle,
    int64s,
    ints,
    lib,
    must,
    name_text,
    option_text,
    require_mpi,
    text_of,
    whole,
)
from .exchange import Exchange

DIRECTIONS = ("forwards", "backwards")


class Partner(NamedTuple):
    """A rank to which a message is sent or from which it is received, and the size of the message."""

    rank: int
    bytes: int


class Plan:
    """A plan for exchanges. Making a plan is collective over comm. destinations: the ranks to which this rank
    sends, and the bytes for each, as {rank: bytes} or as (rank, bytes) pairs; this rank itself and 0 bytes
    are allowed. options: the name of a scheduler ("auto", "coloring") or a string of options
    ("scheduler=coloring executor=async", docs/reference/options.md). Keyword arguments override this string:
    Plan(comm, d, "lp", executor="async").

    Raises nuice.Error, the same on all ranks, with code "parse", "invalid_argument", "limit", "mismatch",
    "not_applicable" or "mpi". If a rank passes an argument of a wrong kind, this rank raises TypeError or
    ValueError, and the other ranks raise nuice.Error.
    """

    __slots__ = ("_destinations", "_handle", "_num_ranks", "_sources")

    _handle: int | None  # None if freed
    _num_ranks: int
    _destinations: tuple[Partner, ...]
    _sources: tuple[Partner, ...]

    def __init__(
        self,
        comm: MPI.Intracomm,
        destinations: Mapping[int, int] | Iterable[tuple[int, int]],
        options: str = "",
        **named: object,
    ) -> None:
        handle, fortran = c_void_p(), fortran_handle(comm)
        try:
            row = _row_of(destinations)
            text = option_text(options, named)
        except Exception:
            # The other ranks must not wait for this rank: an impossible number of partners is an error of
            # all ranks.
            lib.nuice_plan_create_f(fortran, -1, None, None, b"", byref(handle))
            raise
        must(lib.nuice_plan_create_f(fortran, *_row_arguments(row), text, byref(handle)))
        self._take(handle, comm.size, row)

    @property
    def destinations(self) -> tuple[Partner, ...]:
        """The destinations, in the order in which they were given."""
        return self._destinations

    @property
    def sources(self) -> tuple[Partner, ...]:
        """The sources, by ascending rank."""
        return self._sources

    def follow(self, destinations: Mapping[int, int] | Iterable[tuple[int, int]]) -> Plan:
        """Collective. Makes a new plan for a changed matrix, with the options of this plan; this plan does
        not change. destinations: all destinations in the changed matrix, as for Plan(). If this plan has
        planning="distributed" and the scheduler "distributed_coloring", only the changes are planned, and
        figure("kept") of the new plan is the number of messages that kept their phases.

        Raises the errors of Plan(); also nuice.Error with code "mismatch" if ranks follow different plans.
        """
        if self._handle is None:
            raise Error("the plan was freed", "state")
        handle = c_void_p()
        try:
            row = _row_of(destinations)
        except Exception:
            lib.nuice_plan_follow(self._handle, -1, None, None, byref(handle))  # an error of all ranks
            raise
        must(lib.nuice_plan_follow(self._handle, *_row_arguments(row), byref(handle)))
        followed = Plan.__new__(Plan)
        followed._take(handle, self._num_ranks, row)
        return followed

    def follow_on(self, comm: MPI.Intracomm) -> Plan:
        """Collective over comm. Makes a new plan for the messages among the ranks of comm, with the options
        of this plan; this plan does not change. comm contains only ranks of this plan, in any order: for
        example the ranks that survive when others have died (comm.Shrink() of mpi4py). The new plan numbers
        ranks as in comm. It keeps the order of the destinations, and omits ranks outside comm.

        Raises the errors of Plan(); also nuice.Error with code "mismatch" if ranks follow different plans,
        and with code "invalid_argument" if a rank of comm does not belong to this plan.
        """
        if self._handle is None:
            raise Error("the plan was freed", "state")
        handle = c_void_p()
        must(lib.nuice_plan_follow_on_f(self._handle, fortran_handle(comm), byref(handle)))
        followed = Plan.__new__(Plan)
        followed._handle = handle.value
        followed._num_ranks = comm.size
        followed._destinations = followed._partners(lib.nuice_plan_destinations)
        followed._sources = followed._partners(lib.nuice_plan_sources)
        return followed

    def bind(self, send: Any, receive: Any, direction: str = "forwards") -> Exchange:
        """Collective. Makes an exchange of these buffers, which must not move until Exchange.Free().

        Each side has one of these forms, the same on all ranks:
          a buffer           all messages, contiguous, with exactly their bytes
          a list of buffers  one for each partner, with exactly its bytes
          [buffer, (counts, displs), datatype]
                             as in mpi4py: counts and displs for each partner; the type may also be "d".
                             displs may be left out, as may the type of a NumPy array
        The partners are the destinations for `send` and the sources for `receive`. In the direction
        "backwards" they are the sources for `send` and the destinations for `receive`. A buffer is a NumPy
        array, or an object with Python's buffer protocol, with DLPack or, in GPU memory, with
        __cuda_array_interface__. A buffer must be contiguous, and a receive buffer must be writable.
        """
        if self._handle is None:
            raise Error("the plan was freed", "state")
        require_mpi()
        handle = c_void_p()
        try:
            way = DIRECTIONS.index(direction) if direction in DIRECTIONS else -1
            if way < 0:
                raise ValueError(f"direction is one of {', '.join(DIRECTIONS)}, not {direction!r}")
            sides = (self.destinations, self.sources)
            to, source = sides if way == 0 else sides[::-1]
            is_fields = is_field(send) or is_field(receive)
            make: Callable[[Any, tuple[Partner, ...], bool], Any] = _field if is_fields else _memories
            sending, receiving = make(send, to, False), make(receive, source, True)
        except Exception as error:
            self._refuse(error)
            raise
        if is_fields:
            status = lib.nuice_plan_bind_fields_f(
                self._handle, 1, *_field_arguments(sending), *_field_arguments(receiving), way, byref(handle)
            )
            keep: object = (sending, receiving)
        else:
            at = [addresses([one.address for one in side]) for side in (sending, receiving)]
            status = lib.nuice_plan_bind(self._handle, at[0], at[1], way, byref(handle))
            keep = [[one.keep for one in side] for side in (sending, receiving)]
        must(status)
        return Exchange(handle, keep)

    def figure(self, name: str) -> float:
        """Returns a statistic of nuice_plan_figure() by name: phases, messages, phase_bytes, bound_phases,
        bound_bytes, schedule_s, ...
        """
        value = c_double()
        self._must(lib.nuice_plan_figure(self._handle, name_text(name), byref(value)))
        return value.value

    def text(self, name: str) -> str:
        """Returns a string of nuice_plan_text() by name: scheduler, executor, overridden, advice,
        advice_json, warning (always empty, kept for older programs).
        """
        text = c_char_p()
        self._must(lib.nuice_plan_text(self._handle, name_text(name), byref(text)))
        return (text.value or b"").decode()

    @property
    def scheduler(self) -> str:
        return self.text("scheduler")

    @property
    def executor(self) -> str:
        return self.text("executor")

    @property
    def phases(self) -> int:
        return int(self.figure("phases"))

    def Free(self) -> None:
        """Collective. Frees the plan. Bound exchanges stay usable. A second call does nothing."""
        if self._handle is None:
            return
        handle = c_void_p(self._handle)
        must(lib.nuice_plan_free(byref(handle)))
        self._handle = None

    def __enter__(self) -> Plan:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self.Free()  # otherwise the other ranks may never call it

    def __repr__(self) -> str:
        if self._handle is None:
            return "<nuice.mpi.Plan, freed>"
        counts = f"{self.figure('messages'):.0f} messages, {self.phases} phases"
        return f"<nuice.mpi.Plan of {self._num_ranks} ranks: {counts}, {self.scheduler}:{self.executor}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a plan belongs to this process: it cannot be pickled")

    def _take(self, handle: c_void_p, num_ranks: int, row: list[Partner]) -> None:
        self._handle = handle.value
        self._num_ranks = num_ranks
        self._destinations = tuple(row)
        self._sources = self._partners(lib.nuice_plan_sources)

    def _partners(self, call: Any) -> tuple[Partner, ...]:
        num_destinations, num_sources = c_int(), c_int()
        must(lib.nuice_plan_num_partners(self._handle, byref(num_destinations), byref(num_sources)))
        count = num_sources if call is lib.nuice_plan_sources else num_destinations
        ranks, sizes = ints([0] * count.value), int64s([0] * count.value)
        must(call(self._handle, ranks, sizes))
        return tuple(Partner(rank, size) for rank, size in zip(ranks, sizes, strict=True))

    def _must(self, status: int) -> None:
        if status and self._handle is None:
            raise Error("the plan was freed", "state")
        must(status)

    def _refuse(self, error: Exception) -> None:
        """Raises an error on all ranks while they bind, so that no rank waits for this rank."""
        lib.nuice_plan_refuse(self._handle, text_of(error))


def _row_of(destinations: Mapping[int, int] | Iterable[tuple[int, int]]) -> list[Partner]:
    pairs = destinations.items() if isinstance(destinations, Mapping) else destinations
    return [
        Partner(whole(rank, "a partner's rank", bits=32), whole(size, "a message's bytes"))
        for rank, size in pairs
    ]


def _row_arguments(row: list[Partner]) -> tuple[Any, ...]:
    return (len(row), ints([p.rank for p in row]), int64s([p.bytes for p in row]))


def _memories(given: Any, partners: tuple[Partner, ...], writable: bool) -> list[Memory]:
    side = "receive" if writable else "send"
    if not isinstance(given, (list, tuple)):
        whole = memory_of(given, writable)
        if whole.nbytes != (expected := sum(p.bytes for p in partners)):
            has = f"the {side} buffer has {whole.nbytes} bytes ({whole.what})"
            raise ValueError(f"{has}, its {len(partners)} partners {expected}")
        at, made = whole.address, []
        for partner in partners:
            made.append(Memory(at, partner.bytes, whole.what, whole.keep))
            at += partner.bytes
        return made
    if len(given) != len(partners):
        raise ValueError(f"{len(given)} {side} buffers for {len(partners)} partners")
    made = [memory_of(one, writable) for one in given]
    for memory, partner in zip(made, partners, strict=True):
        if memory.nbytes != partner.bytes:
            which = f"the {side} buffer of rank {partner.rank}"
            raise ValueError(f"{which} has {memory.nbytes} bytes ({memory.what}), not {partner.bytes}")
    return made


def _field(given: Any, partners: tuple[Partner, ...], writable: bool) -> Field:
    if not is_field(given):
        memory = memory_of(given, writable)
        return Field(memory, [p.bytes for p in partners], None, MPI.BYTE)
    field = field_of(given, writable)
    if len(field.counts) != len(partners):
        raise ValueError(f"{len(field.counts)} counts for {len(partners)} partners")
    return field


def _field_arguments(field: Field) -> tuple[Any, ...]:
    return (
        addresses([field.memory.address]),
        ints([field.datatype.py2f()]),
        int64s(field.counts),
        None if field.displs is None else int64s(field.displs),
    )

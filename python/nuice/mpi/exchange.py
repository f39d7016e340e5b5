# SPDX-License-Identifier: BSD-3-Clause
"""A plan or a halo bound to memory."""

from __future__ import annotations

import atexit
import ctypes
from collections.abc import Iterator, Sequence
from ctypes import byref, c_char_p, c_int, c_void_p, py_object, pythonapi
from types import TracebackType
from typing import Any, NoReturn

from ..errors import Error
from ._library import addresses, fail, ints, lib, must

_start = lib.nuice_exchange_start
_wait = lib.nuice_exchange_wait
_test = lib.nuice_exchange_test
_start_on = lib.nuice_exchange_start_on
_wait_on = lib.nuice_exchange_wait_on

# The bound memory, also of an Exchange that was dropped without Free(), because MPI may still write to it.
_bound: dict[int, object] = {}


def _number_of(stream: Any) -> c_void_p:
    """Returns the handle of a stream: .ptr of a CuPy stream, .cuda_stream of a PyTorch stream,
    __cuda_stream__ of others, or a plain number.
    """
    if hasattr(stream, "__cuda_stream__"):
        named = stream.__cuda_stream__
        return c_void_p((named() if callable(named) else named)[1])
    for name in ("ptr", "cuda_stream"):
        if hasattr(stream, name):
            return c_void_p(getattr(stream, name))
    return c_void_p(int(stream))


@atexit.register
def _keep_for_ever() -> None:
    """Keeps exchanges alive at exit, because MPI_Finalize, which mpi4py calls after Python has ended,
    completes them."""
    for keep in _bound.values():
        pythonapi.Py_IncRef(py_object(keep))


class Exchange:
    """A plan or a halo that is bound to memory; Plan.bind() and Halo make exchanges. After every Start(),
    call Wait() once, or Test() until it returns True, or Next() until it returns None.

    The exchange keeps its buffers alive until Free(). In a `with` statement, the exchange is freed at the end
    of the block, after it has completed. If an exception leaves the block while the exchange is active, it is
    neither completed nor freed.
    """

    __slots__ = ("_handle",)

    def __init__(self, handle: c_void_p, keep: object) -> None:
        self._handle: int | None = handle.value
        assert self._handle is not None
        _bound[self._handle] = keep

    def Start(self, stream: Any = None) -> None:
        """Starts the exchange. All ranks must call Start(), but Start() does not wait for other ranks. Raises
        nuice.Error with code "state" if the exchange is active. stream: the GPU stream on which the program
        works (a stream of CuPy or PyTorch, or a number); by default the legacy default stream.
        """
        status = _start(self._handle) if stream is None else _start_on(self._handle, _number_of(stream))
        if status:
            self._fail(status)

    def Wait(self, stream: Any = None) -> bool:
        """Waits until this rank's part is complete, and returns True. Raises nuice.Error with code "state" if
        the exchange was not started, or with code "timeout" or "mpi". stream: later work on this stream finds
        the data; the processor then does not wait for the GPU.
        """
        status = _wait(self._handle) if stream is None else _wait_on(self._handle, _number_of(stream))
        if status:
            self._fail(status)
        return True

    def Test(self) -> bool:
        """Makes progress. Returns True if this rank's part is complete. Raises the errors of Wait()."""
        done = c_int()
        if status := _test(self._handle, byref(done)):
            self._fail(status)
        return done.value != 0

    def Next(self) -> int | None:
        """Waits for the next message. Returns the index of its sender in Plan.sources (in a backward
        exchange, in Plan.destinations), or None if all messages have arrived.
        """
        return self._partner(lib.nuice_exchange_next)

    def Poll(self) -> int | None:
        """Returns the next message like Next(), but does not wait: returns None also if no message has
        arrived yet.
        """
        return self._partner(lib.nuice_exchange_poll)

    def Ready(self, i: int) -> None:
        """Allows message i to be sent; in a call with MPI's arguments, block i. Requires the option parts,
        with which Start() sends nothing. After every Start(), call Ready() once for each message, including
        empty messages; Wait() returns only after the last of these calls. Any thread may call Ready() while
        another thread waits. A second call with the same i raises nuice.Error with code "state".
        """
        must(lib.nuice_ready(self._handle, i))

    def Arrived(self, i: int) -> bool:
        """Returns whether message i has arrived. Requires the option parts. Any thread may call it."""
        flag = c_int()
        must(lib.nuice_arrived(self._handle, i, byref(flag)))
        return flag.value != 0

    def arrivals(self) -> Iterator[int]:
        """Yields the results of Next() until it returns None."""
        while (partner := self.Next()) is not None:
            yield partner

    @property
    def is_under_way(self) -> bool:
        flag = c_int()
        if status := lib.nuice_exchange_is_under_way(self._handle, byref(flag)):
            self._fail(status)
        return flag.value != 0

    @property
    def executor(self) -> str:
        """The name of the executor in use."""
        return self._text(b"executor")

    @property
    def shared_memory(self) -> str:
        """A text that says how many messages use shared memory, or why no message does. "" if neither the
        option shared_memory nor the scheduler auto asks for it. auto does so on one host, if no executor is
        named, auto.reuse is at least 50, and a message is short enough."""
        return self._text(b"shared_memory")

    @property
    def device(self) -> str:
        """A text that says how buffers in GPU memory are transferred, and why; "" if there are no such
        buffers."""
        return self._text(b"device")

    @property
    def methods(self) -> str:
        """With the scheduler auto: the methods that are tried, and the time in seconds that each takes on the
        slowest rank; "" if no methods are tried.
        """
        return self._text(b"methods")

    def _text(self, name: bytes) -> str:
        text = c_char_p()
        if status := lib.nuice_exchange_text(self._handle, name, byref(text)):
            self._fail(status)
        return (text.value or b"").decode()

    def Free(self) -> None:
        """Frees the exchange. All ranks must call Free(), but Free() does not wait for other ranks. A second
        call does nothing. Raises nuice.Error with code "state" if the exchange is active.
        """
        if self._handle is None:
            return
        handle = c_void_p(self._handle)
        must(lib.nuice_exchange_free(byref(handle)))
        del _bound[self._handle]
        self._handle = None

    def __enter__(self) -> Exchange:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._handle is None:
            return
        if self.is_under_way:
            if kind is not None:
                return  # the other ranks may never call it
            self.Wait()
        self.Free()

    def __repr__(self) -> str:
        if self._handle is None:
            return "<nuice.mpi.Exchange, freed>"
        try:
            return f"<nuice.mpi.Exchange {self.executor}{', active' if self.is_under_way else ''}>"
        except Error as error:  # another thread is waiting for the exchange
            return f"<nuice.mpi.Exchange: {error}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("an exchange belongs to this process: it cannot be pickled")

    def _partner(self, call: object) -> int | None:
        partner = c_int()
        if status := call(self._handle, byref(partner)):  # type: ignore[operator]
            self._fail(status)
        return partner.value if partner.value >= 0 else None

    def _fail(self, status: int) -> NoReturn:
        if self._handle is None:
            raise Error("the exchange was freed", "state")
        fail(status)


def _handles(exchanges: Sequence[Exchange]) -> ctypes.Array[c_void_p]:
    return addresses([one._handle or 0 for one in exchanges])


def Waitall(exchanges: Sequence[Exchange]) -> None:
    """Waits until all exchanges that were started are complete; other exchanges are skipped. Raises the
    errors of Exchange.Wait().
    """
    must(lib.nuice_waitall(len(exchanges), _handles(exchanges)))


def Waitany(exchanges: Sequence[Exchange]) -> int | None:
    """Waits until one of the started exchanges is complete, and returns its position; None if no exchange
    was started.
    """
    index = c_int()
    must(lib.nuice_waitany(len(exchanges), _handles(exchanges), byref(index)))
    return index.value if index.value >= 0 else None


def Testsome(exchanges: Sequence[Exchange]) -> list[int]:
    """Tests all started exchanges without waiting. Returns the positions of the exchanges that are
    complete."""
    count, indices = c_int(), ints([0] * len(exchanges))
    must(lib.nuice_testsome(len(exchanges), _handles(exchanges), byref(count), indices))
    return list(indices)[: count.value]

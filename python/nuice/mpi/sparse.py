# SPDX-License-Identifier: BSD-3-Clause
"""Messages that their receivers do not expect, in one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ctypes import POINTER, byref, c_int, c_int64, c_void_p, string_at
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from ._buffers import memory_of
from ._library import addresses, fortran_handle, int64s, ints, lib, must, whole

_HANDLE = POINTER(c_void_p)
lib.nuice_sparse_alltoallv_f.argtypes = [
    c_int,
    POINTER(c_int),
    _HANDLE,
    POINTER(c_int64),
    POINTER(c_int),
    c_int,
    _HANDLE,
]
lib.nuice_received_size.argtypes = [c_void_p, POINTER(c_int)]
lib.nuice_received_message.argtypes = [c_void_p, c_int, POINTER(c_int), POINTER(c_int64), _HANDLE]
lib.nuice_received_free.argtypes = [_HANDLE]
for _name in ("sparse_alltoallv_f", "received_size", "received_message", "received_free"):
    getattr(lib, f"nuice_{_name}").restype = c_int


def sparse_alltoallv(
    comm: MPI.Intracomm, messages: Mapping[int, Any] | Iterable[tuple[int, Any]], dtype: Any = np.uint8
) -> list[tuple[int, NDArray[Any]]]:
    """Collective. Sends messages and returns the messages to this rank, as a list of pairs (sender, array of
    dtype). The list is sorted by sender; messages of one sender are in the order in which they were sent.
    messages: {rank: buffer}, or (rank, buffer) pairs. Messages to this rank itself and several messages to
    one rank are allowed; empty messages are not sent. If a rank lists a destination that does not exist, all
    ranks raise nuice.Error with code "invalid_argument". If a rank passes an argument of a wrong kind, this
    rank raises TypeError or BufferError.
    """
    fortran, handle = fortran_handle(comm), c_void_p()
    try:
        pairs = list(messages.items() if isinstance(messages, Mapping) else messages)
        ranks = [whole(rank, "a rank", bits=32) for rank, _ in pairs]
        memories = [memory_of(buffer, False) for _, buffer in pairs]
    except Exception:
        lib.nuice_sparse_alltoallv_f(-1, None, None, None, None, fortran, byref(handle))  # all ranks fail
        raise
    must(
        lib.nuice_sparse_alltoallv_f(
            len(pairs),
            ints(ranks),
            addresses([memory.address for memory in memories]),
            int64s([memory.nbytes for memory in memories]),
            ints([MPI.BYTE.py2f()] * len(pairs)),
            fortran,
            byref(handle),
        )
    )
    try:
        count = c_int()
        must(lib.nuice_received_size(handle, byref(count)))
        return [_message(handle, i, np.dtype(dtype)) for i in range(count.value)]
    finally:
        lib.nuice_received_free(byref(handle))


def _message(handle: c_void_p, i: int, dtype: np.dtype[Any]) -> tuple[int, NDArray[Any]]:
    rank, size, data = c_int(), c_int64(), c_void_p()
    must(lib.nuice_received_message(handle, i, byref(rank), byref(size), byref(data)))
    assert data.value is not None
    return rank.value, np.frombuffer(bytearray(string_at(data.value, size.value)), dtype)

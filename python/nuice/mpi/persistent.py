# SPDX-License-Identifier: BSD-3-Clause
"""MPI's persistent exchanges, planned: Alltoallv_init and its variants, with the buffers of mpi4py."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_int64, c_void_p
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from ._buffers import dtype_of, memory_of
from ._library import fortran_handle, ints, lib, must, option_text, whole
from .exchange import Exchange

NEIGHBOR, TYPES = 1, 2  # NUICE_CALL_...


class _Blocks(Structure):
    """The struct nuice_blocks_f."""

    _fields_ = (
        ("data", c_void_p),
        ("bytes", c_int64),
        ("stride", c_int64),
        ("num_blocks", c_int64),
        ("counts", c_void_p),
        ("displs", c_void_p),
        ("count_bytes", c_int),
        ("displ_bytes", c_int),
        ("num_types", c_int64),
        ("types", POINTER(c_int)),
    )


lib.nuice_alltoallv_init_f.argtypes = [
    c_int,
    POINTER(_Blocks),
    POINTER(_Blocks),
    c_int,
    c_char_p,
    c_char_p,
    POINTER(c_void_p),
]
lib.nuice_alltoallv_init_f.restype = c_int


def Alltoallv_init(
    comm: MPI.Intracomm, sendbuf: Any, recvbuf: Sequence[Any], options: str = "", **named: object
) -> Exchange:
    """Collective. Plans an exchange with the arguments of comm.Alltoallv_init(sendbuf, recvbuf). options: as
    for Plan; the default scheduler is auto. sendbuf, recvbuf: [buffer, counts] or [buffer, (counts, displs)],
    optionally followed by a datatype; sendbuf may be MPI.IN_PLACE. A buffer is a NumPy array, or an object
    with Python's buffer protocol, with DLPack or, in GPU memory, with __cuda_array_interface__.

    Raises nuice.Error, the same on all ranks: with code "invalid_argument" for a negative count, and for
    receive blocks that overlap or lie outside the buffer; with code "mismatch" if a rank expects a different
    number of bytes than is sent to it (the text names both ranks). If a rank passes an argument of a wrong
    kind, this rank raises TypeError or ValueError.
    """
    return _init(0, comm, sendbuf, recvbuf, options, named)


def Alltoallw_init(
    comm: MPI.Intracomm, sendbuf: Any, recvbuf: Sequence[Any], options: str = "", **named: object
) -> Exchange:
    """Collective. Plans an exchange like Alltoallv_init, but with [buffer, (counts, displs), types] or
    [buffer, counts, displs, types]: each block has its own type, and displacements are in bytes.
    """
    return _init(TYPES, comm, sendbuf, recvbuf, options, named)


def Neighbor_alltoallv_init(
    comm: MPI.Intracomm, sendbuf: Any, recvbuf: Sequence[Any], options: str = "", **named: object
) -> Exchange:
    """Collective. Calls Alltoallv_init with one block for each neighbour of a communicator that has a
    topology.
    """
    return _init(NEIGHBOR, comm, sendbuf, recvbuf, options, named)


def Neighbor_alltoallw_init(
    comm: MPI.Intracomm, sendbuf: Any, recvbuf: Sequence[Any], options: str = "", **named: object
) -> Exchange:
    """Collective. Calls Alltoallw_init with one block for each neighbour of a communicator that has a
    topology.
    """
    return _init(NEIGHBOR + TYPES, comm, sendbuf, recvbuf, options, named)


def _init(
    call: int, comm: MPI.Intracomm, send: Any, receive: Any, options: str, named: dict[str, object]
) -> Exchange:
    handle, fortran = c_void_p(), fortran_handle(comm)
    try:
        sides = [_side(send, False, call), _side(receive, True, call)]
        text = option_text(options, named)
    except Exception as error:
        nothing = _Blocks()
        wrong = str(error).encode() or b"wrong arguments"
        lib.nuice_alltoallv_init_f(
            call, byref(nothing), byref(nothing), fortran, b"", wrong, byref(handle)
        )  # makes it an error of all ranks
        raise
    (from_, keep_from), (to, keep_to) = sides
    must(lib.nuice_alltoallv_init_f(call, byref(from_), byref(to), fortran, text, b"", byref(handle)))
    return Exchange(handle, (keep_from, keep_to))


def _side(given: Any, writable: bool, call: int) -> tuple[_Blocks, object]:
    if not writable and isinstance(given, type(MPI.IN_PLACE)) and given == MPI.IN_PLACE:
        return _Blocks(data=c_void_p(int(MPI.IN_PLACE))), None
    buffer, counts, displs, types = _parts(given, bool(call & TYPES))
    memory = memory_of(buffer, writable)
    datatypes = [_datatype(one) for one in ([dtype_of(buffer).char] if types is None else types)]
    numbers = _integers(counts, "a count")
    if displs is None:
        if call & TYPES:
            raise TypeError("displacements in bytes are needed")
        places = np.concatenate(([0], np.cumsum(numbers)[:-1])).astype(np.int64)[: len(numbers)]
    else:
        places = _integers(displs, "a displacement")
    handles = ints([one.py2f() for one in datatypes])
    if len(numbers) != len(places):
        raise ValueError(f"{len(numbers)} counts and {len(places)} displs")
    blocks = _Blocks(
        memory.address,
        memory.nbytes,
        0,
        len(numbers),
        numbers.ctypes.data,
        places.ctypes.data,
        numbers.itemsize,
        places.itemsize,
        len(datatypes),
        handles,
    )
    return blocks, (memory.keep, numbers, places, handles)


def _parts(given: Any, each_has_a_type: bool) -> tuple[Any, Any, Any, Sequence[Any] | None]:
    """Returns buffer, counts, displs or None, types or None."""
    buffer, *rest = given
    types = None
    if each_has_a_type:
        types = list(rest.pop())
    elif rest and isinstance(rest[-1], (MPI.Datatype, str)):
        types = [rest.pop()]
    if len(rest) == 2:
        return buffer, rest[0], rest[1], types
    if len(rest) != 1:
        raise TypeError("give [buffer, (counts, displs), type]")
    counts = rest[0]
    if isinstance(counts, tuple) and len(counts) == 2 and np.ndim(counts[0]) == 1:
        return buffer, counts[0], counts[1], types
    return buffer, counts, None, types


def _integers(values: Any, what: str) -> NDArray[Any]:
    """Returns integers as an array, without a copy if possible."""
    if isinstance(values, np.ndarray) and values.dtype in (np.int32, np.int64):
        return np.ascontiguousarray(values)
    return np.array([whole(one, what) for one in values], np.int64)


def _datatype(given: MPI.Datatype | str) -> MPI.Datatype:
    return given if isinstance(given, MPI.Datatype) else MPI.Datatype.fromcode(given)

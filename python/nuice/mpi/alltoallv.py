# SPDX-License-Identifier: BSD-3-Clause
"""MPI's exchanges in one call: alltoallv and its variants, with the buffers of mpi4py."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import POINTER, byref, c_char_p, c_int
from typing import Any

from mpi4py import MPI

from ._library import fortran_handle, lib, must, require_mpi
from .persistent import NEIGHBOR, TYPES, _Blocks, _side

lib.nuice_alltoallv_f.argtypes = [c_int, POINTER(_Blocks), POINTER(_Blocks), c_int, c_char_p]
lib.nuice_alltoallv_f.restype = c_int


def alltoallv(comm: MPI.Intracomm, sendbuf: Any, recvbuf: Sequence[Any]) -> None:
    """Collective. Exchanges data like comm.Alltoallv(sendbuf, recvbuf), with the arguments of Alltoallv_init.
    No plan is made, so any rank may use other counts in every call. The library
    keeps the last 16 different sets of arguments with the communicator; a call with one of these sets needs
    no set-up.

    The first call on a communicator raises the errors of Alltoallv_init, the same on all ranks. If a later
    call fails on one rank, every other rank raises the error in the same call or in its next call, and all
    later calls on the communicator raise it too. If a rank passes an argument of a wrong kind, this rank
    raises TypeError or ValueError.
    """
    _call(0, comm, sendbuf, recvbuf)


def alltoallw(comm: MPI.Intracomm, sendbuf: Any, recvbuf: Sequence[Any]) -> None:
    """Collective. Calls alltoallv with the arguments of Alltoallw_init: each block has its own type, and
    displacements are in bytes.
    """
    _call(TYPES, comm, sendbuf, recvbuf)


def neighbor_alltoallv(comm: MPI.Intracomm, sendbuf: Any, recvbuf: Sequence[Any]) -> None:
    """Collective. Calls alltoallv with one block for each neighbour of a communicator that has a topology."""
    _call(NEIGHBOR, comm, sendbuf, recvbuf)


def neighbor_alltoallw(comm: MPI.Intracomm, sendbuf: Any, recvbuf: Sequence[Any]) -> None:
    """Collective. Calls alltoallw with one block for each neighbour of a communicator that has a topology."""
    _call(NEIGHBOR + TYPES, comm, sendbuf, recvbuf)


def _call(call: int, comm: MPI.Intracomm, send: Any, receive: Any) -> None:
    require_mpi()
    fortran = fortran_handle(comm)
    try:
        from_, to = _side(send, False, call), _side(receive, True, call)
    except Exception as error:
        nothing = _Blocks()
        wrong = str(error).encode() or b"wrong arguments"
        lib.nuice_alltoallv_f(call, byref(nothing), byref(nothing), fortran, wrong)  # an error of all ranks
        raise
    must(lib.nuice_alltoallv_f(call, byref(from_[0]), byref(to[0]), fortran, b""))

# SPDX-License-Identifier: BSD-3-Clause
"""Finds and loads libnuice for the MPI that mpi4py has loaded, and declares the functions that are called.

Communicators and datatypes are passed as Fortran handles, which are ints in every MPI (the functions that end
in _f). So this module works with every MPI; only the library differs. The library is searched for in this
order: $NUICE_LIBRARY (a path); next to this file, where a wheel puts lib/libnuice-<mpi>.so; <prefix>/lib of
this Python; the search path of the system's loader.
"""

from __future__ import annotations

import ctypes
import operator
import os
import sys
from ctypes import CDLL, POINTER, c_char_p, c_double, c_int, c_int64, c_void_p
from pathlib import Path
from typing import Any, NoReturn

try:
    from mpi4py import MPI
except ImportError as missing:
    raise ImportError("nuice.mpi needs mpi4py: pip install 'nuice[mpi]'", name="mpi4py") from missing

from ..errors import Error

SONAME = "libnuice.so.1"
MPI_ABI_COMM_WORLD = 0x101  # the value in the MPI 5 standard


def _mpi_of_mpi4py() -> str:
    """Returns the kind of handles that mpi4py has: "openmpi", "mpich" or "mpi_abi"."""
    if MPI._sizeof(MPI.Comm) == ctypes.sizeof(c_int):
        return "mpich"
    handle = c_void_p.from_address(MPI._addressof(MPI.COMM_WORLD)).value
    return "mpi_abi" if handle == MPI_ABI_COMM_WORLD else "openmpi"


def _candidates(mpi: str) -> list[str]:
    if chosen := os.environ.get("NUICE_LIBRARY"):
        return [chosen]
    beside = Path(__file__).parent / "lib" / f"libnuice-{mpi}.so"
    prefix = Path(sys.prefix) / "lib" / SONAME
    return [str(path) for path in (beside, prefix) if path.exists()] + [SONAME]


def _load(mpi: str) -> tuple[CDLL, str]:
    refused: list[str] = []
    for path in _candidates(mpi):
        try:
            library = CDLL(path)
        except OSError as error:
            refused.append(f"{path}: {error}")
            continue
        name = library.nuice_mpi_name
        name.restype = c_char_p
        if (built_with := name().decode()) == mpi:
            return library, path
        refused.append(f"{path}: built with {built_with or 'no MPI'}")
    version = MPI.Get_library_version().splitlines()[0]
    raise ImportError(
        f"mpi4py runs on {mpi} ({version}), and there is no libnuice for it: {'; '.join(refused)}. "
        "Build nuice with the mpicc of that MPI, or set NUICE_LIBRARY to such a libnuice.so"
    )


mpi_name: str = _mpi_of_mpi4py()
_lib, library_path = _load(mpi_name)

_HANDLE = POINTER(c_void_p)
_INT64S = POINTER(c_int64)
_INTS = POINTER(c_int)
_ADDRESSES = POINTER(c_void_p)
_PROTOTYPES: dict[str, list[object]] = {
    "nuice_plan_create_f": [c_int, c_int, _INTS, _INT64S, c_char_p, _HANDLE],
    "nuice_plan_num_partners": [c_void_p, _INTS, _INTS],
    "nuice_plan_destinations": [c_void_p, _INTS, _INT64S],
    "nuice_plan_sources": [c_void_p, _INTS, _INT64S],
    "nuice_plan_follow": [c_void_p, c_int, _INTS, _INT64S, _HANDLE],
    "nuice_plan_follow_on_f": [c_void_p, c_int, _HANDLE],
    "nuice_plan_figure": [c_void_p, c_char_p, POINTER(c_double)],
    "nuice_plan_text": [c_void_p, c_char_p, POINTER(c_char_p)],
    "nuice_plan_bind": [c_void_p, _ADDRESSES, _ADDRESSES, c_int, _HANDLE],
    "nuice_plan_bind_fields_f": [
        c_void_p,
        c_int,
        *(2 * [_ADDRESSES, _INTS, _INT64S, _INT64S]),
        c_int,
        _HANDLE,
    ],
    "nuice_plan_refuse": [c_void_p, c_char_p],
    "nuice_plan_free": [_HANDLE],
    "nuice_exchange_start": [c_void_p],
    "nuice_exchange_start_on": [c_void_p, c_void_p],
    "nuice_exchange_wait_on": [c_void_p, c_void_p],
    "nuice_exchange_test": [c_void_p, _INTS],
    "nuice_exchange_wait": [c_void_p],
    "nuice_exchange_next": [c_void_p, _INTS],
    "nuice_exchange_poll": [c_void_p, _INTS],
    "nuice_ready": [c_void_p, c_int],
    "nuice_arrived": [c_void_p, c_int, _INTS],
    "nuice_exchange_is_under_way": [c_void_p, _INTS],
    "nuice_exchange_text": [c_void_p, c_char_p, POINTER(c_char_p)],
    "nuice_exchange_free": [_HANDLE],
    "nuice_waitall": [c_int, _ADDRESSES],
    "nuice_waitany": [c_int, _ADDRESSES, _INTS],
    "nuice_testsome": [c_int, _ADDRESSES, _INTS, _INTS],
    "nuice_halo_create_ranges_f": [c_int, _INT64S, c_int64, _INT64S, c_int64, c_char_p, _HANDLE],
    "nuice_halo_create_owners_f": [c_int, c_int64, _INTS, c_int64, _INT64S, c_int64, c_char_p, _HANDLE],
    "nuice_halo_create_list_f": [c_int, c_int64, _INT64S, c_int64, _INT64S, c_int64, c_char_p, _HANDLE],
    "nuice_halo_num_entries": [c_void_p, _INT64S, _INT64S],
    "nuice_halo_ghosts": [c_void_p, _INT64S],
    "nuice_halo_local_indices": [c_void_p, c_int64, _INT64S, _INT64S],
    "nuice_halo_set_wires": [c_void_p, c_int, _INTS],
    "nuice_halo_bind_gather": [c_void_p, c_int, _ADDRESSES, _ADDRESSES, _INT64S, _HANDLE],
    "nuice_halo_bind_scatter_f": [c_void_p, c_int, _ADDRESSES, _ADDRESSES, _INTS, _INTS, c_int, _HANDLE],
    "nuice_halo_agree": [c_void_p, c_int64, c_char_p],
    "nuice_halo_refuse": [c_void_p, c_char_p],
    "nuice_halo_free": [_HANDLE],
}
for _name, _types in _PROTOTYPES.items():
    getattr(_lib, _name).argtypes = _types
    getattr(_lib, _name).restype = c_int
_lib.nuice_error_text.restype = c_char_p
_lib.nuice_status_name.restype = c_char_p
_lib.nuice_status_name.argtypes = [c_int]

lib = _lib


def fail(status: int) -> NoReturn:
    """Returns the error of this thread's last failed call."""
    raise Error(lib.nuice_error_text().decode(errors="replace"), lib.nuice_status_name(status).decode())


def must(status: int) -> None:
    if status:
        fail(status)


def text_of(error: Exception) -> bytes:
    """Returns the text of an error for the other ranks."""
    return (str(error) or type(error).__name__).replace("\0", "").encode(errors="replace")


def whole(value: Any, what: str, bits: int = 64) -> int:
    """Returns the value as an integer of the given number of bits. (ctypes would drop its upper bits, and
    int() would drop its fraction.) Raises TypeError if the value is not a whole number, and Error with code
    "limit" if it does not fit.
    """
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what}: {value!r} is not a whole number") from None
    if not -(2 ** (bits - 1)) <= number < 2 ** (bits - 1):
        raise Error(f"{what}: {number} does not fit into {bits} bits", "limit")
    return number


def ints(values: list[int]) -> ctypes.Array[c_int]:
    return (c_int * len(values))(*values)


def int64s(values: list[int]) -> ctypes.Array[c_int64]:
    return (c_int64 * len(values))(*values)


def addresses(values: list[int]) -> ctypes.Array[c_void_p]:
    return (c_void_p * len(values))(*values)


def require_mpi() -> None:
    """Checks that MPI is initialised and not finalised, because otherwise a call of MPI would end the
    program."""
    if not MPI.Is_initialized() or MPI.Is_finalized():
        raise Error("MPI is needed here, between MPI.Init() and MPI.Finalize()", "state")


def fortran_handle(comm: MPI.Intracomm) -> int:
    if not isinstance(comm, MPI.Comm):
        raise TypeError(f"{comm!r} is not a communicator of mpi4py")
    if comm in (MPI.COMM_NULL, MPI.COMM_WORLD, MPI.COMM_SELF) or MPI.Is_finalized():
        require_mpi()  # other communicators may belong to a session
    return comm.py2f()


def name_text(name: str) -> bytes:
    """Returns a name as bytes for C. Raises Error for a zero byte, because C would ignore everything after
    it."""
    if not isinstance(name, str):
        raise TypeError(f"{name!r} is not text")
    if "\0" in name:
        raise ValueError(f"{name!r} has a zero in it")
    return name.encode()


def option_text(options: str, named: dict[str, object]) -> bytes:
    """Returns options as a string. "auto" becomes scheduler=auto, True becomes true, and a value with blanks
    is put in quotes.
    """
    if not isinstance(options, str):
        raise TypeError(f"options are a text, not {options!r}")
    text = options if "=" in options or not options.strip() else f"scheduler={options.strip()}"
    for name, value in named.items():
        word = str(value).lower() if isinstance(value, bool) else str(value)
        text += f" {name}={word}" if word.split() == [word] else f' {name}="{word}"'
    return name_text(text)

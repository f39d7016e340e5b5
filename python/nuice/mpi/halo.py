# SPDX-License-Identifier: BSD-3-Clause
"""Ghost entries of a distributed array, whose messages are found and planned once."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from ctypes import POINTER, byref, c_int, c_int64, c_void_p
from dataclasses import replace
from math import prod
from typing import Any, NoReturn

import numpy as np
from mpi4py import MPI
from numpy.typing import ArrayLike, NDArray

from ..errors import Error
from ._buffers import Memory, memory_of
from ._device import device_array
from ._library import (
    addresses,
    fortran_handle,
    int64s,
    ints,
    lib,
    must,
    option_text,
    require_mpi,
    text_of,
    whole,
)
from .exchange import Exchange


def _indices(values: ArrayLike) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"global indices are integers, not {array.dtype}")
    if array.dtype.kind == "u" and array.size and int(array.max()) >= 2**63:
        raise Error(f"global index {int(array.max())} does not fit into 64 bits", "limit")
    return np.ascontiguousarray(array.ravel(), dtype=np.int64)


def _ranks(values: ArrayLike) -> NDArray[np.intc]:
    array = _indices(values)
    for wrong in array[array != array.astype(np.intc)][:1]:
        raise Error(f"{wrong} is not a rank", "invalid_argument")
    return array.astype(np.intc)


def _addresses(memory: tuple[Memory, Memory]) -> tuple[Any, Any]:
    """Returns the addresses of two arrays. For an array without rows it returns 1, because 0 means a missing
    array."""
    first, second = memory
    return addresses([first.address or 1]), addresses([second.address or 1])


def _at(array: NDArray[Any], kind: Any) -> Any:
    return array.ctypes.data_as(POINTER(kind))


WIRES = ("as_is", "float32", "bfloat16")  # nuice_wire


class Halo:
    """The ghost entries of this rank. Collective over comm.

    needed: the global indices with which this rank works, in any order; owned indices are allowed, but are
    not ghosts. Exactly one of the following arguments gives the owners; all ranks must use the same argument:

      owned=    this rank's own global indices
      ranges=   rank r owns ranges[r] to ranges[r + 1] - 1; equal on all ranks
      owners=   entry g belongs to rank owners[g]; equal on all ranks

    options: as for Plan. entry_bytes: the most frequent size of an entry, in bytes. Arrays have one row per
    entry: shape (entries, ...). Raises nuice.Error, the same on all ranks.
    """

    __slots__ = ("_handle", "_stages", "ghosts", "num_owned")

    num_owned: int
    ghosts: NDArray[np.int64]  # global indices, sorted by owner, then by index

    def __init__(
        self,
        comm: MPI.Intracomm,
        needed: ArrayLike,
        options: str = "",
        *,
        owned: ArrayLike | None = None,
        ranges: ArrayLike | None = None,
        owners: ArrayLike | None = None,
        entry_bytes: int = 8,
        **named: object,
    ) -> None:
        handle, none, fortran = c_void_p(), np.empty(0, np.int64), fortran_handle(comm)
        try:
            if sum(one is not None for one in (owned, ranges, owners)) != 1:
                raise TypeError("give the owners by one of owned=, ranges=, owners=")
            wanted, text = _indices(needed), option_text(options, named)
            each = whole(entry_bytes, "the bytes of an entry")
            rest = (wanted.size, _at(wanted, c_int64), each, text, byref(handle))
            mine = _indices([] if owned is None else owned)
            whose = _ranks([] if owners is None else owners)
            if ranges is not None:
                begins = _indices(ranges)
                if begins.size != comm.size + 1:
                    raise ValueError(
                        f"ranges has {begins.size} numbers for {comm.size} ranks: one more than ranks"
                    )
        except Exception:
            # Makes it an error of all ranks, so that no rank waits for this rank.
            lib.nuice_halo_create_list_f(fortran, 0, None, -1, _at(none, c_int64), 8, b"", byref(handle))
            raise
        if ranges is not None:
            must(lib.nuice_halo_create_ranges_f(fortran, _at(begins, c_int64), *rest))
        elif owners is not None:
            must(lib.nuice_halo_create_owners_f(fortran, whose.size, _at(whose, c_int), *rest))
        else:
            must(lib.nuice_halo_create_list_f(fortran, mine.size, _at(mine, c_int64), *rest))
        self._handle: int | None = handle.value
        self._stages: dict[tuple[Any, ...], tuple[NDArray[Any], NDArray[Any], Exchange]] = {}
        num_owned, num_ghosts = c_int64(), c_int64()
        must(lib.nuice_halo_num_entries(self._handle, byref(num_owned), byref(num_ghosts)))
        self.num_owned = num_owned.value
        self.ghosts = np.empty(num_ghosts.value, np.int64)
        must(lib.nuice_halo_ghosts(self._handle, _at(self.ghosts, c_int64)))
        self.ghosts.flags.writeable = False

    @property
    def num_ghosts(self) -> int:
        return int(self.ghosts.size)

    @property
    def num_entries(self) -> int:
        return self.num_owned + self.num_ghosts

    def local(self, indices: ArrayLike) -> NDArray[np.int64]:
        """Returns the row numbers that belong to global indices, in an array of the owned entries followed by
        the ghosts. Raises nuice.Error for an index that this rank neither owns nor has as a ghost.
        """
        self._require()
        globals_ = _indices(indices)
        locals_ = np.empty_like(globals_)
        must(
            lib.nuice_halo_local_indices(
                self._handle, globals_.size, _at(globals_, c_int64), _at(locals_, c_int64)
            )
        )
        return locals_.reshape(np.shape(indices))

    def gather(self, array: Any) -> Any:
        """Collective. Fetches ghost values. If the array has a row for each owned entry, returns an array of
        the ghost values. If the array also has rows for the ghosts, fills these rows and returns the array.
        Rows must have the same type and shape on all ranks. Every call copies the values, and sums three
        numbers over all ranks so that an invalid array is an error on all ranks; bind_gather() saves these
        costs. An array in GPU memory must have rows for the ghosts, and is bound again in every call.
        """
        if device_array(array) is not None:
            return self._in_place("gather", array)
        array, (owned, ghosts, exchange) = self._stage("gather", array)
        owned[...] = array[: self.num_owned]
        exchange.Start()
        exchange.Wait()
        if array.shape[0] == self.num_owned:
            return ghosts.copy()
        array[self.num_owned :] = ghosts
        return array

    def scatter_add(self, array: Any) -> Any:
        """Collective. Adds the ghosts' values to the owned entries on their owners, by ascending rank, and
        returns the array. The array has rows for the owned entries, followed by rows for the ghosts. Rows
        must have the same type and shape on all ranks. scatter_add() costs as much as gather().
        """
        if device_array(array) is not None:
            return self._in_place("scatter", array)
        array, (owned, ghosts, exchange) = self._stage("scatter", array)
        owned[...] = array[: self.num_owned]
        ghosts[...] = array[self.num_owned :]
        exchange.Start()
        exchange.Wait()
        array[: self.num_owned] = owned
        return array

    def bind_gather(self, owned: Any, ghosts: Any, wire: str = "as_is") -> Exchange:
        """Collective. Returns an exchange that fetches the values of `ghosts` from the arrays `owned` on
        their owners; both arrays must stay valid. wire: "float32" or "bfloat16" rounds doubles for transport,
        with a relative error of at most 2^-24 or 2^-8, respectively.
        """
        self._require()
        try:
            width, dtype = self._width(owned, ghosts)
            self._set_wire(wire, dtype)
            memory = memory_of(owned, False), memory_of(ghosts, True)
        except Exception as error:
            lib.nuice_halo_refuse(self._handle, text_of(error))
            raise
        return self._gather(memory, width * dtype.itemsize)

    def _gather(self, memory: tuple[Memory, Memory], entry_bytes: int) -> Exchange:
        handle, at = c_void_p(), _addresses(memory)
        must(lib.nuice_halo_bind_gather(self._handle, 1, *at, int64s([entry_bytes]), byref(handle)))
        return Exchange(handle, memory)

    def bind_scatter(self, ghosts: Any, owned: Any, op: MPI.Op = MPI.SUM, wire: str = "as_is") -> Exchange:
        """Collective. Returns an exchange that combines the values of `ghosts` into the arrays `owned` on
        their owners; both arrays must stay valid. op: MPI.SUM, PROD, MIN, MAX or REPLACE. wire: as for
        bind_gather(); values are combined as doubles.
        """
        self._require()
        try:
            width, dtype = self._width(owned, ghosts)
            memory = memory_of(ghosts, False), memory_of(owned, True)
            if not dtype.isnative:
                raise TypeError(f"values of type {dtype.str} are in the byte order of other machines")
            if not isinstance(op, MPI.Op):
                raise TypeError(f"{op!r} is not an operation of mpi4py")
            datatype = MPI.Datatype.fromcode(dtype.char)
            self._set_wire(wire, dtype)
        except Exception as error:
            lib.nuice_halo_refuse(self._handle, text_of(error))
            raise
        return self._scatter(memory, width, datatype, op)

    def _scatter(
        self, memory: tuple[Memory, Memory], width: int, datatype: MPI.Datatype, op: MPI.Op
    ) -> Exchange:
        handle, at, types = c_void_p(), _addresses(memory), ints([datatype.py2f()])
        must(
            lib.nuice_halo_bind_scatter_f(
                self._handle, 1, *at, ints([width]), types, op.py2f(), byref(handle)
            )
        )
        return Exchange(handle, memory)

    def Free(self) -> None:
        """Collective. Frees the halo. Exchanges of bind_gather() and bind_scatter() stay usable. A second
        call does nothing.
        """
        if self._handle is None:
            return
        for _, _, exchange in self._stages.values():
            exchange.Free()
        self._stages.clear()
        handle = c_void_p(self._handle)
        must(lib.nuice_halo_free(byref(handle)))
        self._handle = None

    def __enter__(self) -> Halo:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.Free()

    def __repr__(self) -> str:
        if self._handle is None:
            return "<nuice.mpi.Halo, freed>"
        return f"<nuice.mpi.Halo: {self.num_owned} entries, {self.num_ghosts} ghosts>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a halo belongs to this process: it cannot be pickled")

    def _require(self) -> None:
        if self._handle is None:
            raise Error("the halo was freed", "state")
        require_mpi()

    def _set_wire(self, wire: str, dtype: np.dtype[Any]) -> None:
        """Sets the wire of the field that is bound next."""
        if wire not in WIRES:
            raise ValueError(f"wire={wire!r}: one of {', '.join(WIRES)}")
        if wire != "as_is" and dtype != np.float64:
            raise TypeError(f"wire={wire} is for doubles, not for {dtype}")
        must(lib.nuice_halo_set_wires(self._handle, 1, ints([WIRES.index(wire)])))

    def _width(self, owned: Any, ghosts: Any) -> tuple[int, np.dtype[Any]]:
        """Returns the number of values per row and their type, which must be equal in both arrays."""
        rows = []
        for array, entries, name in ((owned, self.num_owned, "owned"), (ghosts, self.num_ghosts, "ghosts")):
            form = array if isinstance(array, np.ndarray) else device_array(array)
            is_by_rows = isinstance(form, np.ndarray) or (form is not None and form.is_by_rows)
            if (
                form is None
                or not is_by_rows
                or form.dtype is None
                or not form.shape
                or form.shape[0] != entries
            ):
                shape: Sequence[int] | str = getattr(array, "shape", type(array).__name__)
                raise ValueError(f"{name} must be an array with {entries} rows, not {shape}")
            rows.append((prod(form.shape[1:]), form.dtype))
        if rows[0] != rows[1]:
            raise ValueError("owned and ghosts have rows of different shape or type")
        return rows[0]

    def _stage(
        self, kind: str, given: ArrayLike
    ) -> tuple[NDArray[Any], tuple[NDArray[Any], NDArray[Any], Exchange]]:
        """Returns an exchange that is bound to memory of this object, because the caller's addresses may
        differ between calls. Its rows have the type and shape of the array's rows. Collective: no rank starts
        an exchange if another rank has no array.
        """
        self._require()
        try:
            array = np.asarray(given)
            self._check_rows(kind, array)
            key = (kind, array.dtype.str, array.shape[1:])
        except Exception as error:
            self._agree((), error)
            raise
        self._agree(key)
        if key not in self._stages:
            owned = np.zeros((self.num_owned, *array.shape[1:]), array.dtype)
            ghosts = np.zeros((self.num_ghosts, *array.shape[1:]), array.dtype)
            bind = self.bind_gather if kind == "gather" else None
            exchange = bind(owned, ghosts) if bind else self.bind_scatter(ghosts, owned)
            self._stages[key] = (owned, ghosts, exchange)
        return array, self._stages[key]

    def _agree(self, key: tuple[Any, ...], wrong: Exception | None = None) -> None:
        """Collective. Raises Error if the keys of two ranks differ, or if another rank has an error."""
        text = None if wrong is None else text_of(wrong)
        status = lib.nuice_halo_agree(self._handle, zlib.crc32(repr(key).encode()), text)
        if wrong is None:
            must(status)

    def _in_place(self, kind: str, given: Any) -> Any:
        """Collective. Gathers an array in GPU memory, which must have rows for the ghosts too."""
        self._require()
        try:
            memory, array = memory_of(given, True), device_array(given)
            assert array is not None
            if array.dtype is None or not array.is_by_rows or array.shape[:1] != (self.num_entries,):
                raise ValueError(
                    f"{self.num_entries} rows are needed, not {array.what} of shape {array.shape}"
                )
            width, dtype = prod(array.shape[1:]), array.dtype
        except Exception as error:
            self._agree((), error)
            raise
        self._agree((kind, dtype.str, array.shape[1:], "in a GPU's memory"))
        owned_bytes = self.num_owned * width * dtype.itemsize
        owned = replace(memory, nbytes=owned_bytes)
        ghosts = replace(memory, address=memory.address + owned_bytes, nbytes=memory.nbytes - owned_bytes)
        self._set_wire("as_is", dtype)
        if kind == "gather":
            exchange = self._gather((owned, ghosts), width * dtype.itemsize)
        else:
            exchange = self._scatter((ghosts, owned), width, MPI.Datatype.fromcode(dtype.char), MPI.SUM)
        exchange.Start()
        exchange.Wait()
        exchange.Free()
        return given

    def _check_rows(self, kind: str, array: NDArray[Any]) -> None:
        rows = (self.num_entries,) if kind == "scatter" else (self.num_entries, self.num_owned)
        if array.ndim == 0 or array.shape[0] not in rows:
            raise ValueError(
                f"{' or '.join(map(str, rows))} rows are needed, not an array of shape {array.shape}"
            )
        if array.dtype.hasobject:
            raise BufferError("an array of Python objects has no bytes to send")
        if (kind == "scatter" or array.shape[0] != self.num_owned) and not array.flags.writeable:
            raise BufferError("the array is read-only")

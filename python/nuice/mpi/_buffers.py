# SPDX-License-Identifier: BSD-3-Clause
"""Buffers that can be bound: NumPy arrays; objects with Python's buffer protocol, with DLPack or, in GPU
memory, with __cuda_array_interface__; and mpi4py's [buffer, counts, type].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from ._device import DeviceArray, device_array
from ._library import whole


@dataclass(frozen=True)
class Memory:
    """The memory of an object. `keep` must live as long as the address is used."""

    address: int
    nbytes: int
    what: str
    keep: object


@dataclass(frozen=True)
class Field:
    """Elements of an MPI datatype. Partner i has counts[i] elements, which begin displs[i] elements after the
    start.
    """

    memory: Memory
    counts: list[int]
    displs: list[int] | None
    datatype: MPI.Datatype


def _as_array(buffer: Any) -> NDArray[Any]:
    if isinstance(buffer, np.ndarray):
        return buffer
    try:
        view = memoryview(buffer)
    except TypeError:
        pass
    else:
        if not view.contiguous:
            raise BufferError("a memoryview with gaps: give a contiguous one")
        if view.nbytes == 0:
            return np.empty(0, np.uint8)
        return np.frombuffer(view.cast("B"), np.uint8)
    if hasattr(buffer, "__dlpack__"):
        try:
            return np.from_dlpack(buffer)
        except (RuntimeError, BufferError, TypeError, AttributeError) as error:
            where = f"{type(buffer).__name__} is not in memory that the host can read"
            raise BufferError(f"{where}: {error}") from None
    raise TypeError(
        f"{type(buffer).__name__} is not a buffer: give a NumPy array, or an object with the "
        "buffer protocol or DLPack"
    )


def _memory_of_device(array: DeviceArray, writable: bool) -> Memory:
    if not array.is_contiguous:
        raise BufferError(
            "an array in a GPU's memory with gaps: copy it first, or give the whole array and a datatype"
        )
    if writable and array.is_readonly:
        raise BufferError("the receive buffer is read-only")
    return Memory(array.address, array.nbytes, f"{array.what} in a GPU's memory", array.keep)


def memory_of(buffer: Any, writable: bool) -> Memory:
    """Returns the memory of a buffer. Raises TypeError for an object that is not a buffer, and BufferError
    for a buffer that is read-only, has gaps or holds Python objects.
    """
    if (on_device := device_array(buffer)) is not None:
        return _memory_of_device(on_device, writable)
    array = _as_array(buffer)
    if array.dtype.hasobject:
        raise BufferError("an array of Python objects has no bytes to send")
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise BufferError(
            f"an array of shape {array.shape} with strides {array.strides} has gaps: "
            "copy it, or give [array.base, (counts, displs), a datatype that steps over them]"
        )
    if writable and not array.flags.writeable:
        raise BufferError("the receive buffer is read-only")
    address = array.__array_interface__["data"][0] if array.nbytes else 0
    return Memory(address, array.nbytes, f"{array.size} of {array.dtype}", (array, buffer))


def _datatype(given: MPI.Datatype | str) -> MPI.Datatype:
    return given if isinstance(given, MPI.Datatype) else MPI.Datatype.fromcode(given)


def dtype_of(buffer: Any) -> np.dtype[Any]:
    on_device = device_array(buffer)
    if on_device is None:
        return _as_array(buffer).dtype
    if on_device.dtype is None:
        raise TypeError(f"{on_device.what}: MPI has no such type, so name one")
    return on_device.dtype


def is_field(given: Any) -> bool:
    """Returns whether the argument is [buffer, counts, type] or similar, and not a list of buffers."""
    if not isinstance(given, (list, tuple)) or not 2 <= len(given) <= 3:
        return False
    return isinstance(given[-1], (MPI.Datatype, str)) or (len(given) == 2 and isinstance(given[1], tuple))


def field_of(given: Sequence[Any], writable: bool) -> Field:
    """Makes a field from [buffer, counts] or [buffer, (counts, displs)], optionally followed by a
    datatype. The default is the datatype of the array.
    """
    buffer, *rest = given
    memory = None
    if isinstance(rest[-1], (MPI.Datatype, str)):
        datatype = _datatype(rest.pop())
        if isinstance(buffer, np.ndarray) and not buffer.flags.c_contiguous:
            raise BufferError("give the whole array: the datatype says which of its elements travel")
    else:
        datatype = MPI.Datatype.fromcode(dtype_of(buffer).char)
    memory = memory_of(buffer, writable)
    if not rest:
        raise TypeError("[buffer, type] lacks the counts: one for each partner")
    counts, displs = rest[0], None
    if (
        isinstance(counts, tuple)
        and len(counts) == 2
        and not all(isinstance(one, (int, np.integer)) for one in counts)
    ):
        counts, displs = counts
    field = Field(
        memory,
        [whole(count, "a count") for count in counts],
        None if displs is None else [whole(displ, "a displacement") for displ in displs],
        datatype,
    )
    _check_room(field)
    return field


def _check_room(field: Field) -> None:
    _, extent = field.datatype.Get_extent()
    true_lower, true_extent = field.datatype.Get_true_extent()
    if field.displs is not None and len(field.displs) != len(field.counts):
        raise ValueError(f"{len(field.counts)} counts and {len(field.displs)} displs")
    at = 0
    for i, count in enumerate(field.counts):
        begin = at if field.displs is None else field.displs[i]
        at = begin + count
        if count < 0:
            raise ValueError(f"count {i} is {count}")
        end = (at - 1) * extent + true_lower + true_extent
        if count and (begin * extent + true_lower < 0 or end > field.memory.nbytes):
            where = f"elements {begin} to {at - 1} of partner {i}"
            raise ValueError(f"{where} extend beyond a buffer of {field.memory.nbytes} bytes")

# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in GPU memory, as CuPy, PyTorch, Numba and JAX have them. These packages are not imported, and no
data is copied.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

_CUDA, _ROCM = 2, 10  # DLPack's numbers of devices whose memory the host cannot read


@dataclass(frozen=True)
class DeviceArray:
    """An array in GPU memory. `keep` must live as long as the address is used. dtype is None if NumPy has
    no such type.
    """

    address: int
    nbytes: int
    what: str
    dtype: np.dtype[Any] | None
    shape: tuple[int, ...]
    is_contiguous: bool  # with any order of its axes
    is_by_rows: bool  # with C's order of its axes
    is_readonly: bool
    keep: object


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


def _orders(shape: tuple[int, ...], strides: tuple[int, ...] | None, step: int) -> dict[str, bool]:
    """Returns whether the elements are contiguous, and whether they are contiguous in C order. step: the
    stride of contiguous elements."""
    if strides is None or prod(shape) <= 1:
        return {"is_contiguous": True, "is_by_rows": True}

    def follows(order: list[int]) -> bool:
        expected = step
        for axis in order:
            if shape[axis] != 1 and strides[axis] != expected:
                return False
            expected *= shape[axis]
        return True

    axes = list(range(len(shape)))
    is_by_rows = follows(axes[::-1])
    return {"is_contiguous": is_by_rows or follows(axes), "is_by_rows": is_by_rows}


def _from_interface(buffer: Any, interface: dict[str, Any]) -> DeviceArray:
    address, is_readonly = interface["data"]
    dtype = np.dtype(interface["typestr"])
    shape = tuple(interface["shape"])
    return DeviceArray(
        address=address or 0,
        nbytes=prod(shape) * dtype.itemsize,
        what=f"{prod(shape)} of {dtype}",
        dtype=dtype,
        shape=shape,
        **_orders(shape, interface.get("strides"), dtype.itemsize),
        is_readonly=bool(is_readonly) or _is_immutable(buffer),
        keep=buffer,
    )


def _from_capsule(buffer: Any, capsule: object) -> DeviceArray:
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = _Tensor.from_address(pointer(capsule, b"dltensor"))
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    strides = tuple(tensor.strides[i] for i in range(tensor.ndim)) if tensor.strides else None
    kind = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}.get(tensor.code)
    size = tensor.bits * tensor.lanes // 8
    dtype = np.dtype(f"{kind}{size}") if kind is not None and tensor.lanes == 1 else None
    return DeviceArray(
        address=(tensor.data or 0) + tensor.byte_offset if prod(shape) else 0,
        nbytes=prod(shape) * size,
        what=f"{prod(shape)} of {dtype or f'{tensor.bits} bits'}",
        dtype=dtype,
        shape=shape,
        **_orders(shape, strides, 1),
        is_readonly=_is_immutable(buffer),
        keep=(buffer, capsule),  # the capsule keeps the memory until another library takes it over
    )


def _is_immutable(buffer: Any) -> bool:
    """Returns whether an array is immutable. JAX does not say so in its interfaces, but its arrays are."""
    return type(buffer).__module__.split(".")[0] in ("jax", "jaxlib")


def _is_in_dlpack(buffer: Any) -> bool:
    return hasattr(buffer, "__dlpack_device__") and buffer.__dlpack_device__()[0] in (_CUDA, _ROCM)


def device_array(buffer: Any) -> DeviceArray | None:
    """Returns the array in GPU memory; None for host memory, and for objects that are not arrays."""
    if isinstance(buffer, np.ndarray):
        return None
    try:
        interface = getattr(buffer, "__cuda_array_interface__", None)
    except (AttributeError, RuntimeError):  # PyTorch raises it for tensors with gradients
        interface = None
    if interface is None and not _is_in_dlpack(buffer):
        return None
    if _is_immutable(buffer):  # computed once, on streams that are unknown here
        buffer.block_until_ready()
    if interface is not None:
        return _from_interface(buffer, interface)
    # Does not wait for any stream, because start() does.
    return _from_capsule(buffer, buffer.__dlpack__(stream=-1))

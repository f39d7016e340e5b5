# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in a (fake) GPU's memory as CuPy and PyTorch hand them over. Run under mpiexec with the driver's
path; NUICE_LIBRARY is this build's."""

from __future__ import annotations

import ctypes
import sys
from ctypes import c_int32, c_int64, c_size_t, c_uint8, c_uint16, c_uint64, c_void_p

driver = ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)  # as CuPy loads it
driver.cuMemAlloc_v2.argtypes = [c_void_p, c_size_t]
driver.cuMemcpyAsync.argtypes = [c_void_p, c_void_p, c_size_t, c_void_p]
driver.cuStreamSynchronize.argtypes = [c_void_p]
driver.cuStreamCreate.argtypes = [c_void_p, ctypes.c_uint]

try:
    import numpy as np
    from array_laws import Library, exchange_blocks, exchange_halo
    from mpi4py import MPI

    import nuice.mpi
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(0)

WORLD = MPI.COMM_WORLD
ANY_STREAM = None


class OnDevice:
    """Memory of the device with the values of an array."""

    def __init__(self, values: np.ndarray) -> None:
        address = c_void_p()
        assert driver.cuMemAlloc_v2(ctypes.byref(address), max(values.nbytes, 1)) == 0
        self.address, self.values = address.value, np.ascontiguousarray(values)
        self.put(values)

    def put(self, values: np.ndarray) -> None:
        values = np.ascontiguousarray(values)
        driver.cuMemcpyAsync(self.address, values.ctypes.data, values.nbytes, ANY_STREAM)
        driver.cuStreamSynchronize(ANY_STREAM)

    def get(self, stream: c_void_p | None = None) -> np.ndarray:
        values = np.empty_like(self.values)
        driver.cuMemcpyAsync(values.ctypes.data, self.address, values.nbytes, stream)
        driver.cuStreamSynchronize(stream)
        return values


class LikeCuPy(OnDevice):
    strides = None
    readonly = False

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        return {
            "shape": self.values.shape,
            "typestr": self.values.dtype.str,
            "data": (self.address, self.readonly),
            "strides": self.strides,
            "version": 3,
        }


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", ctypes.POINTER(c_int64)),
        ("strides", ctypes.POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


class LikePyTorch(OnDevice):
    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __dlpack__(self, *, stream: int | None = None) -> object:
        assert stream == -1  # no stream has to wait
        shape = (c_int64 * self.values.ndim)(*self.values.shape)
        bits = 8 * self.values.itemsize
        self.tensor = Tensor(self.address, 2, 0, self.values.ndim, 2, bits, 1, shape, None, 0)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [c_void_p, ctypes.c_char_p, c_void_p]
        return new(ctypes.addressof(self.tensor), b"dltensor", None)


class Stream:
    def __init__(self) -> None:
        handle = c_void_p()
        assert driver.cuStreamCreate(ctypes.byref(handle), 1) == 0
        self.ptr = handle.value


def refused(kind: type[Exception], part: str, buffers: object) -> None:
    try:
        nuice.mpi._buffers.memory_of(buffers, True)
    except kind as error:
        assert part in str(error), error
    else:
        raise AssertionError(f"taken: {buffers}")


def exchange_ring(kind: type[OnDevice], stream: Stream | None) -> None:
    right, left = (WORLD.rank + 1) % WORLD.size, (WORLD.rank - 1) % WORLD.size
    values = np.arange(1000.0) + 1000 * WORLD.rank
    send, receive = kind(values), kind(np.zeros(1000))
    with nuice.mpi.Plan(WORLD, {right: values.nbytes}) as plan, plan.bind(send, receive) as exchange:
        for round in range(3):
            send.put(values + round)
            exchange.Start(stream)
            exchange.Wait(stream)
            come = receive.get(None if stream is None else c_void_p(stream.ptr))
            assert np.array_equal(come, np.arange(1000.0) + 1000 * left + round), come
        assert exchange.device.startswith("staged: through pinned memory"), exchange.device
    on_host = np.zeros(1000)
    with nuice.mpi.Plan(WORLD, {right: values.nbytes}) as plan, plan.bind([send], [on_host]) as exchange:
        exchange.Start()
        exchange.Wait()
        assert np.array_equal(on_host, np.arange(1000.0) + 1000 * left + 2)


for kind in (LikeCuPy, LikePyTorch):
    for stream in (None, Stream()):
        exchange_ring(kind, stream)


for kind in (LikeCuPy, LikePyTorch):
    arrays = Library(kind, kind.get, kind.put)
    exchange_blocks(arrays)
    exchange_halo(arrays, Stream())


class LikeJax(LikeCuPy):
    """Its values may still be computed when it is handed over."""

    __module__ = "jaxlib._jax"
    is_ready = False

    def block_until_ready(self) -> None:
        self.is_ready = True


computed = LikeJax(np.zeros(4))
assert nuice.mpi._buffers.memory_of(computed, False).nbytes == 32 and computed.is_ready
refused(BufferError, "read-only", computed)

with_gaps = LikeCuPy(np.zeros((4, 4)))
with_gaps.strides = (64, 8)
refused(BufferError, "with gaps", with_gaps)
with_gaps.strides = (8, 32)  # Fortran's order has none
assert nuice.mpi._buffers.memory_of(with_gaps, True).nbytes == 128
read_only = LikeCuPy(np.zeros(4))
read_only.readonly = True
refused(BufferError, "read-only", read_only)
print("passed", flush=True)

# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of CuPy, PyTorch, Numba and JAX on a real GPU, which all ranks share. Run under mpiexec; needs
NUICE_LIBRARY or an installed nuice. Prints the libraries whose arrays came back right; fails on a wrong
value."""

from __future__ import annotations

import importlib

import numpy as np
from array_laws import WORLD, Library, exchange_blocks, exchange_halo

import nuice.mpi

RIGHT, LEFT = (WORLD.rank + 1) % WORLD.size, (WORLD.rank - 1) % WORLD.size


def of_cupy(cupy):
    """The arrays, a stream, and what makes it the current one."""
    library = Library(cupy.asarray, cupy.asnumpy, lambda array, values: array.set(values))
    return library, cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream.use


def of_torch(torch):
    library = Library(
        lambda values: torch.from_numpy(values).cuda(),
        lambda array: array.cpu().numpy(),
        lambda array, values: array.copy_(torch.from_numpy(values)),
    )
    return library, torch.cuda.Stream(), torch.cuda.stream


def of_numba(numba):
    from numba import cuda

    library = Library(
        cuda.to_device,
        lambda array: array.copy_to_host(),
        lambda array, values: array.copy_to_device(values),
    )
    return library, None, None


LIBRARIES = {"cupy": of_cupy, "torch": of_torch, "numba": of_numba}


def exchange_ring(arrays: Library) -> str:
    values = np.arange(1 << 18, dtype=float)
    send, receive = arrays.to_gpu(values + WORLD.rank), arrays.to_gpu(np.zeros_like(values))
    with nuice.mpi.Plan(WORLD, {RIGHT: values.nbytes}) as plan, plan.bind(send, receive) as exchange:
        for _ in range(3):
            exchange.Start()
            exchange.Wait()
            assert np.array_equal(arrays.to_host(receive), values + LEFT)
        return exchange.device


def exchange_on_stream(arrays: Library, stream, use) -> None:
    """Kernels before and after, with nothing between but the exchange's own order."""
    with use(stream):
        values = np.arange(1 << 22, dtype=float)
        send, receive = arrays.to_gpu(values), arrays.to_gpu(np.zeros_like(values))
        with nuice.mpi.Plan(WORLD, {RIGHT: values.nbytes}) as plan, plan.bind(send, receive) as exchange:
            for _ in range(5):
                for _ in range(20):
                    send += 1.0
                exchange.Start(stream)
                exchange.Wait(stream)
                receive += WORLD.rank
        assert np.array_equal(arrays.to_host(receive), values + 100 + WORLD.rank)


def send_from_jax() -> None:
    import jax

    jax.config.update("jax_enable_x64", True)
    send = jax.jit(lambda: jax.numpy.arange(1000.0) + WORLD.rank)()
    receive = np.zeros(1000)
    with nuice.mpi.Plan(WORLD, {RIGHT: receive.nbytes}) as plan, plan.bind([send], [receive]) as exchange:
        exchange.Start()
        exchange.Wait()
    assert np.array_equal(receive, np.arange(1000.0) + LEFT)


passed = []
for name, of in LIBRARIES.items():
    try:
        arrays, stream, use = of(importlib.import_module(name))
    except ImportError as missing:
        if WORLD.rank == 0:
            print(f"skipped: {missing}", flush=True)
        continue
    path = exchange_ring(arrays)
    exchange_blocks(arrays)
    exchange_halo(arrays)
    if stream is not None:
        exchange_on_stream(arrays, stream, use)
    passed.append(f"{name} ({path})")
try:
    import jax  # noqa: F401
except ImportError as missing:
    if WORLD.rank == 0:
        print(f"skipped: {missing}", flush=True)
else:
    send_from_jax()
    passed.append("jax (sent only)")
assert passed, "no library with arrays on a GPU"
if WORLD.rank == 0:
    print("passed: " + ", ".join(passed), flush=True)

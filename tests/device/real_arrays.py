# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of CuPy, PyTorch, Numba and JAX on a real GPU, which all ranks share. Run under mpiexec; needs
NUICE_LIBRARY or an installed nuice. Prints the libraries whose arrays came back right; fails on a wrong
value."""

from __future__ import annotations

import importlib

import numpy as np
from mpi4py import MPI

import nuice.mpi

WORLD = MPI.COMM_WORLD
RIGHT, LEFT = (WORLD.rank + 1) % WORLD.size, (WORLD.rank - 1) % WORLD.size


def cupy_kind(cupy):
    return cupy.asarray, cupy.asnumpy, cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream.use


def torch_kind(torch):
    stream = torch.cuda.Stream()
    return (
        (lambda values: torch.from_numpy(values).cuda()),
        (lambda array: array.cpu().numpy()),
        stream,
        torch.cuda.stream,
    )


def numba_kind(numba):
    from numba import cuda

    return cuda.to_device, (lambda array: array.copy_to_host()), None, None


KINDS = {"cupy": cupy_kind, "torch": torch_kind, "numba": numba_kind}


def exchange_ring(to_gpu, to_host) -> str:
    values = np.arange(1 << 18, dtype=float)
    send, receive = to_gpu(values + WORLD.rank), to_gpu(np.zeros_like(values))
    with nuice.mpi.Plan(WORLD, {RIGHT: values.nbytes}) as plan, plan.bind(send, receive) as exchange:
        for _ in range(3):
            exchange.Start()
            exchange.Wait()
            assert np.array_equal(to_host(receive), values + LEFT)
        return exchange.device


def exchange_on_stream(to_gpu, to_host, stream, use) -> None:
    """Kernels before and after, with nothing between but the exchange's own order."""
    with use(stream):
        values = np.arange(1 << 22, dtype=float)
        send, receive = to_gpu(values), to_gpu(np.zeros_like(values))
        with nuice.mpi.Plan(WORLD, {RIGHT: values.nbytes}) as plan, plan.bind(send, receive) as exchange:
            for _ in range(5):
                for _ in range(20):
                    send += 1.0
                exchange.Start(stream)
                exchange.Wait(stream)
                receive += WORLD.rank
        assert np.array_equal(to_host(receive), values + 100 + WORLD.rank)


def exchange_blocks(to_gpu, to_host) -> None:
    counts = [100 + 50 * ((WORLD.rank + other) % 3) for other in range(WORLD.size)]
    values = np.arange(float(sum(counts))) + 10000 * WORLD.rank
    expected = np.zeros_like(values)
    WORLD.Alltoallv([values, counts], [expected, counts])
    send, receive = to_gpu(values), to_gpu(np.zeros_like(values))
    with nuice.mpi.Alltoallv_init(WORLD, [send, counts], [receive, counts]) as exchange:
        exchange.Start()
        exchange.Wait()
    assert np.array_equal(to_host(receive), expected)
    receive = to_gpu(np.zeros_like(values))
    nuice.mpi.alltoallv(WORLD, [send, counts], [receive, counts])
    assert np.array_equal(to_host(receive), expected)


def exchange_halo(to_gpu, to_host) -> None:
    begins = [20 * rank for rank in range(WORLD.size + 1)]
    with nuice.mpi.Halo(WORLD, np.arange(0, 20 * WORLD.size, 3), ranges=begins) as halo:
        values = np.arange(2.0 * halo.num_entries).reshape(-1, 2) + 1000 * WORLD.rank
        there = to_gpu(values)
        halo.gather(there)
        expected = values.copy()
        expected[20:] = halo.gather(values[:20].copy())
        assert np.array_equal(to_host(there), expected)
        halo.scatter_add(there)
        assert np.array_equal(to_host(there), halo.scatter_add(expected))


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
for name, kind in KINDS.items():
    try:
        to_gpu, to_host, stream, use = kind(importlib.import_module(name))
    except ImportError as missing:
        if WORLD.rank == 0:
            print(f"skipped: {missing}", flush=True)
        continue
    path = exchange_ring(to_gpu, to_host)
    exchange_blocks(to_gpu, to_host)
    exchange_halo(to_gpu, to_host)
    if stream is not None:
        exchange_on_stream(to_gpu, to_host, stream, use)
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

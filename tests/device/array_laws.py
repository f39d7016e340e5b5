# SPDX-License-Identifier: BSD-3-Clause
"""Laws of exchanges of arrays on a GPU, the fake one (device_program.py) or a real one (real_arrays.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from mpi4py import MPI

import nuice.mpi

WORLD = MPI.COMM_WORLD


class Library(NamedTuple):
    """Of arrays on the GPU. All have ended when they return."""

    to_gpu: Callable[[np.ndarray], Any]
    to_host: Callable[[Any], np.ndarray]
    put: Callable[[Any, np.ndarray], object]  # into an array of the GPU's


def exchange_blocks(arrays: Library) -> None:
    """alltoallv_init, in place too, and unexpected messages."""
    counts = [100 + 50 * ((WORLD.rank + other) % 3) for other in range(WORLD.size)]
    values = np.arange(float(sum(counts))) + 10000 * WORLD.rank
    expected = np.zeros_like(values)
    WORLD.Alltoallv([values, counts], [expected, counts])
    send, receive = arrays.to_gpu(values), arrays.to_gpu(np.zeros_like(values))
    with nuice.mpi.Alltoallv_init(WORLD, [send, counts], [receive, counts]) as exchange:
        exchange.Start()
        exchange.Wait()
    assert np.array_equal(arrays.to_host(receive), expected)
    with nuice.mpi.Alltoallv_init(WORLD, MPI.IN_PLACE, [send, counts]) as exchange:
        exchange.Start()
        exchange.Wait()
    assert np.array_equal(arrays.to_host(send), expected)
    arrays.put(send, values)
    for _ in range(2):
        arrays.put(receive, np.zeros_like(values))
        nuice.mpi.alltoallv(WORLD, [send, counts], [receive, counts])
        assert np.array_equal(arrays.to_host(receive), expected)
    right = (WORLD.rank + 1) % WORLD.size
    ((source, come),) = nuice.mpi.sparse_alltoallv(WORLD, {right: receive}, float)
    assert (
        source == (WORLD.rank - 1) % WORLD.size and WORLD.sendrecv(expected, right).tolist() == come.tolist()
    )


def exchange_halo(arrays: Library, stream: object = None) -> None:
    """stream: that the bound exchange starts after."""
    begins = [20 * rank for rank in range(WORLD.size + 1)]
    needed = np.arange(0, 20 * WORLD.size, 3)
    with nuice.mpi.Halo(WORLD, needed, ranges=begins) as halo:
        values = np.arange(2.0 * halo.num_entries).reshape(-1, 2) + 1000 * WORLD.rank
        there = arrays.to_gpu(values)
        assert halo.gather(there) is there
        expected = values.copy()
        expected[20:] = halo.gather(values[:20].copy())
        assert np.array_equal(arrays.to_host(there), expected)
        halo.scatter_add(there)
        assert np.array_equal(arrays.to_host(there), halo.scatter_add(expected))
        owned, ghosts = arrays.to_gpu(values[:20]), arrays.to_gpu(values[20:])
        with halo.bind_gather(owned, ghosts) as exchange:
            exchange.Start(stream)
            exchange.Wait()
        assert np.array_equal(arrays.to_host(ghosts), halo.gather(values[:20].copy()))
        try:
            halo.gather(arrays.to_gpu(values[:19]))
        except ValueError as error:
            assert "rows are needed" in str(error), error
        else:
            raise AssertionError("too few rows")

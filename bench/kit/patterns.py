# SPDX-License-Identifier: BSD-3-Clause
"""Communication matrices, and matrices of equations, that several cases use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np

import nuice
from nuice.airfoil import Mesh, airfoil_mesh, halo_matrix, partition

from .case import Failed

VOLUME = 8 * 65536  # bytes that a rank sends in the cases of a network


@cache
def mesh(points: int) -> Mesh:
    return airfoil_mesh(points)


@cache
def parts(points: int, ranks: int, seed: int = 0) -> np.ndarray:
    return partition(mesh(points), ranks, seed=seed)


def airfoil(points: int, ranks: int, unit_bytes: int = 1, seed: int = 0) -> nuice.CommMatrix:
    """Returns the halo of the mesh around an airfoil, with unit_bytes per point."""
    return halo_matrix(mesh(points), parts(points, ranks, seed), ranks, unit_bytes)


def airfoil_of_volume(points: int, ranks: int, multiple: int = 1) -> nuice.CommMatrix:
    """Returns the halo in which the ranks send VOLUME on average, as near as a multiple of bytes per point
    allows."""
    unit = ranks * VOLUME // nuice.lower_bounds(airfoil(points, ranks)).total_bytes
    return airfoil(points, ranks, unit // multiple * multiple)


def uniform(ranks: int, degree: int, unit_bytes: int, max_units: int = 1) -> nuice.CommMatrix:
    """Returns a matrix in which every rank sends and receives `degree` messages, or fewer if there are not
    enough ranks."""
    return nuice.random_regular(
        ranks, min(degree, ranks - 1), unit_bytes=unit_bytes, max_units=max_units, seed=1
    )


def everybody(ranks: int, unit_bytes: int, max_units: int = 1) -> nuice.CommMatrix:
    return uniform(ranks, ranks - 1, unit_bytes, max_units)


def hot(ranks: int, num_bytes: int) -> nuice.CommMatrix:
    """Returns a matrix in which all other ranks send to rank 0."""
    return nuice.CommMatrix.from_messages(ranks, [(rank, 0, num_bytes) for rank in range(1, ranks)])


def near_and_far(ranks: int, unit_bytes: int) -> nuice.CommMatrix:
    """Returns a matrix in which each rank has four partners on its own switch and four on the other."""
    half = ranks // 2
    steps = [*range(1, 5), *range(half, half + 4)]
    return nuice.CommMatrix.from_messages(
        ranks, [(rank, rank ^ step, unit_bytes) for rank in range(ranks) for step in steps]
    )


def planned(matrix: nuice.CommMatrix, scheduler: str, *seed: int, **how: Any) -> nuice.Plan:
    """Calls nuice.plan(). Raises Failed if the plan is wrong."""
    plan = nuice.plan(matrix, scheduler, *seed, **how)
    if not plan.verified:
        raise Failed(f"{scheduler} is wrong: {plan.violation.text}")
    return plan


def of_network(settings: Mapping[str, Any], quick: bool) -> Iterator[tuple[str, nuice.CommMatrix]]:
    """Yields (name, matrix) of the exchanges on a network with hosts, ranks_per_host and uplink."""
    ranks = settings["hosts"] * settings["ranks_per_host"]
    yield "d=8, 64 KiB", uniform(ranks, 8, 65536)
    if quick:
        return
    if settings["uplink"]:
        yield "4 near, 4 far, 64 KiB", near_and_far(ranks, 65536)
    yield "d=8, 8..256 KiB", uniform(ranks, 8, 8192, 32)
    yield "dense, 32 KiB", everybody(ranks, 32768)
    yield "airfoil 9428", airfoil_of_volume(9428, ranks)
    yield "hot receiver, 64 KiB", hot(ranks, 65536)
    yield "d=8, 1 KiB", uniform(ranks, 8, 1024)


def laplacian(side: int, dimensions: int):
    """Returns SciPy's matrix of five or seven points on a square or in a cube."""
    from scipy.sparse import diags, identity, kron

    line, one = diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(side, side)), identity(side)
    plane = kron(line, one) + kron(one, line)
    return (plane if dimensions == 2 else kron(plane, one) + kron(identity(side * side), line)).tocoo()

# SPDX-License-Identifier: BSD-3-Clause
"""Patterns of real problems: the halos of meshes that this module generates and partitions. Only the numbers
of points come from the papers.

The Euler solvers of 000, 001 and 004 ran on unstructured meshes in three dimensions, which are not available.
(001 cites the meshes of Mavriplis; his wings have 2,800, 9,428 and 53,961 points.) The mesh made here is the
Delaunay triangulation of random points in a cube. Parts are made by recursive coordinate bisection, as was
usual in 1992. A point has five unknowns, which take 20 bytes in single precision; this agrees with the mean
message sizes in the papers.

The conjugate gradient problem is assumed to be the seven-point Laplacian on 32 x 32 x 16 points in single
precision, cut into boxes. Of all grids of 16K points in 32 equal boxes, this grid is closest to the density
and the mean message size in the papers.

Parts are assigned to nodes at random. The reason: in 001 table 12, PS and BS are equally fast on the Euler
meshes. If parts were numbered along the cuts, PS would differ from BS, because PS pairs i with i xor k.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from ._core import CommMatrix
from .airfoil import halo_of_edges

RANKS = 32  # nodes of the papers' CM-5
EULER_BYTES = 5 * 4  # five unknowns a point, single precision
CG_BYTES = 4
CG_GRID = (32, 32, 16)  # 16K unknowns
CG_BOXES = (16, 2, 1)  # boxes along each side, one per rank


def euler(points: int, seed: int, ranks: int = RANKS, unit_bytes: int = EULER_BYTES) -> CommMatrix:
    """Returns the ghosts of a tetrahedral mesh that an edge sweep gathers (000 fig. 10)."""
    edges, part = _tetrahedra(points, seed, ranks)
    return halo_of_edges(edges, _at_random(ranks, seed)[part], ranks, unit_bytes)


def conjugate_gradients(
    seed: int,
    grid: tuple[int, int, int] = CG_GRID,
    boxes: tuple[int, int, int] = CG_BOXES,
    unit_bytes: int = CG_BYTES,
) -> CommMatrix:
    """Returns the matrix of the ghost exchange in a product with the seven-point Laplacian, on a grid that is
    cut into boxes, one box per rank.
    """
    ranks = int(np.prod(boxes))
    number = np.arange(np.prod(grid)).reshape(grid)
    edges, part = [], np.zeros(grid, dtype=np.int64)
    for axis, (side, cuts) in enumerate(zip(grid, boxes, strict=True)):
        along = np.moveaxis(number, axis, 0)
        edges.append(np.stack([along[:-1].ravel(), along[1:].ravel()], axis=1))
        box = np.arange(side) * cuts // side
        part = part * cuts + box.reshape([-1 if a == axis else 1 for a in range(3)])
    owner = _at_random(ranks, seed)[part.ravel()]
    return halo_of_edges(np.concatenate(edges), owner, ranks, unit_bytes)


def _at_random(ranks: int, seed: int) -> NDArray[np.int64]:
    """Returns a random rank for each part."""
    return np.random.Generator(np.random.PCG64([ranks, seed])).permutation(ranks)


def bisect(at: NDArray[np.float64], num_parts: int) -> NDArray[np.int64]:
    """Makes parts by recursive coordinate bisection: halves the longest side until there are enough parts."""
    owner = np.zeros(len(at), dtype=np.int64)

    def cut(points: NDArray[np.int64], begin: int, end: int) -> None:
        if end - begin == 1:
            owner[points] = begin
            return
        axis = np.ptp(at[points], axis=0).argmax()
        ordered = points[np.argsort(at[points, axis], kind="stable")]
        middle = (begin + end) // 2
        lower = len(points) * (middle - begin) // (end - begin)
        cut(ordered[:lower], begin, middle)
        cut(ordered[lower:], middle, end)

    cut(np.arange(len(at)), 0, num_parts)
    return owner


@cache
def _tetrahedra(points: int, seed: int, ranks: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns the edges, and the part of each point."""
    from scipy.spatial import Delaunay

    at = np.random.Generator(np.random.PCG64([points, seed])).random((points, 3))
    corners = Delaunay(at).simplices.astype(np.int64)
    sides = [corners[:, [a, b]] for b in range(4) for a in range(b)]
    edges = np.unique(np.sort(np.concatenate(sides), axis=1), axis=0)
    return edges, bisect(at, ranks)

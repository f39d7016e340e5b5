# SPDX-License-Identifier: BSD-3-Clause
"""Patterns of real problems: halos of meshes that are made here and cut here, with nothing taken from the
printed numbers but the count of points.

The Euler solvers of 000, 001 and 004 ran on unstructured meshes in three dimensions (001 cites Mavriplis's;
2,800, 9,428 and 53,961 points are the sizes of his wings), which are not available. Ours is the Delaunay
triangulation of random points in a cube. Parts are made by recursive coordinate bisection, as was usual in
1992. A point has five unknowns; in single precision they are the 20 bytes that the printed mean sizes of
messages ask for. The conjugate gradient problem is taken to be the five-point Laplacian on 128 x 128 points.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from .._core import CommMatrix
from ..airfoil import halo_of_edges
from .patterns import RANKS

EULER_BYTES = 5 * 4  # five unknowns a point, single precision
CG_BYTES = 8
CG_SIDE = 128  # 16K unknowns


def euler(points: int, seed: int, ranks: int = RANKS, unit_bytes: int = EULER_BYTES) -> CommMatrix:
    """The ghosts of a tetrahedral mesh: what an edge sweep gathers (000 fig. 10)."""
    edges, owner = _tetrahedra(points, seed, ranks)
    return halo_of_edges(edges, owner, ranks, unit_bytes)


def conjugate_gradients(ranks: int = RANKS) -> CommMatrix:
    """The ghosts of a product with the matrix: blocks of a square grid."""
    number = np.arange(CG_SIDE**2).reshape(CG_SIDE, CG_SIDE)
    along, across = (
        np.stack([a.ravel(), b.ravel()], axis=1)
        for a, b in ((number[:, :-1], number[:, 1:]), (number[:-1], number[1:]))
    )
    at = np.stack(np.divmod(number.ravel(), CG_SIDE), axis=1).astype(float)
    return halo_of_edges(np.concatenate([along, across]), bisect(at, ranks), ranks, CG_BYTES)


def transposed(matrix: CommMatrix) -> CommMatrix:
    """The way back: contributions to ghosts return to their owners (000 fig. 10)."""
    src, dst, num_bytes = matrix.entries()
    return CommMatrix.from_arrays(matrix.num_ranks, dst, src, num_bytes)


def bisect(at: NDArray[np.float64], num_parts: int) -> NDArray[np.int64]:
    """Parts by recursive coordinate bisection: halves along the longest side, until there are enough."""
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
    """Edges, and the part of each point."""
    from scipy.spatial import Delaunay

    at = np.random.Generator(np.random.PCG64([points, seed])).random((points, 3))
    corners = Delaunay(at).simplices.astype(np.int64)
    sides = [corners[:, [a, b]] for b in range(4) for a in range(b)]
    edges = np.unique(np.sort(np.concatenate(sides), axis=1), axis=0)
    return edges, bisect(at, ranks)

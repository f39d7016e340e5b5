# SPDX-License-Identifier: BSD-3-Clause
"""The airfoil mesh as input of the numerical programs, and the flows that they write.

Usage:
    mesh = airfoil_mesh(2800)
    save_mesh("airfoil.mesh", mesh)                       # for nuice-euler --mesh
    scipy.io.mmwrite("k.mtx", stiffness_matrix(mesh), symmetry="symmetric")    # for nuice-cg --matrix
    flow = load_flow("flow.vtk")                          # written by nuice-euler --vtk
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .airfoil import Mesh
from .errors import Error
from .files import OutputFiles

_FAR = 2.0  # chords from the middle of the profile; boundary edges farther away are on the far boundary


def counter_clockwise(mesh: Mesh) -> NDArray[np.int64]:
    """Returns the triangles, each with its points in counter-clockwise order."""
    a, b, c = (mesh.points[mesh.triangles[:, i]] for i in range(3))
    ab, ac = b - a, c - a
    turned = ab[:, 0] * ac[:, 1] - ab[:, 1] * ac[:, 0] < 0
    triangles = mesh.triangles.copy()
    triangles[turned] = triangles[turned][:, [0, 2, 1]]
    return triangles


def boundary_edges(mesh: Mesh) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Returns the edges that belong to only one triangle, as pairs of points, and which of these edges lie on
    the profile; the others lie on the far boundary.
    """
    t = mesh.triangles
    ends = np.sort(np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]]), axis=1)
    edges, uses = np.unique(ends, axis=0, return_counts=True)
    rim = edges[uses == 1]
    distance = np.linalg.norm(mesh.points[rim].mean(axis=1) - [0.5, 0.0], axis=1)
    return rim, distance < _FAR


def save_mesh(path: str | os.PathLike[str], mesh: Mesh) -> None:
    """Writes the mesh for nuice-euler (docs/reference/formats.md)."""
    rim, on_wall = boundary_edges(mesh)
    lines = ["nuice-mesh 1", f"points {len(mesh.points)}"]
    lines += [f"{x!r} {y!r}" for x, y in mesh.points.tolist()]
    lines += [f"triangles {len(mesh.triangles)}"]
    lines += [f"{a} {b} {c}" for a, b, c in counter_clockwise(mesh).tolist()]
    lines += [f"boundary {len(rim)}"]
    lines += [f"{a} {b} {'wall' if w else 'far'}" for (a, b), w in zip(rim.tolist(), on_wall, strict=True)]
    with OutputFiles() as out:
        out.temporary(path).write_text("\n".join([*lines, "end", ""]))


def stiffness_matrix(mesh: Mesh) -> Any:
    """Returns the Laplace operator in linear finite elements, a symmetric, positive definite scipy.sparse
    matrix.

    Values are zero on the far boundary, so the matrix has no rows for its points. The other points keep their
    order.
    """
    from scipy import sparse

    triangles = counter_clockwise(mesh)
    corners = mesh.points[triangles]
    opposite = corners[:, [2, 0, 1]] - corners[:, [1, 2, 0]]  # the side opposite each corner
    double_area = opposite[:, 0, 0] * opposite[:, 1, 1] - opposite[:, 0, 1] * opposite[:, 1, 0]
    local = np.einsum("tix,tjx->tij", opposite, opposite) / (2 * double_area)[:, None, None]
    rows = np.repeat(triangles, 3, axis=1).ravel()
    columns = np.tile(triangles, (1, 3)).ravel()
    n = len(mesh.points)
    whole = sparse.csr_matrix((local.ravel(), (rows, columns)), shape=(n, n))
    rim, on_wall = boundary_edges(mesh)
    inside = np.setdiff1d(np.arange(n), rim[~on_wall])
    kept = whole[inside][:, inside]
    return ((kept + kept.T) / 2).tocsr()  # rounding made the two halves differ in the last bit


@dataclass(frozen=True, eq=False)
class Flow:
    points: NDArray[np.float64]  # number of points x 2
    triangles: NDArray[np.int64]  # number of triangles x 3
    values: dict[str, NDArray[np.float64]]  # density, pressure, mach: one number per point


def load_flow(path: str | os.PathLike[str]) -> Flow:
    """Reads a file that nuice-euler --vtk wrote. Raises nuice.Error for another file."""
    try:
        words = Path(path).read_text(encoding="ascii").split()
    except (OSError, UnicodeDecodeError) as error:
        raise Error(f"{path}: {error}", "io") from error
    try:
        return _parse_flow(words)
    except (ValueError, IndexError) as error:
        raise Error(f"{path}: not a flow that nuice-euler wrote", "parse") from error


def _parse_flow(words: list[str]) -> Flow:
    def numbers(begin: int, count: int) -> NDArray[np.float64]:
        values = np.array(words[begin : begin + count], dtype=np.float64)
        if len(values) != count:
            raise ValueError("too short")
        return values

    at = words.index("POINTS")
    num_points = int(words[at + 1])
    points = numbers(at + 3, 3 * num_points).reshape(-1, 3)[:, :2]
    at = words.index("CELLS")
    num_triangles = int(words[at + 1])
    triangles = numbers(at + 3, 4 * num_triangles).reshape(-1, 4)[:, 1:].astype(np.int64)
    values = {}
    for name in ("density", "pressure", "mach"):
        at = words.index(name)
        values[name] = numbers(at + 5, num_points)  # name double 1 LOOKUP_TABLE default
    return Flow(points, triangles, values)

# SPDX-License-Identifier: BSD-3-Clause
"""The airfoil pattern: the halo exchange of an unstructured mesh around a NACA 0012 profile.

Usage:
    mesh = airfoil_mesh(2800)
    owner = partition(mesh, 32, seed=0)
    matrix = halo_matrix(mesh, owner, 32, unit_bytes=1024)

The papers use meshes of 2,800, 9,428 and 53,961 points (004 s.5, test set 3), which are not available. The
meshes made here are two-dimensional, have about the same numbers of points, and are partitioned with METIS
instead of a genetic algorithm.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._core import CommMatrix
from .errors import Error

POINTS_TOLERANCE = 0.02
MIN_POINTS = 100
MAX_POINTS = 5_000_000
_MAX_MESHES = 6

_FAR_RADIUS = 8.0  # radius of the outer boundary, in chords
_NEAR_SIZE = 0.01  # length of the edges on the profile, in chords, before scaling
_GROWTH = 0.09  # growth of this length per chord of distance from the profile
_POINTS_AT_SCALE_1 = 5800.0  # number of points with these values: the first guess


@dataclass(frozen=True, eq=False)
class Mesh:
    """A triangulation of the air around the profile, which lies on the x axis from 0 to 1."""

    points: NDArray[np.float64]  # number of points x 2
    triangles: NDArray[np.int64]  # number of triangles x 3, indices of points

    def edges(self) -> NDArray[np.int64]:
        """The pairs (u, v) of adjacent points with u < v, sorted; each pair occurs once."""
        t = self.triangles
        ends = np.sort(np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]]), axis=1)
        return np.unique(ends, axis=0)


def airfoil_mesh(num_points: int) -> Mesh:
    """Makes a mesh with about `num_points` points, the same in every call, by gmsh.

    Triangles are small at the profile, and larger farther away. The number of points is at most 2 % off;
    if no trial reaches this, the closest mesh is returned. Raises nuice.Error for a number outside
    100..5,000,000.
    """
    if not MIN_POINTS <= num_points <= MAX_POINTS:
        raise Error(f"{num_points} points: an airfoil mesh has {MIN_POINTS} to {MAX_POINTS}")
    gmsh = _mesh_package("gmsh")
    gmsh.initialize(readConfigFiles=False, interruptible=False)
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        _draw_domain(gmsh)
        return _search(gmsh, num_points)
    finally:
        gmsh.finalize()


def partition(mesh: Mesh, num_parts: int, seed: int = 0) -> NDArray[np.int64]:
    """Returns the number of the part of each point. Parts have about equal size, and few edges between them.

    METIS partitions the graph of adjacent points. Raises nuice.Error if a part would be empty.
    """
    pymetis = _mesh_package("pymetis")
    if not 1 <= num_parts <= len(mesh.points):
        raise Error(f"{num_parts} parts of a mesh of {len(mesh.points)} points")
    if num_parts == 1:
        return np.zeros(len(mesh.points), dtype=np.int64)
    starts, neighbours = _adjacency(mesh)
    graph = pymetis.CSRAdjacency(starts, neighbours)
    options = pymetis.Options(seed=seed % 2**31)
    owner = np.asarray(pymetis.part_graph(num_parts, adjacency=graph, options=options)[1], dtype=np.int64)
    empty = np.flatnonzero(np.bincount(owner, minlength=num_parts) == 0)
    if len(empty):
        raise Error(f"METIS left part {empty[0]} of {num_parts} without points: ask for fewer parts")
    return owner


def halo_matrix(mesh: Mesh, owner: NDArray[np.int64], num_parts: int, unit_bytes: int = 1024) -> CommMatrix:
    """Returns COM(i, j) = unit_bytes x the number of points of part i that are adjacent to a point of part
    j != i.
    """
    return halo_of_edges(mesh.edges(), owner, num_parts, unit_bytes)


def halo_of_edges(
    edges: NDArray[np.int64], owner: NDArray[np.int64], num_parts: int, unit_bytes: int
) -> CommMatrix:
    """Returns the matrix of halo_matrix() for any graph. edges[e] has the two ends of edge e; each edge
    occurs once."""
    point = edges.ravel()  # u, v, u, v, ...
    needed_by = owner[edges[:, ::-1].ravel()]  # part of v, of u, ...
    outside = owner[point] != needed_by
    halo = np.unique(np.stack([point[outside], needed_by[outside]]), axis=1)
    pairs, counts = np.unique(owner[halo[0]] * num_parts + halo[1], return_counts=True)
    if len(counts) and int(counts.max()) * unit_bytes > 2**62:
        raise Error(f"a unit of {unit_bytes} bytes makes messages above 2**62 bytes", "limit")
    return CommMatrix.from_arrays(num_parts, pairs // num_parts, pairs % num_parts, counts * unit_bytes)


def _mesh_package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Error(f'{name} is not installed: pip install "nuice[mesh]"', "io") from error
    except OSError as error:  # the wheel of gmsh needs a few system libraries even without a display
        raise Error(f"{name} cannot be loaded: {error}", "io") from error


def _profile(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns half the thickness of NACA 0012 at x; the last coefficient closes the trailing edge."""
    return 0.6 * (0.2969 * np.sqrt(x) - 0.1260 * x - 0.3516 * x**2 + 0.2843 * x**3 - 0.1036 * x**4)


def _draw_domain(gmsh: Any) -> None:
    """Draws a disc without the profile, and sets the length of edges according to the distance from the
    profile.
    """
    gmsh.model.add("airfoil")
    geo = gmsh.model.geo
    x = 0.5 * (1.0 - np.cos(np.linspace(0.0, np.pi, 60)))  # dense at both ends
    nose, tail = geo.addPoint(0.0, 0.0, 0.0), geo.addPoint(1.0, 0.0, 0.0)
    sides = []
    for y in (_profile(x), -_profile(x)):
        between = [geo.addPoint(a, b, 0.0) for a, b in zip(x[1:-1], y[1:-1], strict=True)]
        sides.append(geo.addSpline([nose, *between, tail]))
    centre = geo.addPoint(0.5, 0.0, 0.0)
    east, west = (geo.addPoint(0.5 + d, 0.0, 0.0) for d in (_FAR_RADIUS, -_FAR_RADIUS))
    circle = [geo.addCircleArc(east, centre, west), geo.addCircleArc(west, centre, east)]
    geo.addPlaneSurface([geo.addCurveLoop(circle), geo.addCurveLoop([sides[0], -sides[1]])])
    geo.synchronize()
    _grow_with_distance(gmsh, sides)


def _grow_with_distance(gmsh: Any, curves: list[int]) -> None:
    field = gmsh.model.mesh.field
    distance, size = field.add("Distance"), field.add("Threshold")
    field.setNumbers(distance, "CurvesList", curves)
    field.setNumber(distance, "Sampling", 200)
    field.setNumber(size, "InField", distance)
    field.setNumber(size, "SizeMin", _NEAR_SIZE)
    field.setNumber(size, "SizeMax", _NEAR_SIZE + _GROWTH * _FAR_RADIUS)
    field.setNumber(size, "DistMin", 0.0)
    field.setNumber(size, "DistMax", _FAR_RADIUS)
    field.setAsBackgroundMesh(size)
    for option in ("ExtendFromBoundary", "FromPoints", "FromCurvature"):
        gmsh.option.setNumber(f"Mesh.MeshSize{option}", 0)
    gmsh.option.setNumber("Mesh.Algorithm", 6)  # frontal Delaunay: even triangles
    gmsh.option.setNumber("Mesh.MaxNumThreads2D", 1)


def _search(gmsh: Any, num_points: int) -> Mesh:
    def distance(mesh: Mesh) -> int:
        return abs(len(mesh.points) - num_points)

    scale = (_POINTS_AT_SCALE_1 / num_points) ** 0.5
    meshes: list[Mesh] = []
    for _ in range(_MAX_MESHES):
        meshes.append(_triangulate(gmsh, scale))
        if distance(meshes[-1]) <= POINTS_TOLERANCE * num_points:
            break
        scale *= (len(meshes[-1].points) / num_points) ** 0.5  # points ~ 1 / length**2
    return min(meshes, key=distance)


def _triangulate(gmsh: Any, scale: float) -> Mesh:
    gmsh.model.mesh.clear()
    gmsh.option.setNumber("Mesh.MeshSizeFactor", scale)
    gmsh.model.mesh.generate(2)
    tags, corners = gmsh.model.mesh.getElementsByType(2)
    used, triangles = np.unique(corners, return_inverse=True)  # without the circle's centre
    tags, coordinates, _ = gmsh.model.mesh.getNodes()
    position = np.empty(int(tags.max()) + 1, dtype=np.int64)
    position[tags.astype(np.int64)] = np.arange(len(tags))
    points = coordinates.reshape(-1, 3)[position[used.astype(np.int64)], :2]
    return Mesh(points=points, triangles=triangles.reshape(-1, 3).astype(np.int64))


def _adjacency(mesh: Mesh) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns (starts, neighbours): the neighbours of point v are neighbours[starts[v] : starts[v + 1]]."""
    edges = mesh.edges()
    both = np.concatenate([edges, edges[:, ::-1]])
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    starts = np.searchsorted(both[:, 0], np.arange(len(mesh.points) + 1))
    return starts, both[:, 1].copy()

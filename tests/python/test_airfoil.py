# SPDX-License-Identifier: BSD-3-Clause
"""The airfoil pattern in a small form, recounted point by point."""

from __future__ import annotations

import sys
from collections import defaultdict

import numpy as np
import pytest

import nuice
from nuice import airfoil
from nuice.pattern_figures import airfoil_figures, paper_figures

POINTS, PARTS = 600, 4


@pytest.fixture(scope="module")
def mesh() -> airfoil.Mesh:
    return airfoil.airfoil_mesh(POINTS)


@pytest.fixture(scope="module")
def owner(mesh: airfoil.Mesh) -> np.ndarray:
    return airfoil.partition(mesh, PARTS, seed=0)


def signed_areas(mesh: airfoil.Mesh) -> np.ndarray:
    a, b, c = (mesh.points[mesh.triangles[:, i]] for i in range(3))
    return 0.5 * ((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0])


def test_the_mesh_has_about_the_points_asked_for(mesh: airfoil.Mesh) -> None:
    assert abs(len(mesh.points) - POINTS) <= 0.02 * POINTS


def test_the_mesh_is_a_valid_triangulation_of_the_air(mesh: airfoil.Mesh) -> None:
    used = np.unique(mesh.triangles)
    assert used.tolist() == list(range(len(mesh.points)))  # no point without a triangle
    areas = signed_areas(mesh)
    assert (abs(areas) > 0).all()
    assert (np.sign(areas) == np.sign(areas[0])).all()
    # One hole, the profile: V - E + F = 0. Every edge has one or two triangles.
    t = mesh.triangles
    ends = np.sort(np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]]), axis=1)
    edges, uses = np.unique(ends, axis=0, return_counts=True)
    assert set(uses) == {1, 2}
    assert len(mesh.points) - len(edges) + len(t) == 0
    assert (edges == mesh.edges()).all()
    # The disc of radius 8 without the profile (area 0.0822 for NACA 0012), less what straight edges cut off.
    assert abs(areas).sum() == pytest.approx(np.pi * 64 - 0.0822, rel=0.02)


def test_no_point_lies_inside_the_profile(mesh: airfoil.Mesh) -> None:
    x, y = mesh.points[(mesh.points[:, 0] > 0) & (mesh.points[:, 0] < 1)].T
    half = 0.6 * (0.2969 * np.sqrt(x) - 0.1260 * x - 0.3516 * x**2 + 0.2843 * x**3 - 0.1036 * x**4)
    assert (abs(y) > half - 2e-3).all()
    on_profile = abs(abs(y) - half) < 2e-3
    assert on_profile.sum() > 20  # the profile is resolved


def test_meshes_and_partitions_are_the_same_again(mesh: airfoil.Mesh, owner: np.ndarray) -> None:
    again = airfoil.airfoil_mesh(POINTS)
    assert (again.points == mesh.points).all()
    assert (again.triangles == mesh.triangles).all()
    assert (airfoil.partition(again, PARTS, seed=0) == owner).all()


def test_the_partition_covers_all_points_evenly(mesh: airfoil.Mesh, owner: np.ndarray) -> None:
    assert owner.shape == (len(mesh.points),)
    sizes = np.bincount(owner)
    assert len(sizes) == PARTS
    assert sizes.max() <= 1.05 * len(mesh.points) / PARTS


def test_the_matrix_is_what_an_independent_count_gives(mesh: airfoil.Mesh, owner: np.ndarray) -> None:
    needed: dict[tuple[int, int], set[int]] = defaultdict(set)
    for triangle in mesh.triangles.tolist():
        for u in triangle:
            for v in triangle:
                if owner[u] != owner[v]:
                    needed[owner[u], owner[v]].add(u)
    matrix = airfoil.halo_matrix(mesh, owner, PARTS, unit_bytes=24)
    got = {(s, d): b for s, d, b in (matrix.message(i) for i in range(matrix.num_messages))}
    assert got == {pair: 24 * len(points) for pair, points in needed.items()}
    assert not matrix.self_bytes.any()
    assert all((d, s) in got for s, d in got)  # neighbourhood is mutual
    figures = airfoil_figures(matrix, 24)
    assert figures["length_max"] == max(map(len, needed.values()))
    assert figures["messages_avg"] == len(needed) / PARTS


def test_one_part_needs_nothing(mesh: airfoil.Mesh) -> None:
    assert airfoil.halo_matrix(mesh, airfoil.partition(mesh, 1), 1).num_messages == 0


def test_impossible_wishes_are_refused(mesh: airfoil.Mesh, owner: np.ndarray) -> None:
    with pytest.raises(nuice.Error, match="99 points"):
        airfoil.airfoil_mesh(99)
    with pytest.raises(nuice.Error, match="0 parts"):
        airfoil.partition(mesh, 0)
    with pytest.raises(nuice.Error, match="parts of a mesh"):
        airfoil.partition(mesh, 100_000)
    with pytest.raises(nuice.Error) as caught:
        airfoil.halo_matrix(mesh, owner, PARTS, unit_bytes=2**62)
    assert caught.value.code == "limit"


@pytest.mark.parametrize("points", [2800, 9428])
def test_the_papers_sizes_are_met(points: int) -> None:
    assert abs(len(airfoil.airfoil_mesh(points).points) - points) <= 0.02 * points


def test_the_papers_figures_are_at_hand() -> None:
    assert paper_figures(2800) == {
        "messages_max": 15, "messages_min": 3, "messages_avg": 9.25,
        "length_max": 36, "length_min": 1, "length_avg": 14.2,
    }  # fmt: skip
    assert paper_figures(9428)["length_avg"] == 32.04
    assert paper_figures(53961)["messages_avg"] == 10.81
    assert paper_figures(1000) is None


def test_packages_that_a_user_may_lack_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("gmsh", "pymetis"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(nuice.Error, match=r"gmsh is not installed: pip install .nuice\[mesh\]"):
        airfoil.airfoil_mesh(POINTS)
    three = airfoil.Mesh(np.zeros((3, 2)), np.array([[0, 1, 2]]))
    with pytest.raises(nuice.Error, match="pymetis is not installed"):
        airfoil.partition(three, 2)

# SPDX-License-Identifier: BSD-3-Clause
"""Meshes and matrices for the numerical programs, and pictures of their flows."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
import scipy.io

import nuice
from nuice import airfoil, flow
from nuice.cli.bench import find_program


@pytest.fixture(scope="module")
def mesh() -> airfoil.Mesh:
    return airfoil.airfoil_mesh(300)


def run(folder: Path, *command: str) -> dict:
    """One rank, without mpiexec."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_the_boundary_is_the_profile_and_the_circle(mesh: airfoil.Mesh) -> None:
    rim, on_wall = flow.boundary_edges(mesh)
    radius = np.linalg.norm(mesh.points[rim] - [0.5, 0.0], axis=2)
    assert (radius[on_wall] < 0.6).all()
    assert radius[~on_wall] == pytest.approx(8.0)
    for part in (rim[on_wall], rim[~on_wall]):  # closed lines: every point has two edges
        assert set(np.bincount(part.ravel())) <= {0, 2}


def test_all_triangles_are_counter_clockwise(mesh: airfoil.Mesh) -> None:
    turned = airfoil.Mesh(mesh.points, mesh.triangles[:, [0, 2, 1]])
    for one in (mesh, turned):
        a, b, c = (one.points[flow.counter_clockwise(one)[:, i]] for i in range(3))
        area = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
        assert (area > 0).all()


def test_the_stiffness_matrix_takes_linear_functions_to_zero(mesh: airfoil.Mesh) -> None:
    matrix = flow.stiffness_matrix(mesh)
    assert abs(matrix - matrix.T).max() == 0
    assert np.linalg.eigvalsh(matrix.toarray()).min() > 0
    rim, on_wall = flow.boundary_edges(mesh)
    inside = np.setdiff1d(np.arange(len(mesh.points)), rim[~on_wall])
    # Away from both boundaries the Laplacian of a linear function is zero.
    touched = np.zeros(len(mesh.points), dtype=bool)
    touched[np.unique(mesh.triangles[np.isin(mesh.triangles, rim).any(axis=1)])] = True
    result = matrix @ (mesh.points[inside] @ [2.0, -3.0] + 1)
    assert abs(result[~touched[inside]]).max() < 1e-11


def test_the_command_writes_what_the_programs_read(tmp_path: Path, nuice_command) -> None:
    made = nuice_command("mesh", "--points", 300, "-o", "a.mesh", "--stiffness", "k.mtx", "--json").json()
    assert abs(made["points"] - 300) <= 6
    assert scipy.io.mmread(tmp_path / "k.mtx").shape == (made["rows"], made["rows"])
    solved = run(tmp_path, find_program("nuice-cg"), "--matrix", "k.mtx", "--json")
    assert solved["converged"] and solved["rows"] == made["rows"]
    options = (
        "--mesh",
        "a.mesh",
        "--mach",
        "0.4",
        "--alpha",
        "3",
        "--steps",
        "300",
        "--vtk",
        "f.vtk",
        "--json",
    )
    found = run(tmp_path, find_program("nuice-euler"), *options)
    assert found["points"] == made["points"]
    assert found["findings"]["free_stream"] < 1e-12
    assert found["findings"]["lift"] > 0.05
    drawn = nuice_command("flow", "f.vtk", "-o", "m.png", "--json").json()
    assert drawn["points"] == made["points"]
    assert 0 <= drawn["min"] < 0.4 < drawn["max"] < 1
    assert (tmp_path / "m.png").read_bytes().startswith(b"\x89PNG")
    assert nuice_command("flow", "f.vtk", "-o", "p.svg", "--value", "pressure").status == 0
    assert {p.name for p in tmp_path.iterdir()} == {"a.mesh", "k.mtx", "f.vtk", "m.png", "p.svg"}


def test_bad_input_is_refused(tmp_path: Path, nuice_main) -> None:
    (tmp_path / "no.vtk").write_text("# vtk DataFile Version 3.0\nPOINTS 2 double\n0 0\n")
    for arguments, text in (
        (("flow", "no.vtk", "-o", "m.png"), "no.vtk: not a flow that nuice-euler wrote"),
        (("flow", "none.vtk", "-o", "m.png"), "none.vtk"),
        (("mesh", "--points", 5, "-o", "a.mesh"), "5 points"),
        (("mesh", "--points", 300, "-o", "no/a.mesh"), "no/a.mesh: there is no folder"),
    ):
        outcome = nuice_main(*arguments)
        assert outcome.status == 2, arguments
        assert text in outcome.err
    with pytest.raises(nuice.Error, match="not a flow"):
        flow.load_flow(tmp_path / "no.vtk")

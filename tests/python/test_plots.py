# SPDX-License-Identifier: BSD-3-Clause
"""Pictures: they are drawn for every shape of input, and show the figures that they should."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nuice
from nuice import airfoil, plots
from nuice.plots.plans import _phase_ends

MATRICES = {
    "ordinary": nuice.random_regular(8, 3, max_units=32, seed=1),
    "no messages": nuice.CommMatrix.from_messages(4, []),
    "one rank": nuice.CommMatrix.from_messages(1, [(0, 0, 5)]),
    "wide range": nuice.CommMatrix.from_messages(3, [(0, 1, 1), (1, 2, 2**61)]),
    "more ranks than labels": nuice.random_regular(100, 5, seed=2),
    "more ranks than cells": nuice.random_regular(1500, 2, seed=3),
}
every_matrix = pytest.mark.parametrize("matrix", MATRICES.values(), ids=MATRICES.keys())


def draw(figure, folder: Path) -> None:
    plots.save_figure(figure, folder / "picture.png")
    data = (folder / "picture.png").read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = (int.from_bytes(data[i : i + 4], "big") for i in (16, 20))
    assert 500 <= width <= 3000
    assert 200 <= height <= 4000
    assert data.rstrip().endswith(b"IEND\xaeB`\x82")


@every_matrix
def test_matrices_plans_and_comparisons_are_drawn(matrix: nuice.CommMatrix, tmp_path: Path) -> None:
    draw(plots.draw_matrix(matrix, "a [title] $x"), tmp_path)
    draw(plots.draw_timeline([nuice.plan(matrix, name) for name in ("ac", "coloring")]), tmp_path)
    draw(plots.draw_comparison(nuice.compare(matrix, repeat=1)), tmp_path)


def test_a_matrix_larger_than_the_picture_keeps_its_bytes() -> None:
    matrix = MATRICES["more ranks than cells"]
    image = plots.draw_matrix(matrix).axes[0].images[0].get_array()
    assert max(image.shape) <= 512
    unit = 1024 if image.max() < 1000 else 1
    assert image.sum() * unit == pytest.approx(matrix.bytes.sum())


@every_matrix
@pytest.mark.parametrize("spec", ["fattree:10x10/2", "torus:10x10", "dragonfly:a=4,h=3,p=3"])
def test_fabrics_are_drawn(matrix: nuice.CommMatrix, spec: str, tmp_path: Path) -> None:
    if matrix.num_ranks <= 100:
        draw(plots.draw_fabric(matrix, nuice.make_topology(spec), "a $x"), tmp_path)


def test_a_fabric_shows_what_its_links_carry() -> None:
    """Leaf 0 sends ranks 2 and 4 one message each over the cable of even ranks; ports carry one each."""
    net = nuice.make_topology("fattree:2x3")
    matrix = nuice.CommMatrix.from_messages(6, [(0, 2, 700), (1, 4, 700), (5, 3, 70)])
    loads = plots.fabric.link_loads(matrix, net)
    assert sorted(loads[loads > 0]) == [70, 70, 700, 700, 1400]
    assert net.link(int(loads.argmax())).src == 6 == min(net.link(i).src for i in net.route(0, 2))
    figure = plots.draw_fabric(matrix, net)
    assert "1 of 12 links" in figure.axes[0].get_title()
    assert figure.axes[1].patches[0].get_width() == 2
    assert figure.axes[1].get_yticklabels()[0].get_text() == "switch 0 > switch 3"
    with pytest.raises(ValueError, match="no links"):
        plots.draw_fabric(matrix, nuice.make_topology("crossbar:6"))


def test_the_timeline_of_a_one_port_plan_is_as_long_as_its_phase_bytes() -> None:
    plan = nuice.plan(MATRICES["ordinary"], "rs_n")
    assert _phase_ends(plan)[-1] == plan.phase_bytes


@pytest.mark.parametrize("parts", [3, 20])
def test_meshes_are_drawn_and_touching_parts_differ_in_colour(parts: int, tmp_path: Path) -> None:
    from nuice.plots.patterns import _colour_numbers

    mesh = airfoil.airfoil_mesh(600)
    owner = airfoil.partition(mesh, parts)
    draw(plots.draw_mesh(mesh, owner, parts), tmp_path)
    colours = np.array(_colour_numbers(mesh, owner, parts))
    ends = owner[mesh.edges()]
    between = ends[ends[:, 0] != ends[:, 1]]
    assert (colours[between[:, 0]] != colours[between[:, 1]]).all()


def test_times_are_drawn_in_the_order_given(tmp_path: Path) -> None:
    times = {"exchange_seconds_median": 2e-5, "exchange_seconds_min": 1e-5, "exchange_seconds_max": 9e-4}
    figure = plots.draw_times(
        [{"label": "rs_n phased", "mpi": False, **times}, {"label": "MPI", "mpi": True, **times}], "t"
    )
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["rs_n phased", "MPI"]
    draw(figure, tmp_path)


def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(nuice.Error, match=r"\.png"):
        plots.save_figure(plots.draw_matrix(MATRICES["ordinary"]), tmp_path / "picture.gif")
    assert not list(tmp_path.iterdir())

# SPDX-License-Identifier: BSD-3-Clause
"""The frontier between phases and bytes: its points, its choice, and the command."""

from __future__ import annotations

from itertools import pairwise

import pytest

import nuice


@pytest.fixture(scope="module")
def matrix() -> nuice.CommMatrix:
    return nuice.random_density(24, 0.6, unit_bytes=1000, max_units=32, seed=5)


def test_no_point_beats_another_and_all_are_right(matrix) -> None:
    points = nuice.frontier(matrix, 20e-6, 0.8e-9).points
    assert len(points) >= 2  # fewest phases and fewest bytes are two different schedules here
    for before, after in pairwise(points):
        assert before.plan.phases < after.plan.phases
        assert before.plan.phase_bytes > after.plan.phase_bytes
    assert all(point.plan.verified for point in points)


def test_it_reaches_both_ends(matrix) -> None:
    bounds = nuice.lower_bounds(matrix)
    points = nuice.frontier(matrix, 20e-6, 0.8e-9).points
    assert points[0].plan.phases == bounds.max_degree
    assert points[-1].plan.phase_bytes == bounds.max_port_bytes


def test_the_best_is_the_cheapest_of_all_rows(matrix) -> None:
    for alpha, beta in [(1e-3, 1e-10), (20e-6, 0.8e-9), (1e-9, 1e-9), (0, 1e-9), (1e-6, 0)]:
        found = nuice.frontier(matrix, alpha, beta)
        for comparison in nuice.compare(matrix, repeat=1):
            plan = comparison.plan
            if plan is None or not {"direct", "one_port"} <= set(plan.guarantees):
                continue
            assert found.best.cost_s <= alpha * plan.phases + beta * plan.phase_bytes
        bounds = nuice.lower_bounds(matrix)
        assert found.bound_s == alpha * bounds.max_degree + beta * bounds.max_port_bytes
        assert found.best.cost_s >= found.bound_s * (1 - 1e-12)


def test_a_dear_phase_asks_for_few_and_a_cheap_one_for_few_bytes(matrix) -> None:
    bounds = nuice.lower_bounds(matrix)
    assert nuice.frontier(matrix, 1.0, 1e-12).best.plan.phases == bounds.max_degree
    assert nuice.frontier(matrix, 1e-15, 1e-9).best.plan.phase_bytes == bounds.max_port_bytes


@pytest.mark.parametrize(("alpha", "beta"), [(-1, 1), (1, -1), (0, 0), (float("nan"), 1), (1, float("inf"))])
def test_senseless_costs_are_refused(matrix, alpha: float, beta: float) -> None:
    with pytest.raises(nuice.Error):
        nuice.frontier(matrix, alpha, beta)


def test_the_command(nuice_command, tmp_path, matrix) -> None:
    nuice.save_matrix_market(tmp_path / "m.mtx", matrix)
    done = nuice_command("frontier", "m.mtx", "--alpha-us", "5", "--beta-ns", "0.1", "-o", "m.plan", "--json")
    assert done.status == 0, done.err
    result = done.json()
    assert result["best"] in result["points"]
    assert result["best"]["cost_seconds"] == min(p["cost_seconds"] for p in result["points"])
    assert result["best"]["cost_to_bound"] >= 1
    assert nuice.load_plan(tmp_path / "m.plan", matrix).phases == result["best"]["phases"]
    text = nuice_command("frontier", "m.mtx")
    assert text.status == 0
    assert "above the bound (a model)" in text.out


def test_the_command_refuses_what_has_no_frontier(nuice_command, tmp_path) -> None:
    nuice.save_matrix_market(tmp_path / "m.mtx", nuice.CommMatrix.from_messages(3, []))
    done = nuice_command("frontier", "m.mtx", "-o", "m.plan")
    assert done.status == 2
    assert "no messages" in done.err
    assert not (tmp_path / "m.plan").exists()

# SPDX-License-Identifier: BSD-3-Clause
"""nuice plan-at-scale: what it prints, what it draws, what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from nuice import _core


def figures(nuice_main, *arguments: str) -> dict:
    result = nuice_main("plan-at-scale", *arguments, "--json")
    assert result.status == 0, result.err
    return result.json()


def test_json_has_the_figures(nuice_main) -> None:
    found = figures(nuice_main, "--ranks", "600", "--degree", "20", "--changed", "0.02")
    assert found["ranks"] == 600
    assert found["messages"] == 600 * 20
    assert found["max_degree"] == 20
    assert 20 <= found["phases"] <= 21
    assert 2 <= found["rounds"] <= 250
    assert 20 <= found["messages_per_rank"] <= 20 * 20
    assert 0 < found["memory_per_rank_bytes"] <= 64 * 1024
    assert 0 < found["modelled_seconds"] < 20e-3
    assert set(found["modelled_seconds_by_machine"]) == {"slingshot-dragonfly", "ib-ndr-fattree"}
    assert found["verified"] is True
    assert found["follow"]["verified"] is True
    assert found["follow"]["letters_to_planning"] < 0.2


def test_stencils_take_as_many_phases_as_partners_in_two_rounds(nuice_main) -> None:
    found = figures(nuice_main, "--ranks", "700", "--degree", "26", "--pattern", "stencil")
    assert (found["phases"], found["rounds"]) == (26, 2)


def test_the_seed_decides(nuice_main) -> None:
    def counted(seed: str) -> tuple:
        found = figures(nuice_main, "--ranks", "300", "--degree", "12", "--sizes", "zipf", "--seed", seed)
        return found["rounds"], found["messages_per_rank"], found["phase_bytes"]

    assert counted("3") == counted("3") != counted("4")


def test_it_draws(nuice_main, tmp_path: Path) -> None:
    picture = tmp_path / "scale.png"
    found = figures(nuice_main, "--ranks", "2048", "--degree", "6", "--plot", str(picture))
    assert [point["ranks"] for point in found["series"]] == [1024]
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_people_read_a_table(nuice_main) -> None:
    result = nuice_main("plan-at-scale", "--ranks", "100", "--degree", "5")
    assert result.status == 0
    for word in ("phases", "rounds", "modelled", "verified", "yes"):
        assert word in result.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--pattern", "round"], ["round", "stencil"]),
        (["--sizes", "huge"], ["huge", "zipf"]),
        (["--ranks", "10", "--degree", "10"], ["degree 10"]),
        (["--machine", "abacus"], ["abacus"]),
        (["--changed", "2"], ["changed"]),
    ],
)
def test_what_it_refuses(nuice_main, arguments: list[str], words: list[str]) -> None:
    result = nuice_main("plan-at-scale", *arguments)
    assert result.status == 2
    assert all(word in result.err for word in words)


def test_progress_is_told() -> None:
    told: list[tuple[str, float]] = []
    _core.plan_at_scale(64, 8, "random", "equal", 0, 0.0, lambda step, done: told.append((step, done)))
    assert {"planning", "checking"} <= {step for step, _ in told}
    assert all(0 <= done <= 1 for _, done in told)

# SPDX-License-Identifier: BSD-3-Clause
"""The adviser from Python and the command: one object with the same words, its maps, its errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import nuice
from nuice import advice_map

MATRIX = nuice.random_regular(16, 4, unit_bytes=2048, max_units=32, seed=3)


@pytest.fixture
def matrix_file(tmp_path: Path) -> Path:
    path = tmp_path / "m.mtx"
    nuice.save_matrix_market(path, MATRIX)
    return path


def test_attributes_and_json_are_the_same_object() -> None:
    advice = nuice.advise(MATRIX, "cm5-32", reuse=1000)
    figures = json.loads(advice.to_json())
    assert figures["choice"] == advice.choice.name == advice.candidates[0].name
    assert figures["sentence"] == advice.sentence
    assert figures["decided_by"] == advice.decided_by == "simulation"
    assert figures["contenders"] == advice.num_contenders >= 1
    for c, f in zip(advice.candidates, figures["candidates"], strict=True):
        assert (f["candidate"], f["applicable"], f["why_not"]) == (c.name, c.applicable, c.why_not)
        assert f["total_seconds"] == c.total_s == pytest.approx(c.planning_s / 1000 + c.exchange_s)
        assert f["exchange_to_bound"] == pytest.approx(c.exchange_s / advice.bound_s)
        assert c.name in advice.to_text()
    assert advice.to_json() == nuice.advise(MATRIX, "cm5-32", reuse=1000).to_json()


def test_a_machine_of_ones_own_and_candidates_asked_for() -> None:
    slow_phases = nuice.find_machine("testbed-50mbit").replace(phase_s=1.0)
    asked = ["coloring:phased", "ac", "ac:async"]
    advice = nuice.advise(MATRIX, slow_phases, candidates=asked, predict_by="simulation")
    assert [c.name for c in advice.candidates] == ["ac:async", "coloring:phased"]  # each once
    assert advice.candidates[1].exchange_s > 4
    schedule = nuice.plan(MATRIX, "ac").schedule
    run = nuice.simulate(MATRIX, schedule, slow_phases, "async", blocking_sends=False)
    assert advice.choice.exchange_s == run.seconds


def test_few_uses_forbid_dear_plans() -> None:
    """On a fast network planning counts: what is best for a million uses is not for one."""
    matrix = nuice.random_regular(64, 12, unit_bytes=8192, max_units=32, seed=1)
    once = nuice.advise(matrix, "fattree-ib", 1, predict_by="simulation").choice
    often = nuice.advise(matrix, "fattree-ib", 10**6, predict_by="simulation").choice
    assert once.planning_s <= often.planning_s
    assert once.exchange_s >= often.exchange_s
    refused = [
        c.why_not for c in nuice.advise(matrix, "fattree-ib", 1, predict_by="simulation").candidates[1:]
    ]
    assert any("planning takes" in reason for reason in refused)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"machine": "cray"}, 'unknown machine "cray"'),
        ({"candidates": ["fast"]}, "unknown scheduler"),
        ({"predict_by": "magic"}, 'unknown prediction "magic"'),
        ({"reuse": 0}, "at least once"),
    ],
)
def test_errors(arguments: dict, words: str) -> None:
    with pytest.raises(nuice.Error, match=words):
        nuice.advise(**{"matrix": MATRIX, "machine": "cm5-32", **arguments})


def test_the_command(nuice_main, matrix_file: Path) -> None:
    words = ("advise", matrix_file, "--machine", "ethernet-1g", "--reuse", 500)
    figures = nuice_main(*words, "--json").json()
    advice = nuice.advise(MATRIX, "ethernet-1g", 500, budget_s=3)  # as long as a person waits
    known = {k: v for k, v in figures.items() if k != "file"}
    assert known == json.loads(advice.to_json())
    text = nuice_main(*words)
    assert text.status == 0
    assert advice.sentence in text.out
    for c in advice.candidates[1:]:
        assert f"Not {c.name}: {c.why_not}" in text.out
    mpi = nuice_main(*words, "--candidates", "mpi", "--json").json()
    assert {c["executor"] for c in mpi["candidates"]} == {"async", "phased"}
    rule = nuice_main(*words, "--predict-by", "rule", "--json").json()
    assert {c["predicted_by"] for c in rule["candidates"]} == {"rule"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--machine", "cm5-32"), "FILE.mtx, or --map"),
        (("m.mtx", "--map", "--machine", "cm5-32"), "FILE.mtx, or --map"),
        (("m.mtx", "--plot", "a.png", "--machine", "cm5-32"), "--map"),
        (("m.mtx", "--machine", "cm5-32", "--candidates", ","), "no name in it"),
        (("m.mtx", "--machine", "cm5-32", "--reuse", "0"), "0 is not in 1"),
        (("m.mtx", "--machine", "testbed-fast.toml"), "testbed-fast.toml"),
        (("--map", "--machine", "testbed-fast", "--ranks", "17"), "17"),
    ],
)
def test_errors_of_the_command(nuice_main, matrix_file: Path, words: tuple[str, ...], message: str) -> None:
    done = nuice_main("advise", *words)
    assert done.status == 2
    assert message in done.err
    assert done.out == ""


def test_maps(nuice_main, tmp_path: Path) -> None:
    words = "advise --map --machine cm5-32 --ranks 8 --candidates ac,lp,rs_n --plot map.png --json"
    done = nuice_main(*words.split()).json()
    assert done["degrees"] == [1, 2, 3, 4, 5, 7]
    assert {name for row in done["winner"] for name in row} <= {"ac:async", "lp:phased", "rs_n:phased"}
    assert (tmp_path / "map.png").stat().st_size > 1000
    cell = nuice.advise(
        nuice.random_regular(8, 4, unit_bytes=256, seed=0),
        "cm5-32",
        candidates=["ac", "lp", "rs_n"],
        predict_by="simulation",
    ).choice
    assert done["winner"][3][2] == cell.name
    assert done["total_seconds"][3][2] == cell.total_s
    assert [line["bytes"] for line in done["break_even"]] == done["sizes"]


def test_cgm_does_not_pay_for_short_messages_used_once() -> None:
    """Counting that the matrix must get to all nodes; used often it does for some (003 s.5.1)."""
    assert [line.degree for line in advice_map.break_even("cm5-32", 32, [64, 1024])] == [0, 0]
    often = advice_map.break_even("cm5-32", 32, [64, 16384], reuse=10**6)
    assert 0 < often[0].degree <= often[1].degree


@pytest.mark.parametrize("name", ["ib-hdr-fattree", "ib-ndr-fattree", "roce-pfc", "slingshot-dragonfly"])
def test_where_nothing_is_lost_no_direct_schedule_goes_in_phases(name: str) -> None:
    machine = nuice.find_machine(name)
    assert machine.lossless
    knows_links = machine.routing == "table"
    for candidate in nuice.all_candidates(machine):
        scheduler, executor = candidate.split(":")
        row = nuice.find_scheduler(scheduler)
        if executor in ("phased", "pairwise"):
            assert "direct" not in row.guarantees, candidate
        assert knows_links or not row.needs_topology, candidate
    matrix = nuice.random_regular(32, 6, unit_bytes=200_000, max_units=1, seed=1)
    advice = nuice.advise(matrix, machine, reuse=10**6)
    assert ("adaptive" in advice.sentence) == (machine.routing == "spray")
    choice = advice.candidates[0]
    assert choice.predicted_by == "simulation"
    assert choice.exchange_s >= advice.port_bound_s * (1 - 1e-9)

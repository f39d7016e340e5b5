# SPDX-License-Identifier: BSD-3-Clause
"""Networks in Python and on the command line: contention, and plans that remember theirs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import nuice
from matrices import phases_of

LINK_FREE = [row.name for row in nuice.schedulers() if row.needs_topology]


def test_links_and_what_shares_them() -> None:
    """tests/unit/link_free_test.cpp has contention, bounds and rounds by hand."""
    line = nuice.make_topology("mesh:9")
    matrix = nuice.CommMatrix.from_messages(9, [(3, 8, 10), (4, 5, 10)])
    plan = nuice.plan(matrix, "ac", topology=line)
    found = nuice.find_link_contention(plan.schedule, 0, line)
    assert found is not None and found.kind == "link_contention"
    assert (line.link(found.link).src, line.link(found.link).dst, line.link(found.link).slots) == (4, 5, 1)
    assert {(found.src, found.dst), (found.other_src, found.other_dst)} == {(3, 8), (4, 5)}
    assert found.link in line.route(3, 8) and line.route(4, 5) == [found.link]
    assert (plan.phases, plan.link_rounds) == (1, 2)
    assert (plan.link_bounds.phases, plan.link_bounds.bytes, plan.link_bounds.phases_at) == (
        2,
        20,
        found.link,
    )
    assert plan.figures()["topology"] == "mesh:9"
    assert nuice.link_bounds(matrix, nuice.make_topology("crossbar:9")).phases_at == nuice.NO_LINK


def test_errors() -> None:
    matrix = nuice.random_regular(8, 2)
    plan = nuice.plan(matrix)
    net = nuice.make_topology("mesh:4")
    with pytest.raises(nuice.Error, match="link_free can only be checked with a topology"):
        nuice.check(matrix, plan.schedule, ["link_free"])
    with pytest.raises(nuice.Error, match="mesh:4 has 4 ranks"):
        nuice.plan(matrix, topology=net)
    for call in (
        lambda: net.link(99),
        lambda: net.link(-1),
        lambda: net.route(0, 4),
        lambda: net.route(-1, 0),
    ):
        with pytest.raises(IndexError):
            call()


def test_pairs(nuice_main, tmp_path: Path) -> None:
    both = [(i, j, 5) for i in range(8) for j in range(8) if i != j and (i + j) % 3]
    nuice.save_matrix_market(tmp_path / "s.mtx", nuice.CommMatrix.from_messages(8, both))
    words = ("plan", "s.mtx", "--scheduler", "rs_nl", "--topology", "hypercube:3", "--pairs", "-o", "s.plan")
    assert nuice_main(*words).status == 0
    plan = nuice.load_plan(tmp_path / "s.plan", nuice.load_matrix_market(tmp_path / "s.mtx"))
    for transfers in phases_of(plan.schedule):
        ends = {(t.src, t.dst) for t in transfers}
        assert ends == {(dst, src) for src, dst in ends}


def test_a_plan_remembers_its_network(nuice_main, tmp_path: Path) -> None:
    matrix = nuice.random_regular(16, 6, seed=2)
    nuice.save_matrix_market(tmp_path / "a.mtx", matrix)
    (tmp_path / "two.net").write_text(
        "nuice-network 1\nrank n[0-15]\nswitch s t\ncable n[0-7] s\ncable n[8-15] t\ncable s t 3.9\n"
    )
    words = ("plan", "a.mtx", "--scheduler", "link_coloring", "--topology", "file:two.net", "-o", "a.plan")
    made = nuice_main(*words, "--json")
    assert made.status == 0, made.err
    assert made.json()["topology"] == "file:two.net"
    assert made.json()["rounds_to_bound"] == 1
    assert "\ntopology file:two.net\n" in (tmp_path / "a.plan").read_text()
    assert nuice_main("check", "a.plan", "a.mtx").out.endswith("link_free on file:two.net\n")

    (tmp_path / "two.net").write_text((tmp_path / "two.net").read_text().replace("3.9", "1"))
    wrong = nuice_main("check", "a.plan", "a.mtx", "--json")
    assert wrong.status == 1
    assert wrong.json()["violation"]["kind"] == "link_contention"
    assert "(s -> t), which carries 1 at a time" in wrong.json()["violation"]["text"]
    assert nuice_main("check", "a.plan", "a.mtx", "--topology", "crossbar:16").status == 0
    (tmp_path / "two.net").unlink()
    assert nuice_main("check", "a.plan", "a.mtx").status == 2


def test_check_follows_chosen_paths(nuice_main, tmp_path: Path) -> None:
    matrix = nuice.random_regular(16, 6, seed=2)
    nuice.save_matrix_market(tmp_path / "a.mtx", matrix)
    words = ("plan", "a.mtx", "--scheduler", "path_coloring", "--topology", "fattree:4x4", "-o", "a.plan")
    assert nuice_main(*words, "--json").json()["phases"] == 6
    assert nuice_main("check", "a.plan", "a.mtx").out.endswith("link_free on fattree:4x4\n")
    schedule = nuice.load_plan(tmp_path / "a.plan", matrix).schedule
    paths = [transfer.path for transfers in phases_of(schedule) for transfer in transfers]
    assert schedule.has_paths and set(paths) == {-1, 0, 1, 2, 3}

    text = (tmp_path / "a.plan").read_text()
    for wrong, kind in ((" @0", "link_contention"), (" @4", "bad_path")):
        (tmp_path / "a.plan").write_text(re.sub(" @[0-3]", wrong, text))
        assert nuice_main("check", "a.plan", "a.mtx", "--json").json()["violation"]["kind"] == kind


def test_check_proves_any_plan_on_any_network(nuice_main, tmp_path: Path) -> None:
    matrix = nuice.random_regular(16, 15, seed=2)
    nuice.save_matrix_market(tmp_path / "a.mtx", matrix)
    assert nuice_main("plan", "a.mtx", "--scheduler", "lp", "-o", "lp.plan").status == 0
    # Pairs i xor k share no link under e-cube routing, but do on a mesh.
    assert nuice_main("check", "lp.plan", "a.mtx", "--topology", "hypercube:4").status == 0
    assert nuice_main("check", "lp.plan", "a.mtx", "--topology", "mesh:4x4").status == 1


def test_compare_on_a_network(nuice_main, tmp_path: Path) -> None:
    nuice.save_matrix_market(tmp_path / "a.mtx", nuice.random_regular(16, 8, seed=2))
    result = nuice_main("compare", "a.mtx", "--topology", "torus:4x4", "--json").json()
    assert result["topology"] == "torus:4x4"
    rows = {row["scheduler"]: row for row in result["schedulers"]}
    applicable = [name for name in LINK_FREE if rows[name]["applicable"]]
    assert len(applicable) == len(LINK_FREE)
    assert all(rows[name]["link_rounds"] == rows[name]["phases"] for name in applicable)
    assert rows["coloring"]["link_rounds"] > rows["link_coloring"]["link_rounds"]
    assert rows["link_coloring"]["rounds_to_bound"] < 1.2
    text = nuice_main("compare", "a.mtx", "--topology", "torus:4x4", "--schedulers", "rs_nl,lp")
    assert f"busiest link {result['link_bound_phases']} phases" in text.out
    plain = nuice_main("compare", "a.mtx", "--schedulers", "rs_nl,lp").out
    assert "rs_nl is not applicable: it needs a network" in plain
    assert "rounds" not in plain

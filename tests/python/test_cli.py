# SPDX-License-Identifier: BSD-3-Clause
"""The command as people and programs meet it: output, JSON, pictures."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import nuice
from matrices import MATRIX, network_for, plan_with
from nuice import Piece, Transfer, halos


def is_png(file: Path) -> bool:
    return file.read_bytes().startswith(b"\x89PNG") and file.stat().st_size > 5000


def test_list(nuice_command) -> None:
    text = nuice_command("list")
    assert (text.status, text.err) == (0, "")
    assert "\x1b" not in text.out
    result = nuice_command("list", "--json").json()
    assert [s["name"] for s in result["schedulers"]] == [s.name for s in nuice.schedulers()]
    assert " ".join(p["name"] for p in result["patterns"]) == "random density airfoil euler cg partition"
    assert [k["syntax"] for k in result["topologies"]] == [k.syntax for k in nuice.topology_kinds()]
    for row in (*nuice.schedulers(), *nuice.topology_kinds()):
        assert row.summary in text.out  # wide enough: nothing is folded without a terminal


def test_version_and_help(nuice_command, nuice_main) -> None:
    assert nuice_command("--version").out == f"nuice {nuice.__version__}\n"
    assert "generate" in nuice_main().out
    commands = "list,show,plan,check,compare,broadcast,demo,generate random,generate airfoil"
    for command in commands.split(","):
        shown = nuice_main(*command.split(), "--help")
        assert shown.status == 0
        assert f"nuice {command}" in shown.out.split("Usage", 1)[1].split("╯")[-1], "an example at the end"


def test_no_heavy_package_is_imported_before_it_is_needed() -> None:
    program = "import sys, nuice_command; nuice_command.main(); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program, "--version"], capture_output=True, text=True, check=True
    )
    imported = set(done.stdout.split())
    assert "nuice.cli.app" in imported
    assert not imported & {"numpy", "scipy", "matplotlib", "jinja2", "mpi4py"}


def test_generate_random(nuice_command, tmp_path: Path) -> None:
    line = "generate random --ranks 12 --degree 4 --unit 10 --max-units 32 --seed 7 -o r.mtx"
    result = nuice_command(*line.split(), "--json").json()
    assert (result["ranks"], result["messages"], result["max_degree"]) == (12, 48, 4)
    assert nuice.load_matrix_market(tmp_path / "r.mtx") == nuice.random_regular(12, 4, 10, 32, 7)
    assert "12 ranks, 48 messages" in nuice_command(*line.split()).out


def test_generate_density(nuice_command, tmp_path: Path) -> None:
    line = "generate density --ranks 9 --density 0.5 --seed 18446744073709551615 -o d.mtx"
    assert nuice_command(*line.split()).status == 0
    assert nuice.load_matrix_market(tmp_path / "d.mtx") == nuice.random_density(9, 0.5, seed=2**64 - 1)


def test_generate_airfoil(nuice_command, tmp_path: Path) -> None:
    line = "generate airfoil --points 600 --parts 4 --unit 8 -o m.mtx --mesh-plot m.png --json"
    result = nuice_command(*line.split()).json()
    matrix = nuice.load_matrix_market(tmp_path / "m.mtx")
    assert (matrix.num_ranks, matrix.num_messages) == (4, result["messages"])
    assert set(matrix.bytes % 8) == {0}
    assert abs(result["points"] - 600) <= 12
    assert result["paper"] is None
    assert is_png(tmp_path / "m.png")


def test_generate_airfoil_shows_the_papers_figures_for_32_parts(nuice_command) -> None:
    text = nuice_command("generate", "airfoil", "--points", "2800", "--parts", "32", "-o", "m.mtx").out
    assert "004 s.5" in text
    for printed in ("15", "9.25", "36", "14.2", "genetic algorithm"):
        assert printed in text


def test_generate_the_papers_patterns(nuice_command, tmp_path: Path) -> None:
    """As `nuice reproduce` has them; 001 table 12 prints 44 % of all pairs for Euler 2K, 9 % for CG."""
    words = ["generate", "euler", "--ranks", "32", "--points", "2800", "-o", "e.mtx", "--json"]
    result = nuice_command(*words).json()
    assert 0.35 < result["messages"] / (32 * 31) < 0.5
    assert nuice.load_matrix_market(tmp_path / "e.mtx") == halos.euler(2800, 0)
    result = nuice_command("generate", "cg", "-o", "c.mtx", "--json").json()
    assert result["ranks"] == 32 and 0.08 < result["messages"] / (32 * 31) < 0.1
    result = nuice_command(
        "generate", "cg", "--grid", "8x8x8", "--boxes", "2x2x2", "-o", "c.mtx", "--json"
    ).json()
    assert (result["ranks"], result["messages"]) == (8, 24)  # three neighbours each
    result = nuice_command(
        "generate", "partition", "--points", "2800", "--unit", "1", "-o", "p.mtx", "--json"
    ).json()
    assert result["max_degree"] <= 15 and abs(result["messages"] - 32 * 9.25) <= 2  # 004 s.5
    for wrong, words in (
        ("three numbers", ["cg", "--grid", "8x8"]),
        ("more parts than it has points", ["cg", "--grid", "8x8x8", "--boxes", "16x1x1"]),
        ("2800, 9428, 53961", ["partition", "--points", "3000"]),
        ("8 at least", ["euler", "--ranks", "32", "--points", "200"]),
    ):
        done = nuice_command("generate", *words, "-o", "wrong.mtx")
        assert done.status == 2 and wrong in done.err, done.err
        assert not (tmp_path / "wrong.mtx").exists()


def test_show(nuice_command, matrix_file: Path, tmp_path: Path) -> None:
    text = nuice_command("show", "a.mtx", "--plot", "a.png")
    assert (text.status, text.err) == (0, "")
    assert "min 3, average 3.0, max 3" in text.out
    assert is_png(tmp_path / "a.png")
    result = nuice_command("show", "a.mtx", "--json").json()
    bounds = nuice.lower_bounds(MATRIX)
    assert result["ranks"] == 8
    assert result["messages"] == 24
    assert result["self_messages"] == 0
    assert result["send_degree"] == {"min": 3, "avg": 3.0, "max": 3}
    assert result["bound_bytes"] == bounds.max_port_bytes
    assert result["bound_bytes_at"] == {
        "rank": bounds.max_port_bytes_at.rank,
        "direction": bounds.max_port_bytes_at.direction,
    }
    assert result["whole_message_bytes"] == nuice.whole_message_bytes(MATRIX)
    assert str(result["whole_message_bytes"]) in text.out
    assert result["total_bytes"] == int(MATRIX.bytes.sum())


def test_show_says_what_routes_cost(nuice_command, matrix_file: Path) -> None:
    result = nuice_command("show", "a.mtx", "--topology", "mesh:8", "--json").json()
    bounds = nuice.link_bounds(MATRIX, nuice.make_topology("mesh:8"))
    assert result["link_bytes"] == bounds.bytes
    assert result["link_to_port"] == bounds.bytes / nuice.lower_bounds(MATRIX).max_port_bytes
    assert "busiest link" in nuice_command("show", "a.mtx", "--topology", "mesh:8").out
    assert result["chosen_paths_phases"] is None
    assert "no route has links" in nuice_command("show", "a.mtx", "--topology", "crossbar:8").out
    shown = nuice_command("show", "a.mtx", "--topology", "fattree:2x2x2").out
    assert f"; {result['max_degree']} with chosen paths (path_coloring)" in shown


def test_show_counts_messages_of_ranks_to_themselves_apart(nuice_command, tmp_path: Path) -> None:
    nuice.save_matrix_market(tmp_path / "s.mtx", nuice.from_dense([[7, 1], [0, 9]]))
    result = nuice_command("show", "s.mtx", "--json").json()
    assert (result["messages"], result["self_messages"], result["self_bytes"]) == (1, 2, 16)


@pytest.mark.parametrize("scheduler", ["rs_n", "rex", "path_coloring"])
def test_plan_and_check(nuice_main, matrix_file: Path, tmp_path: Path, scheduler: str) -> None:
    words = ["plan", "a.mtx", "--scheduler", scheduler, "--seed", "5", "-o", "a.plan"]
    if nuice.find_scheduler(scheduler).needs_topology:
        words += ["--topology", network_for(MATRIX, scheduler)]
    result = nuice_main(*words, "--json").json()
    expected = plan_with(scheduler, MATRIX, 5)
    names = "scheduler seed ranks messages max_degree phases bound_bytes phase_bytes"
    for name in names.split():
        assert result[name] == expected.figures()[name]
    assert result["verified"] is True
    assert result["plan_seconds"] > 0
    first = (tmp_path / "a.plan").read_bytes()
    assert nuice_main(*words).status == 0
    assert (tmp_path / "a.plan").read_bytes() == first
    checked = nuice_main("check", "a.plan", "a.mtx")
    assert (checked.status, checked.err) == (0, "")
    assert "right" in checked.out


def test_phase_cost_decides_whether_kpbs_splits(nuice_main, tmp_path: Path) -> None:
    sizes = nuice.random_density(8, 0.9, unit_bytes=100_000, max_units=9, seed=2)
    nuice.save_matrix_market(tmp_path / "a.mtx", sizes)
    phases = {}
    for cost in (0, 2**62):
        option = ("--phase-cost-bytes", str(cost), "--json")
        planned = nuice_main("plan", "a.mtx", "--scheduler", "kpbs", *option).json()
        (row,) = (compared := nuice_main("compare", "a.mtx", "--schedulers", "kpbs", *option).json())[
            "schedulers"
        ]
        assert planned["phase_cost_bytes"] == compared["phase_cost_bytes"] == cost
        assert planned["phases"] == row["phases"]
        phases[cost] = planned["phases"]
    assert phases[0] > phases[2**62] == nuice.lower_bounds(sizes).max_degree


def test_broadcast(nuice_main) -> None:
    result = nuice_main("broadcast", "--ranks", "8", "--json").json()
    assert result["steps"] == [[[0, 4]], [[0, 2], [4, 6]], [[0, 1], [2, 3], [4, 5], [6, 7]]]  # 001 fig. 9
    assert (result["verified"], result["num_steps"], result["copies"]) == (True, 3, 7)
    words = ("--ranks", "16", "--root", "7", "--group", "3, 7,11,15", "--algorithm", "lib")
    text = nuice_main("broadcast", *words)
    assert (text.status, text.err) == (0, "")
    assert "lib from rank 7: 3 copies in 3 steps, right" in text.out
    assert "7 -> 11" in text.out
    assert nuice_main("broadcast", "--ranks", "1", "--json").json()["steps"] == []


def test_a_wrong_broadcast_is_found() -> None:
    wrong = nuice.BroadcastSchedule(3, 0, [[(0, 1), (1, 2)]])
    fault = nuice.check_broadcast(wrong, [1, 2])
    assert fault is not None
    assert "step 0, rank 1 -> rank 2" in fault
    assert nuice.check_broadcast(nuice.make_broadcast("reb", 3), [0, 1, 2]) is None


def test_plan_draws(nuice_command, matrix_file: Path, tmp_path: Path) -> None:
    text = nuice_command("plan", "a.mtx", "--plot", "a.png", "-o", "a.plan")
    assert (text.status, text.err) == (0, "")
    assert "(max degree 3)" in text.out
    assert is_png(tmp_path / "a.png")
    assert nuice_command("check", "a.plan", "a.mtx").out.startswith("a.plan: right: 24 messages")


def test_check_names_the_first_violation(nuice_command, matrix_file: Path, tmp_path: Path) -> None:
    phases = [
        [Transfer(*MATRIX.message(i)[:2], [Piece(i, 0, MATRIX.message(i)[2] - (i == 5))])]
        for i in range(MATRIX.num_messages)
    ]
    broken = nuice.Schedule.from_phases(8, phases)
    record = nuice.ScheduleRecord(MATRIX, broken, "by_hand", 0, ["one_port"])
    nuice.save_schedule(tmp_path / "broken.plan", record, MATRIX)
    text = nuice_command("check", "broken.plan", "a.mtx")
    assert text.status == 1
    src, dst, size = MATRIX.message(5)
    assert f"rank {src} -> rank {dst}: bytes [{size - 1}, {size})" in text.out
    assert len(text.out.splitlines()) == 1
    done = nuice_command("check", "broken.plan", "a.mtx", "--json")
    assert done.status == 1
    assert done.json()["verified"] is False
    assert done.json()["violation"]["kind"] == "not_delivered"
    assert (done.json()["violation"]["offset"], done.json()["violation"]["bytes"]) == (size - 1, 1)


def test_compare(nuice_command, matrix_file: Path, tmp_path: Path) -> None:
    words = ("compare", "a.mtx", "--topology", "fattree:2x2x2", "--plot", "c.png", "--json")
    result = nuice_command(*words).json()
    assert [row["scheduler"] for row in result["schedulers"]] == [row.name for row in nuice.schedulers()]
    assert all(row["verified"] for row in result["schedulers"])
    assert is_png(tmp_path / "c.png")
    text = nuice_command("compare", "a.mtx", "--schedulers", "coloring, lp", "--repeat", "1", "--seed", "3")
    assert text.status == 0
    assert [line.split()[0] for line in text.out.splitlines() if line.strip()[:2] in ("co", "lp")] == [
        "coloring",
        "lp",
    ]

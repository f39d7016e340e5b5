# SPDX-License-Identifier: BSD-3-Clause
"""Every bench that needs no more than a build, in its smallest form: it runs, and its figures make sense."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import nuice
from test_demo import missing_programs

RUN = Path(__file__).parents[2] / "bench" / "run.py"


def run(case: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, RUN, case, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=240)


def quick(case: str, *words: str) -> list[dict]:
    done = run(case, "--quick", "--json", *words)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_planning() -> None:
    figures = quick("planning", "--schedulers", "all")
    assert {f["scheduler"] for f in figures} == {s.name for s in nuice.schedulers() if not s.needs_topology}
    for f in figures:
        assert f["plan_seconds"] > 0
        if f["scheduler"] == "coloring":
            assert f["phases"] == f["degree"]
        if f["scheduler"] == "cgm" and f["paper_phases"] is not None:
            assert f["phases"] == pytest.approx(f["paper_phases"], rel=0.25)


def test_unequal_sizes() -> None:
    figures = quick("unequal_sizes")
    assert {f["scheduler"] for f in figures} >= {"rs_n", "rs_nh"}
    by_case: dict[str, dict[str, dict]] = {}
    for f in figures:
        by_case.setdefault(str(f["case"]), {})[f["scheduler"]] = f
    for rows in by_case.values():
        assert rows["rs_nh"]["bytes_of_bound"] < rows["rs_n"]["bytes_of_bound"]


@pytest.mark.long
def test_fit_machines() -> None:
    """The shipped machine has the values that the fit finds."""
    done = run("fit_machines", "--json", "--check", "--no-leave-one-out", "--seeds", "5")
    assert done.returncode == 0, done.stderr
    steps = [json.loads(line) for line in done.stdout.splitlines()]
    assert [step["step"] for step in steps] == list(range(1, 11))
    package = next(step for step in steps if step["columns"] == "CGM, d = 4")
    assert package["parameters"]["byte_s"] == pytest.approx(nuice.find_machine("cm5-32").byte_s, rel=0.02)
    assert all(step["median_error"] < 0.15 for step in steps)


def test_advise() -> None:
    figures = quick("advise")
    totals = [f for f in figures if "summary_of" in f]
    assert len(totals) == 2 * 3 * 2
    for total in totals:
        assert 1 <= total["mean"] <= total["worst"]
        assert total["summary_of"] == 10
    for f in figures:
        assert "summary_of" in f or f["ratio"] >= 1
        assert "summary_of" in f or f["mode"] == "as shipped" or f["mode"].startswith(f["decided_by"])


@pytest.mark.long
def test_coloring() -> None:
    figures = quick("coloring")
    matrices = [f for f in figures if "matrix" in f]
    assert len(matrices) == 2
    for f in matrices:
        assert f["phases"] == f["max_degree"]
        assert f["to_cgm"] == pytest.approx(f["plan_seconds"] / f["cgm_seconds"])
        assert f["peer_to_ours"] > 0
    memory = [f for f in figures if "scheduler" in f]
    assert {f["scheduler"] for f in memory} == {s.name for s in nuice.schedulers() if not s.needs_topology}
    assert all(f["peak_bytes_per_piece"] >= 24 for f in memory), "a schedule alone has 24 bytes per piece"
    assert all(f["pieces_per_message"] >= 1 for f in memory)


@pytest.mark.skipif(bool(missing_programs()), reason=f"not installed: {missing_programs()}")
def test_at_scale() -> None:
    rows = quick("at_scale")
    assert [row["planning"] for row in rows] == ["distributed", "distributed distributed.gather=0"]
    for row in rows:
        assert row["phases"] == row["phases_everywhere"]
        assert row["plan_seconds"] > 0 and row["to_everywhere"] > 0


@pytest.mark.skipif(bool(missing_programs()), reason=f"not installed: {missing_programs()}")
def test_following() -> None:
    pytest.importorskip("mpi4py")
    (row,) = quick("following")
    assert 0 < row["kept"] < 1
    assert 2 <= row["phases"] <= 4
    for key in ("follow_ms", "pairs_ms", "gather_ms", "to_pairs", "to_gather"):
        assert row[key] > 0


def test_level_rules() -> None:
    figures = quick("level_rules")
    assert len(figures) == 28 * 6
    for f in figures:
        assert 0.5 < f["bytes_of_rs_n"] < 1.05  # a global level may cost more than it saves
        assert f["more_percent"] < 15 or f["rule"] != "room of both, 2 (rs_nh)"


def test_link_free() -> None:
    figures = quick("link_free")
    assert len(figures) == 3
    for f in figures:
        assert f["bound"] <= f["link_coloring_rounds"] <= f["rs_nl_rounds"]
        assert f["coloring_rounds"] > f["rs_nl_rounds"]
        assert 0 <= f["at_bound"] <= 1
        assert f["link_coloring_seconds"] > 0


@pytest.mark.slow
@pytest.mark.skipif(bool(missing_programs()), reason=f"not installed: {missing_programs()}")
def test_broadcast() -> None:
    figures = quick("broadcast", "--ranks", "4")
    assert {(f["members"], f["method"]) for f in figures} >= {(4, "lib"), (3, "reb"), (4, "bcast")}
    assert all(f["verified"] is True for f in figures)
    assert all(f["to_bcast"] == 1 for f in figures if f["method"] == "bcast")


@pytest.mark.slow
@pytest.mark.skipif(bool(missing_programs()), reason=f"not installed: {missing_programs()}")
def test_drs() -> None:
    figures = quick("drs", "--ranks", "4")
    exchange = {f["method"]: f for f in figures if f["part"] == "exchange"}
    assert all(f["verified"] for f in exchange.values())
    assert exchange["drs_n"]["inquiries"] == pytest.approx(1 + exchange["drs_n"]["refusals"])
    assert exchange["drs_n:list"]["inquiries"] == 1
    assert exchange["ac"]["inquiries"] is None
    ways = {"gather", "count", "consensus", "am_count", "am_quiesce"}
    assert {f["way"] for f in figures if f["part"] == "lists"} == ways


@pytest.mark.slow
@pytest.mark.skipif(bool(missing_programs()), reason=f"not installed: {missing_programs()}")
def test_exchange() -> None:
    figures = quick("exchange")
    assert {f["method"] for f in figures} >= {"ac", "coloring", "alltoallv", "neighbor"}
    for f in figures:
        assert f["verified"] is True
        assert f["exchange_s"] > 0
        assert f["to_alltoallv"] == pytest.approx(
            f["exchange_s"]
            / next(
                g["exchange_s"]
                for g in figures
                if g["method"] == "alltoallv" and g["pattern"] == f["pattern"]
            )
        )


def test_pair() -> None:
    figures = quick("pair")
    assert [(f["way"], f["bytes"]) for f in figures[::7]] == [
        (way, size) for way in ("one way", "both ways") for size in (8, 4096)
    ]
    assert len(figures) == 28
    assert [f["to_isend"] for f in figures if f["method"] == "isend"] == [1] * 4
    assert all(f["to_best"] >= 1 for f in figures if f["method"] == "isend")


def test_fields() -> None:
    rows = quick("fields")
    assert [(row["bytes"], row["executor"]) for row in rows] == [
        (64, "async"),
        (64, "phased"),
        (4096, "async"),
        (4096, "phased"),
    ]
    assert all(row["ratio"] > 0 for row in rows)


def test_simulator() -> None:
    figures = quick("simulator")
    assert {f["topology"].split(":")[0] for f in figures} == {"crossbar", "hypercube", "fattree", "torus"}
    assert all(f["messages_per_second"] > 0 and f["seconds_to_port_bound"] >= 1 for f in figures)


@pytest.mark.skipif(shutil.which("smpirun") is None, reason="not installed: smpirun (libsimgrid-dev)")
def test_simgrid_agrees() -> None:
    for f in quick("simgrid_check"):
        assert f["ratio"] == pytest.approx(1, rel=0.1)


def test_applications() -> None:
    rows = {(f["matrix"], f["scheduler"]): f for f in quick("applications")}
    assert {matrix for matrix, _ in rows} == {"amg2013-64", "lulesh-64", "miniamr-64", "minife-64"}
    for (_, scheduler), row in rows.items():
        if scheduler == "coloring_by_size":
            assert row["phases_to_max_degree"] == 1
            assert row["bytes_to_whole"] <= 1.01
        if scheduler == "slices":
            assert row["phases_to_max_degree"] <= 1.1
            assert row["bytes_to_bound"] <= 1.005


@pytest.mark.slow
@pytest.mark.skipif(bool(missing_programs()), reason=f"not installed: {missing_programs()}")
def test_numerical_programs() -> None:
    figures = quick("numerical_programs")
    assert len({f["case"] for f in figures}) == 4
    for case in {f["case"] for f in figures}:
        ours, *peers = (f for f in figures if f["case"] == case)
        assert len(peers) == 2
        assert ours["ratio"] == pytest.approx(ours["exchange_s"] / min(f["exchange_s"] for f in peers))
        assert all(f["whole_s"] > 0 for f in (ours, *peers))


@pytest.mark.slow
@pytest.mark.skipif(bool(missing_programs()), reason=f"not installed: {missing_programs()}")
@pytest.mark.skipif(shutil.which("nuice-wolff") is None, reason="nuice-wolff is not installed")
def test_wolff() -> None:
    *results, rest = quick("wolff")
    assert len(results) == 13
    assert all(result["same_as_sequential"] for result in results)
    assert all(lines > 50 for lines in rest["lines_of_code"].values())
    assert rest["report"]["size"] == 32


def test_versions() -> None:
    program = shutil.which("nuice-bench") or str(Path(sys.executable).parent / "nuice-bench")
    figures = quick("versions", "--old", program, "--new", program)
    assert {f["case"] for f in figures} == {"d=8, 64 KiB"}
    assert all(f["to_control"] == 1 for f in figures if f["method"] == "isend")
    assert all(f["new_to_old"] > 0 for f in figures)


def test_recording() -> None:
    figures = quick("recording")
    assert {f["method"] for f in figures} == {"alltoallv", "isend"}
    assert all(f["without_s"] > 0 and f["ratio"] > 0 for f in figures)


def test_bytes_measures_every_one_port_scheduler() -> None:
    figures = quick("bytes")
    one_port = {s.name for s in nuice.schedulers() if "one_port" in s.guarantees and not s.needs_topology}
    for case in {f["case"] for f in figures}:
        rows = {f["scheduler"]: f for f in figures if f["case"] == case}
        assert set(rows) == one_port
        assert rows["birkhoff"]["bytes_to_bound"] == 1
        assert rows["coloring_by_size"]["phases_to_max_degree"] == 1
        assert min(f["bytes_to_bound"] for f in rows.values()) >= 1


@pytest.mark.long
def test_packets() -> None:
    figures = quick("packets")
    assert {f["part"] for f in figures} == {"orders", "routing", "speed"}
    bounded = ("fifo", "voq")
    assert all(f[key] >= 1 for f in figures for key in bounded if key in f)
    equal = [f for f in figures if f.get("method") == "path_coloring:depend" and f["sizes"] == "equal"]
    assert equal and min(f["voq"] for f in equal) < 1.1


@pytest.mark.skipif(shutil.which("caminos") is None, reason="caminos is not installed")
def test_caminos() -> None:
    """That the two simulators agree, roughly: what they leave out differs."""
    assert all(0.8 < f["ours_to_caminos"] < 1.25 for f in quick("caminos"))


@pytest.mark.skipif(bool(missing_programs()), reason=f"not installed: {missing_programs()}")
def test_unchanged() -> None:
    (figure,) = quick("unchanged")
    assert figure["with_over_without"] == pytest.approx(figure["with_s"] / figure["without_s"])


def test_rows_say_what_they_are_of(tmp_path: Path) -> None:
    """With --json FILE there is a table as well."""
    file = tmp_path / "rows.json"
    done = run("bytes", "--quick", "--cases", "dense", "--json", str(file))
    assert done.returncode == 0, done.stderr
    assert "kpbs" in done.stdout
    for line in file.read_text().splitlines():
        stamp = json.loads(line)["run"]
        assert stamp["case"] == "bytes"
        assert stamp["machine"]["cores"] >= 1
        assert min(stamp["load_before"], stamp["load_after"]) >= 0
        assert stamp["commit"] and stamp["date"].startswith("20")


def test_all_are_listed() -> None:
    cases = {path.stem for path in (RUN.parent / "cases").glob("*.py")}
    done = run("--list")
    assert done.returncode == 0, done.stderr
    listed = [line.split("│")[1].strip() for line in done.stdout.splitlines() if line.startswith("│")]
    assert {name for name in listed if name} == cases


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["versions", "--quick"], "skipped: name the nuice-bench of the build before"),
        (["no_such_case"], "there is no case no_such_case"),
        (["bytes", "--cases", "thick"], "--cases: thick is not one of dense, sparse, airfoil"),
        (["bytes", "--ranks", "many"], "--ranks: many: these are not numbers"),
    ],
)
def test_what_cannot_run_ends_with_2(words: list[str], reason: str) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert reason in done.stderr


PLACES = "*.md src include bench papers docs tests tools data Makefile packaging"


def texts() -> list[tuple[str, str]]:
    root = RUN.parents[1]
    command = ["git", "-C", str(root), "ls-files", "--", *PLACES.split()]
    names = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    if not names:
        pytest.skip("not in a clone")
    own = ("CHANGELOG.md", "tests/python/test_bench_scripts.py", "tools/layering.py")  # which makes paths up
    kept = [name for name in names if name not in own and (root / name).is_file()]
    return [(name, (root / name).read_text(encoding="utf-8", errors="ignore")) for name in kept]


def test_every_bench_that_is_named_exists() -> None:
    """In documents and comments: paths below bench, and cases after run.py."""
    root, cases = RUN.parents[1], RUN.parent / "cases"
    dead = []
    for name, text in texts():
        for path in re.findall(r"(?<![\w/])bench/[\w./-]*\w", text):
            if not (root / path).exists():
                dead.append(f"{name}: {path}")
        for case in re.findall(r"bench/run\.py +([a-z]\w*)", text):
            if not (cases / f"{case}.py").exists():
                dead.append(f"{name}: run.py {case}")
    assert dead == []

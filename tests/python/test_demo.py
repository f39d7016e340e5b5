# SPDX-License-Identifier: BSD-3-Clause
"""The demo in a small form, and how it answers when a program that it needs is missing or fails."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import nuice
from nuice.cli import bench, demo_network
from nuice.plots.network import port_shares

PICTURES = ("mesh.png", "matrix.png", "phases.png", "compare.png", "times.png")


def missing_programs() -> str:
    missing = []
    for name in ("mpiexec", "nuice-bench"):
        try:
            bench.find_program(name)
        except nuice.Error:
            missing.append(name)
    return " and ".join(missing)


@pytest.mark.slow
@pytest.mark.skipif(bool(missing_programs()), reason=f"not installed: {missing_programs()}")
def test_the_demo_runs_and_leaves_what_it_says(nuice_command, tmp_path: Path) -> None:
    words = ["demo", "--points", "600", "--parts", "4", "--reps", "3", "--out", "pictures", "--no-network"]
    done = nuice_command(*words, "--json", timeout_s=240)
    assert done.status == 0, done.err
    result = done.json()
    assert result["verified"] is True
    assert result == json.loads((tmp_path / "pictures/summary.json").read_text())
    assert result["network"] == {"left_out": "--no-network"}
    assert {m["method"] for m in result["methods"]} >= {
        "auto",
        "ac",
        "lp",
        "rs_n",
        "coloring",
        "alltoallv",
        "neighbor",
    }
    for method in result["methods"]:
        assert 0 < method["exchange_seconds_min"] <= method["exchange_seconds_median"]
    assert all((tmp_path / "pictures" / name).stat().st_size > 10_000 for name in PICTURES)
    assert set(result["files"]) >= {*PICTURES, "airfoil.mtx", "coloring.plan"}
    assert "every byte" in done.err  # progress is on stderr
    matrix = nuice.load_matrix_market(tmp_path / "pictures/airfoil.mtx")
    assert nuice.load_plan(tmp_path / "pictures/coloring.plan", matrix).verified


NOT_ROOT = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]
WITHOUT_NAMESPACES = [
    *(*NOT_ROOT, "--keep-caps", "sh", "-c"),
    'echo 0 >/proc/sys/user/max_user_namespaces; exec "$@"',
    "sh",
]


def runs(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def start_demo(under: list[str], out: Path) -> subprocess.CompletedProcess[str]:
    nuice_command = str(Path(sys.executable).with_name("nuice"))
    words = [nuice_command, "demo", "--points", "600", "--parts", "4", "--reps", "2", "--out", str(out)]
    return subprocess.run([*under, *words, "--json"], capture_output=True, text=True, timeout=240)


@pytest.mark.slow
@pytest.mark.skipif(bool(missing_programs()), reason=f"not installed: {missing_programs()}")
def test_two_of_its_methods_between_hosts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if demo_network.why_not(4):
        pytest.skip("no test network here")
    monkeypatch.setattr(demo_network, "METHODS", ("isend", "auto"))
    monkeypatch.setattr(demo_network, "LEARNING", 2)
    pairs = [(src, dst, 100_000) for src in range(4) for dst in range(4) if src != dst]
    found = demo_network.exchange_on_hosts(nuice.CommMatrix.from_messages(4, pairs), 3, tmp_path)
    assert found["verified"] is True
    assert found["best_mpi"] == "isend"
    assert [len(method["times_s"]) for method in found["methods"]] == [3, 3]
    assert all(0 < method["busiest_port_share"] <= 1 for method in found["methods"])
    assert json.loads((tmp_path / "network.json").read_text())["bound_s"] == pytest.approx(
        300_000 / demo_network.RATE_BYTES_PER_S
    )


@pytest.mark.long
@pytest.mark.skipif(bool(missing_programs()), reason=f"not installed: {missing_programs()}")
@pytest.mark.parametrize(
    "under", [pytest.param([], id="as we are"), pytest.param(NOT_ROOT, id="without root")]
)
def test_the_demo_goes_on_between_hosts(under: list[str], tmp_path: Path) -> None:
    if demo_network.why_not(4) or not runs(*under, bench.find_program("nuice-testbed"), "check"):
        pytest.skip("no test network here")
    done = start_demo(under, tmp_path)
    assert done.returncode == 0, done.stderr
    network = json.loads(done.stdout)["network"]
    assert network["hosts"] == 4
    assert network["verified"] is True
    assert network["times_faster"] > 0
    assert network["tuned"] is None or network["tuned"]["times_faster"] > 0
    assert {m["method"] for m in network["methods"]} == set(demo_network.METHODS)
    assert all(0 < m["busiest_port_share"] <= 1 for m in network["methods"])
    assert (tmp_path / "network.png").stat().st_size > 10_000


@pytest.mark.slow
@pytest.mark.skipif(bool(missing_programs()), reason=f"not installed: {missing_programs()}")
def test_the_demo_ends_well_where_no_network_can_be_made(tmp_path: Path) -> None:
    if not runs(*WITHOUT_NAMESPACES, "true"):
        pytest.skip("user namespaces cannot be forbidden here")
    done = start_demo(WITHOUT_NAMESPACES, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "user namespaces are not allowed" in json.loads(done.stdout)["network"]["left_out"]


def some_network() -> dict:
    """Two hosts; MPI's only way takes 0.2 s, auto 0.1 s. Port 1 is busy for 0.1 s of each."""
    rate = demo_network.RATE_BYTES_PER_S
    at = [10 + i / 100 for i in range(100)]
    busy = [min(max(t - 10.1, 0), 0.1) + min(max(t - 10.5, 0), 0.1) for t in at]
    ports = {"every_s": 0.01, "ports": [1, 2], "at_s": at, "bytes": [[int(rate * b), 0] for b in busy]}
    common = {"warmup": 1, "tcp_segments_sent_again": 7.0, "verified": True, "refused": None}
    records = [
        {"method": "isend", "scheduler": None, "exchange_begins_all": [0, 10.1, 10.1], **common},
        {"method": "auto", "scheduler": "coloring", "choice": "coloring:phased", **common},
    ]
    records[0]["exchange_seconds_all"] = [9.0, 0.2, 0.2]
    records[1] |= {"exchange_begins_all": [0, 10.5, 10.5], "exchange_seconds_all": [9.0, 0.1, 0.1]}
    matrix = nuice.CommMatrix.from_messages(2, [(0, 1, rate // 20)])
    tuned = [{"method": "alltoallv", "exchange_seconds_median": 0.12}]
    return {**demo_network.summarize(records, matrix, ports, tuned), "ports": ports}


def test_what_the_network_showed_is_what_was_measured() -> None:
    network = some_network()
    assert network["times_faster"] == pytest.approx(2)
    assert network["bound_s"] == pytest.approx(0.05)
    theirs, ours = network["methods"]
    assert theirs["times_s"] == [0.2, 0.2]  # without the exchange that was not to be counted
    assert theirs["busiest_port_share"] == pytest.approx(0.5, abs=0.06)
    assert ours["busiest_port_share"] == pytest.approx(1, abs=0.11)
    words = " ".join(demo_network.closing_words(network, 2))
    assert "as installed (isend) takes 200 ms: auto is 2.00 times as fast" in words
    assert "btl_tcp_rcvbuf=4096" in words
    assert "120 ms (alltoallv): auto is 1.20 times as fast" in words
    del network["tuned"]
    assert "btl_tcp_rcvbuf" not in " ".join(demo_network.closing_words(network, 2))
    assert "coloring:phased" in words
    at, shares = port_shares(theirs["typical"], network, 0.3)
    assert shares.shape == (2, len(at) - 1)
    assert shares[0, (at[:-1] > 0.011) & (at[:-1] < 0.08)] == pytest.approx(1, abs=0.01)
    assert shares[0, at[:-1] > 0.12].max() == 0


def test_a_missing_program_is_named_with_what_to_do() -> None:
    with pytest.raises(nuice.Error, match="no-such-program.*make build"):
        bench.find_program("no-such-program")


def test_a_failing_run_is_reported_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "fails"
    program.write_text("#!/bin/sh\necho out of luck >&2\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setattr(bench, "find_program", lambda name: str(program))
    with pytest.raises(nuice.Error, match="status 3: out of luck") as caught:
        bench.run_bench(2, tmp_path / "a.mtx", ["ac"], 1)
    assert caught.value.code == "mpi"


def test_a_run_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "hangs"
    program.write_text("#!/bin/sh\nsleep 600\n")
    program.chmod(0o755)
    monkeypatch.setattr(bench, "find_program", lambda name: str(program))
    monkeypatch.setattr(bench, "TIME_LIMIT_S", 0.2)
    with pytest.raises(nuice.Error, match=r"did not end within 0.2 s"):
        bench.run_bench(2, tmp_path / "a.mtx", ["ac"], 1)

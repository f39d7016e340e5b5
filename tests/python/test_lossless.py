# SPDX-License-Identifier: BSD-3-Clause
"""The lossless presets of the test network: nothing is lost or stays, and a run that does not count says so.

Skipped by name without root. How fast and how even it is, is measured by bench/run.py lossless.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

import nuice
from test_testbed import NAME, appears, lossless, namespaces, needs_network, network, start, testbed

has_fabric = pytest.mark.skipif(
    not Path("/dev/net/tun").exists(), reason="no /dev/net/tun: the kernel has no TAP devices"
)
PRESET = ["--preset", "lossless", "--topology", "fattree:2x4", "--hosts", "8", "--rate", "10mbit"]


@pytest.fixture
def fabric():
    made = testbed("up", *PRESET)
    assert made.returncode == 0, made.stderr
    yield network.current(NAME)
    testbed("down", "--force")
    assert namespaces() == []


def plans(folder: Path, *methods: str) -> list[str]:
    """Words of nuice-testbed rdma: all to all, 20 packets each."""
    messages = [(src, dst, 29_120) for src in range(8) for dst in range(8) if src != dst]
    matrix = nuice.CommMatrix.from_messages(8, messages)
    nuice.save_matrix_market(folder / "all.mtx", matrix)
    named = []
    for method in methods:
        scheduler, executor = method.split(":")
        plan = nuice.plan(matrix, scheduler, topology=nuice.make_topology("fattree:2x4"))
        plan.save(folder / f"{scheduler}.plan")
        named.append(f"{folder / scheduler}.plan:{executor}")
    return ["--matrix", str(folder / "all.mtx"), "--plans", ",".join(named)]


@has_fabric
@needs_network
@pytest.mark.slow
def test_every_packet_of_every_method_arrives_once_and_in_order(fabric, tmp_path):
    """nuice-fabric-rdma sends nothing again and ends with an error if a packet is missing."""
    methods = [
        "ac:async",
        "coloring:phased",
        "link_coloring:depend",
        "path_coloring:depend",
    ]
    words = ["rdma", *plans(tmp_path, *methods), "--reps", "2", "--counters", str(tmp_path / "counts")]
    done = testbed(*words)
    assert done.returncode in (0, 3), done.stderr  # 3: the machine was busy, and times do not count
    assert "0 lost" in done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(records) == len(methods)
    at_the_rate = 7 * 20 * 1514 * 8 / 10e6
    assert all(seconds > 0.99 * at_the_rate for record in records for seconds in record["seconds"])
    counted = json.loads((tmp_path / "counts").read_text())["fabric"]
    assert counted["lost"] == 0 and counted["delivered"] > 2 * len(methods) * 56 * 20


@has_fabric
@needs_network
@pytest.mark.slow
def test_mpi_runs_on_it(fabric, tmp_path):
    done = testbed("run", "--ranks", "3", "bash", "-c", "hostname; sleep 0.5")
    assert done.returncode in (0, 3), done.stderr
    assert len(re.findall(rf"nuice-{NAME}-h\d", done.stdout)) == 3
    assert "packets through the fabric, 0 lost" in done.stderr
    assert testbed("port", "1", "5mbit").returncode == 2
    assert testbed("switch", "down").returncode == 2
    assert testbed("run", "--ports", str(tmp_path / "ports"), "true").returncode == 2
    state = json.loads(testbed("status", "--json").stdout)
    assert (state["fabric"]["lost"], state["settings"]["topology"]) == (0, "fattree:2x4")


@has_fabric
@needs_network
@pytest.mark.slow
def test_a_run_that_the_fabric_could_not_keep_up_with_is_void(fabric, tmp_path):
    pid = lossless.counts(fabric)["pid"]
    process = start("rdma", *plans(tmp_path, "ac:async"), "--reps", "4", stderr=subprocess.PIPE)
    assert appears(lambda: lossless.counts(fabric)["delivered"] > 500)
    os.kill(pid, signal.SIGSTOP)
    time.sleep(0.3)
    os.kill(pid, signal.SIGCONT)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 3
    assert "0 lost" in said and "VOID: nuice-fabric was too slow for" in said


@has_fabric
@needs_network
@pytest.mark.slow
def test_a_fabric_that_is_killed_ends_the_run_and_takes_its_ports_with_it(fabric):
    pid = lossless.counts(fabric)["pid"]
    run = start("run", "--ranks", "2", "sleep", "4741", stderr=subprocess.PIPE)
    assert appears(
        lambda: "sleep" in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    )
    os.kill(pid, signal.SIGKILL)
    said = run.communicate(timeout=60)[1]
    assert (run.returncode, "has ended, and its ports with it" in said) == (2, True)
    for host in fabric.hosts:
        listed = subprocess.check_output(["ip", "-n", fabric.host(host), "-j", "link"], text=True)
        assert [link["ifname"] for link in json.loads(listed)] == ["lo"]
    assert "has ended" in testbed("status").stderr
    assert testbed("down").returncode == 0
    assert namespaces() == []


@has_fabric
@needs_network
@pytest.mark.slow
@pytest.mark.parametrize(
    "words, reason",
    [
        (("--flow", "tcp"), "--flow tcp: one of credits, pfc"),
        (("--topology", "ring:8"), "ring"),
        (("--topology", "crossbar:2"), "2"),
    ],
)
def test_a_failed_start_leaves_nothing_behind(words, reason):
    failed = testbed("up", "--preset", "lossless", "--hosts", "4", *words)
    assert failed.returncode == 2
    assert failed.stderr.startswith("nuice-testbed: ") and reason in failed.stderr
    assert failed.stderr.count("\n") == 1
    assert namespaces() == []


@has_fabric
@needs_network
@pytest.mark.slow
def test_without_a_fabric_there_is_no_rdma():
    assert testbed("up", "--preset", "fast", "--hosts", "2").returncode == 0
    try:
        assert "needs a fabric that drops nothing" in testbed("rdma", "--matrix", "x").stderr
    finally:
        testbed("down", "--force")

# SPDX-License-Identifier: BSD-3-Clause
"""The test network: what it makes and counts, and that nothing of it stays. Skipped by name without root."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nuice.cli.bench import find_program
from test_demo import missing_programs

FOLDER = Path(__file__).parents[2] / "bench" / "testbed"
sys.path.insert(0, str(FOLDER))
import network  # noqa: E402
import owned  # noqa: E402

import lossless  # noqa: E402, F401

why_not = network.why_not()
needs_network = pytest.mark.skipif(bool(why_not), reason=f"no test network: {why_not}")


NAME = f"t{os.getpid()}"  # others may have networks up at the same time
HOSTS = f"nuice-{NAME}-h"
# PRRTE on a busy machine may miss the end of a program that ends at once, and waits for it forever.
LASTS = "sleep 0.5"
COMMAND = [sys.executable, str(FOLDER / "nuice_testbed.py")]


def testbed(*words: str, name: str = NAME, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NUICE_TESTBED": name}
    return subprocess.run(
        [*COMMAND, *words], capture_output=True, text=True, timeout=timeout, env=environment
    )


def start(*words: str, name: str = NAME, **more) -> subprocess.Popen[str]:
    return subprocess.Popen([*COMMAND, *words], text=True, env={**os.environ, "NUICE_TESTBED": name}, **more)


testbed.__test__ = False


def namespaces(name: str = NAME) -> list[str]:
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout
    return [line for line in listed.splitlines() if line.startswith(f"nuice-{name}-")]


@pytest.fixture
def hosts():
    """Four hosts; whatever the test does, they are gone afterwards."""
    made = testbed("up", "--preset", "fast", "--hosts", "4")
    assert made.returncode == 0, made.stderr
    yield
    testbed("down", "--force")  # also after a test that failed while a run of its was active
    assert namespaces() == []
    assert not owned.folder(NAME).exists()


@needs_network
@pytest.mark.slow
def test_ranks_run_on_hosts_of_their_own_and_are_counted(hosts, tmp_path):
    counts = tmp_path / "counts.json"
    done = testbed(
        "run", "--counters", str(counts), "bash", "-c", f"hostname; cat /proc/net/route | wc -l; {LASTS}"
    )
    assert done.returncode == 0, done.stderr
    assert sorted(line for line in done.stdout.split() if line.startswith("nuice-")) == [
        f"{HOSTS}{host}" for host in range(1, 5)
    ]
    assert "retransmitted" in done.stderr
    assert len(json.loads(counts.read_text())["hosts"]) == 4
    assert testbed("run", "--ranks", "5", "true").returncode == 2
    assert "is up already" in testbed("up").stderr


@needs_network
@pytest.mark.slow
def test_a_network_for_one_program_is_watched_and_goes_with_it(tmp_path):
    ports = tmp_path / "ports.json"
    once = ["once", "--preset", "fast", "--hosts", "3", "--ports", str(ports)]
    done = testbed(*once, "bash", "-c", f"hostname; {LASTS}; exit 3")
    assert done.returncode == 3, done.stderr
    assert len([line for line in done.stdout.split() if line.startswith("nuice-once")]) == 3
    seen = json.loads(ports.read_text())
    assert seen["ports"] == [1, 2, 3]
    assert len(seen["at_s"]) == len(seen["bytes"]) > 10
    assert sum(seen["bytes"][-1]) > sum(seen["bytes"][0])
    assert not any("once" in line for line in namespaces("once"))
    assert testbed("check").stdout.startswith("yes, as root")


@needs_network
def test_namespaces_that_cannot_be_entered_are_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a chroot whose root is not a mount point: they can be made, and `ip -n` fails."""
    words = '[ "$1" != -n ] || { echo cannot mount >&2; exit 255; }'
    (tmp_path / "ip").write_text(f'#!/bin/sh\n{words}\nexec {shutil.which("ip")} "$@"\n')
    (tmp_path / "ip").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    refused = testbed("check")
    assert refused.returncode == 2
    assert "cannot be entered here, as in some chroots: cannot mount" in refused.stderr


@needs_network
@pytest.mark.slow
def test_ports_are_as_fast_as_asked(hosts):
    """A megabyte at 50 Mbit/s takes 168 ms or more, and with one port at 5 Mbit/s ten times that."""
    assert port_seconds() > 0.16
    assert testbed("port", "2", "5mbit").returncode == 0
    assert port_seconds() > 1.6


@needs_network
@pytest.mark.skipif(
    "4294967295" not in Path("/proc/self/uid_map").read_text(), reason="not allowed in a user namespace"
)
def test_one_processor_handles_what_a_port_receives(hosts):
    """So packets of a connection stay in order."""
    command = ["ip", "netns", "exec", f"nuice-{NAME}-h1", "cat", "/sys/class/net/eth0/queues/rx-0/rps_cpus"]
    mask = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert int(mask.strip().replace(",", ""), 16).bit_count() == 1


@needs_network
@pytest.mark.slow
@pytest.mark.skipif(bool(missing_programs()), reason=f"not installed: {missing_programs()}")
def test_hosts_with_two_ports(tmp_path):
    """Each is shaped for itself, MPI takes both, both are counted; and a slow host has two slow ports."""
    made = testbed("up", "--preset", "multi2", "--hosts", "2", "--rate", "50mbit")
    try:
        assert made.returncode == 0, made.stderr
        assert "4 ranks on each, 2 ports each" in made.stdout
        assert all(port_seconds(port) > 0.16 for port in (0, 1))
        matrix = tmp_path / "pair.mtx"
        matrix.write_text(
            "%%MatrixMarket matrix coordinate integer general\n8 8 2\n1 5 2000000\n2 6 2000000\n"
        )
        seen, counts = tmp_path / "ports.json", tmp_path / "counts.json"
        words = ["run", "--ports", str(seen), "--counters", str(counts), "--mpiexec", find_program("mpiexec")]
        done = testbed(*words, find_program("nuice-bench"), "--matrix", str(matrix), "--schedulers", "isend")
        assert done.returncode == 0, done.stderr
        looks = json.loads(seen.read_text())
        assert looks["ports"] == [1, 1, 2, 2]
        first, second = (looks["bytes"][-1][k] - looks["bytes"][0][k] for k in (2, 3))
        assert min(first, second) > 0.3 * (first + second)
        assert len(json.loads(counts.read_text())["hosts"]) == 2
        assert testbed("port", "2", "5mbit").returncode == 0
        assert all(port_seconds(port) > 1.6 for port in (0, 1))
    finally:
        testbed("down", "--force")
    assert namespaces() == []


def port_seconds(port: int = 0) -> float:
    """Time of 2^20 bytes by TCP from host 1 to that port of host 2."""
    receive = (
        "import socket; s = socket.create_server(('', 7000)); print('ready', flush=True); c, _ = s.accept();"
        "n = 0\nwhile data := c.recv(65536): n += len(data)\nprint(n)"
    )
    address = network.current(NAME).address(2, port)
    send = (
        f"import socket, time; t = time.monotonic(); c = socket.create_connection(('{address}', 7000));"
        "c.sendall(bytes(1 << 20)); c.shutdown(socket.SHUT_WR); c.recv(1); print(time.monotonic() - t)"
    )
    receiver = subprocess.Popen(
        ["ip", "netns", "exec", f"{HOSTS}2", sys.executable, "-c", receive], stdout=subprocess.PIPE, text=True
    )
    assert receiver.stdout.readline() == "ready\n"
    sender = subprocess.run(
        ["ip", "netns", "exec", f"{HOSTS}1", sys.executable, "-c", send],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert int(receiver.communicate(timeout=30)[0]) == 1 << 20
    return float(sender.stdout)


@needs_network
@pytest.mark.slow
def test_a_program_that_hangs_and_ctrl_c_leave_nothing_running(hosts):
    assert testbed("run", "--timeout", "2", "sleep", "4711").returncode == 124
    # Tests may run in the background themselves, where shells ignore the signal and children inherit that.
    process = start(
        *("run", "sleep", "4712"),
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert appears(lambda: running("sleep 4712"))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 130
    assert not running("sleep 4711") and not running("sleep 4712")


def appears(condition, patience_s: float = 20) -> bool:
    deadline = time.monotonic() + patience_s
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


def running(words: str) -> bool:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes().replace(b"\0", b" ").decode().strip())
        except OSError:
            continue  # it has just ended
    return words in found


@needs_network
@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("--rate", "fast"),
        ("--rate", "0"),
        ("--rate", "1bit"),
        ("--rate", "-20mbit"),
        ("--rate", "20 mbit"),
        ("--uplink", "0"),
        ("--queue", "much"),
        ("--queue", "0"),
        ("--queue", "100"),
        ("--cc", "none"),
        ("--hosts", "1"),
        ("--preset", "x"),
        ("--ports-per-host", "5"),
        ("--preset", "fabric", "--ports-per-host", "2"),
    ],
)
def test_a_failed_start_leaves_nothing_behind(words):
    failed = testbed("up", *words)
    assert failed.returncode == 2
    assert failed.stderr.startswith("nuice-testbed: ") and failed.stderr.count("\n") == 1
    assert namespaces() == []


@needs_network
@pytest.mark.slow
def test_down_without_a_network_and_run_without_one():
    assert testbed("down").returncode == 0
    assert f"no test network {NAME} is up" in testbed("run", "true").stderr


@pytest.fixture
def second():
    """Another network, of two hosts, next to the first."""
    name = f"{NAME}b"
    made = testbed("up", "--preset", "fast", "--hosts", "2", name=name)
    assert made.returncode == 0, made.stderr
    yield name
    testbed("down", "--force", name=name)
    assert namespaces(name) == []


@needs_network
@pytest.mark.slow
def test_networks_beside_each_other(hosts, second):
    """Each has addresses of its own; the end of one, or of a run, leaves the others' programs alone."""
    first, other = network.current(NAME), network.current(second)
    assert first.index != other.index
    listed = testbed("list").stdout
    assert f"{NAME}: 4 hosts, made by " in listed and f"{second}: 2 hosts" in listed
    beside = start("run", "sleep", "4721", name=second)
    also_here = start("run", "--ranks", "1", "sleep", "4722")
    assert appears(lambda: running("sleep 4721") and running("sleep 4722"))
    assert testbed("run", "--ranks", "2", *LASTS.split()).returncode == 0
    assert testbed("run", "--timeout", "1", "sleep", "4723").returncode == 124
    assert not running("sleep 4723")
    assert running("sleep 4721") and running("sleep 4722")
    assert "in use" in testbed("down").stderr
    assert testbed("down", "--force").returncode == 0
    assert also_here.wait(timeout=20) != 0
    assert running("sleep 4721") and not running("sleep 4722")
    beside.send_signal(signal.SIGTERM)
    assert beside.wait(timeout=20) == 130
    assert len(namespaces(second)) == 3


@needs_network
@pytest.mark.slow
def test_a_namespace_of_others_is_never_touched():
    name = f"{NAME}c"
    foreign = f"nuice-{name}-h1"
    subprocess.run(["ip", "netns", "add", foreign], check=True)
    try:
        failed = testbed("up", "--hosts", "2", name=name)
        assert (failed.returncode, "did not make" in failed.stderr) == (2, True)
        testbed("down", name=name)
        assert namespaces(name) == [foreign]
    finally:
        subprocess.run(["ip", "netns", "del", foreign], check=True)
    # One that was made again under the same name is not the network's either.
    assert testbed("up", "--hosts", "2", name=name).returncode == 0
    try:
        subprocess.run(["ip", "netns", "del", foreign], check=True)
        subprocess.run(["ip", "netns", "add", foreign], check=True)
        assert "removed 2 namespaces" in testbed("down", name=name).stdout
        assert [line.split()[0] for line in namespaces(name)] == [foreign]
    finally:
        subprocess.run(["ip", "netns", "del", foreign], check=True)


@needs_network
@pytest.mark.slow
def test_what_a_killed_start_and_a_killed_run_leave_is_known():
    name = f"{NAME}d"
    killed = start("up", "--hosts", "8", name=name)
    assert appears(lambda: len(namespaces(name)) > 3)
    killed.kill()
    killed.wait()
    half_made = len(namespaces(name))
    assert half_made > 3
    assert f"no test network {name} is up" in testbed("run", "true", name=name).stderr
    assert testbed("up", "--hosts", "2", name=name).returncode == 0
    assert len(namespaces(name)) == 3, "what the killed start left is gone"
    running_there = start("run", "sleep", "4731", name=name)
    assert appears(lambda: running("sleep 4731"))
    running_there.kill()
    running_there.wait()
    assert appears(lambda: not running("sleep 4731")), "its programs ended with it"
    assert testbed("down", name=name).returncode == 0
    assert namespaces(name) == []


@needs_network
@pytest.mark.slow
def test_starts_that_race():
    """Of the same name one wins; of different names all do, with different addresses."""
    same = [start("up", "--hosts", "2", name=f"{NAME}e", stderr=subprocess.PIPE) for _ in range(3)]
    others = [start("up", "--hosts", "2", name=f"{NAME}{x}", stderr=subprocess.PIPE) for x in "fg"]
    complaints = [process.communicate(timeout=60)[1] for process in (*same, *others)]
    try:
        assert sorted(process.returncode for process in same) == [0, 2, 2], complaints
        assert [process.returncode for process in others] == [0, 0], complaints
        assert len({network.current(f"{NAME}{x}").index for x in "efg"}) == 3
    finally:
        for x in "efg":
            assert testbed("down", name=f"{NAME}{x}").returncode == 0


@needs_network
@pytest.mark.long
@pytest.mark.skipif(bool(missing_programs()), reason=f"not installed: {missing_programs()}")
def test_exchanges_on_the_network_are_measured():
    command = [sys.executable, str(FOLDER.parent / "run.py"), "network", "--quick", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    figures = [json.loads(line) for line in done.stdout.splitlines()]
    assert {f["method"] for f in figures} >= {"alltoallv", "auto", "coloring:async"}
    assert all(f["verified"] is True and f["to_bound"] > 1 for f in figures)
    assert min(f["to_best_mpi"] for f in figures) <= 1 <= max(f["to_best_mpi"] for f in figures)
    assert namespaces() == []


@needs_network
@pytest.mark.long
@pytest.mark.skipif(bool(missing_programs()), reason=f"not installed: {missing_programs()}")
def test_exchanges_outlive_a_slow_port_a_stopped_host_and_a_switch_that_fails(hosts, tmp_path):
    """Every byte of every repetition is verified, by nuice-bench itself."""
    matrix = tmp_path / "all.mtx"
    pairs = [(src, dst) for src in range(1, 5) for dst in range(1, 5) if src != dst]
    lines = ["%%MatrixMarket matrix coordinate integer general", f"4 4 {len(pairs)}"]
    matrix.write_text("\n".join(lines + [f"{src} {dst} 150000" for src, dst in pairs]) + "\n")
    methods = ["coloring:depend", "coloring:phased", "coloring:async"]
    program = [find_program("nuice-bench"), "--json", "--matrix", str(matrix), "--reps", "75"]
    words = ["run", "--timeout", "150", *program, "--schedulers", ",".join(methods)]
    process = start(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    lived_through = [meet_fault(process, *fault) for fault in (slow_port, stopped_host, failed_switch)]
    out, complaints = process.communicate(timeout=160)
    assert process.returncode == 0, complaints
    assert all(lived_through), "the exchanges were over before the last fault: more repetitions"
    figures = [json.loads(line) for line in out.splitlines()]
    assert [f["method"] for f in figures] == methods
    assert all(f["verified"] is True for f in figures)


def meet_fault(process, begin, end) -> bool:
    """Two seconds of it, once the exchanges are active. Whether they still were when it ended."""
    time.sleep(1)
    begin()
    time.sleep(2)
    still_runs = process.poll() is None
    end()
    return still_runs


def stop_host(signum: int) -> None:
    pids = subprocess.run(["ip", "netns", "pids", f"{HOSTS}3"], capture_output=True, text=True).stdout
    for pid in map(int, pids.split()):
        os.kill(pid, signum)


slow_port = (lambda: testbed("port", "2", "5mbit"), lambda: testbed("port", "2", "50mbit"))
stopped_host = (lambda: stop_host(signal.SIGSTOP), lambda: stop_host(signal.SIGCONT))
failed_switch = (lambda: testbed("switch", "down"), lambda: testbed("switch", "up"))

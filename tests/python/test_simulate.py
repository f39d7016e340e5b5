# SPDX-License-Identifier: BSD-3-Clause
"""Machines and the simulator from Python, and the command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import nuice


@pytest.fixture(scope="module")
def matrix() -> nuice.CommMatrix:
    return nuice.random_regular(16, 5, unit_bytes=1000, max_units=8, seed=2)


def test_a_changed_copy_of_a_machine(matrix) -> None:
    machine = nuice.find_machine("cm5-32")
    slower = machine.replace(byte_s=2 * machine.byte_s, topology="crossbar:16", duplex="full")
    assert slower.byte_s == 2 * machine.byte_s
    assert (slower.topology, slower.duplex, slower.num_ranks) == ("crossbar:16", "full", 16)
    assert machine.duplex == "half"
    for wrong in ({"byte_s": -1.0}, {"speed": 3}, {"duplex": "both"}, {"packet_payload": 0}):
        with pytest.raises(nuice.Error):
            machine.replace(**wrong)


def test_the_timeline_covers_what_the_figures_say(matrix) -> None:
    schedule = nuice.plan(matrix, "coloring").schedule
    run = nuice.simulate(matrix, schedule, "cm5-32", timeline=True)
    times, table = run.interval_times(), run.interval_table()
    assert len(times) == len(table) > 0
    lengths = times[:, 1] - times[:, 0]
    for rank, figures in enumerate(run.ranks):
        own = (table[:, 0] == rank) & (table[:, 1] == nuice._core.ACTIVITIES.index("waiting"))
        assert lengths[own].sum() == pytest.approx(figures.waiting_s)
    assert nuice.simulate(matrix, schedule, "cm5-32").interval_times().size == 0


def test_the_command(nuice_command, tmp_path, matrix) -> None:
    nuice.save_matrix_market(tmp_path / "m.mtx", matrix)
    done = nuice_command("simulate", "m.mtx", "--machine", "cm5-32", "--json")
    assert done.status == 0, done.err
    result = done.json()
    names = [row["scheduler"] for row in result["schedulers"]]
    assert names == [s.name for s in nuice.schedulers()] + ["drs_n"]
    by_name = {row["scheduler"]: row for row in result["schedulers"]}
    assert by_name["ac"]["executor"] == "async"
    assert by_name["coloring"]["executor"] == "phased"
    assert by_name["coloring"]["seconds"] == nuice.predict(matrix, "cm5-32", ["coloring"])[0].run.seconds
    assert by_name["drs_n"]["inquiries"] == by_name["drs_n"]["refusals"] + matrix.num_messages
    alone = nuice.simulate_drs_n(matrix, "cm5-32")
    assert alone.delivered.tolist() == matrix.bytes.tolist() and by_name["drs_n"]["seconds"] == alone.seconds
    (none,) = nuice.predict(matrix, "ethernet-1g", ["drs_n"])
    assert none.run is None and "active message" in none.reason
    words = ["--machine", "ethernet-1g", "--schedulers", "ac,rs_n", "--plot", "m.png"]
    table = nuice_command("simulate", "m.mtx", *words)
    assert (tmp_path / "m.png").stat().st_size > 10_000
    assert "rs_n" in table.out and "bound:" in table.out


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('topology = "crossbar:4"\n[port]\nbandwidth = "1 MB/s"\n', "has 4 ranks, the matrix has 16"),
        ('topology = "crossbar:16"\n[port]\nbandwidth = 5\n', "mine.toml:3: bandwidth has no unit"),
        ('topology = "crossbar:16"\n[port]\nspeed = 5\n', "mine.toml:3: no key of [port] is called 'speed'"),
    ],
)
def test_bad_machines_are_refused(nuice_main, tmp_path, matrix, text: str, says: str) -> None:
    nuice.save_matrix_market(tmp_path / "m.mtx", matrix)
    (tmp_path / "mine.toml").write_text(text)
    done = nuice_main("simulate", "m.mtx", "--machine", "mine.toml")
    assert done.status == 2
    assert says in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    "options",
    [
        ["--machine", "cm6"],
        ["--machine", "cm5-32", "--executor", "none"],
        ["--machine", "cm5-32", "--schedulers", "x"],
    ],
)
def test_unknown_names_are_refused(nuice_main, tmp_path, matrix, options) -> None:
    nuice.save_matrix_market(tmp_path / "m.mtx", matrix)
    done = nuice_main("simulate", "m.mtx", *options)
    assert done.status == 2
    assert "known:" in done.err


def three_to_one() -> nuice.CommMatrix:
    return nuice.from_dense([[0, 0, 0, 1 << 40]] * 3 + [[0] * 4])


def test_too_many_refusals_are_an_error_and_the_adviser_goes_on() -> None:
    begin = time.monotonic()
    machine = nuice.find_machine("cm5-32").replace(memory_slowdown=1.0)  # else its memory is what counts
    with pytest.raises(nuice.Error, match="4194304 refused inquiries"):
        nuice.simulate_drs_n(three_to_one(), machine)
    advice = nuice.advise(three_to_one(), "cm5-32", budget_s=0.01)
    assert advice.deciding_s < 0.02
    assert nuice.advise(three_to_one(), "cm5-32", predict_by="simulation").choice.total_s > 0
    assert time.monotonic() - begin < 60


@pytest.mark.parametrize("call", ["simulate_drs_n", "plan", "advise", "load"])
def test_ctrl_c_ends_what_takes_long(call: str, tmp_path: Path) -> None:
    """Within a second of the signal, by the exception that Python's handler raises."""
    script = f"""
import signal, sys, threading, time, nuice
dense = [[0 if i == j else 1 << 30 for j in range(64)] for i in range(64)]
def simulate_drs_n():
    nuice.simulate_drs_n(nuice.from_dense(dense), "cm5-256")
def plan():
    matrix = nuice.random_regular(2048, 300, unit_bytes=1000, max_units=1000, seed=3)
    for name in ("birkhoff", "slices", "kpbs", "lpt", "coloring_by_size") * 100:
        nuice.plan(matrix, name)
def advise():
    matrix = nuice.random_regular(256, 100, unit_bytes=1000, max_units=1000, seed=3)
    for _ in range(1000):
        nuice.advise(matrix, "cm5-256", predict_by="simulation")
def load():
    nuice.load_matrix_market({str(tmp_path / "long.mtx")!r})
print("ready", flush=True)
try:
    {call}()
    sys.exit(1)
except KeyboardInterrupt:
    sys.exit(7)
"""
    if call == "load":
        os.mkfifo(tmp_path / "long.mtx")
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    feeder = feed_comments(tmp_path / "long.mtx") if call == "load" else None
    time.sleep(1.0)
    assert process.poll() is None
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 7
    assert time.monotonic() - begin < 1.5  # on a machine with other work
    process.stdout.close()
    if feeder is not None:
        feeder.kill()
        feeder.wait()


def feed_comments(path: Path) -> subprocess.Popen[bytes]:
    """Apart from this process, which a pipe without a reader would end where others have touched SIGPIPE."""
    endless = (
        f"with open({str(path)!r}, 'w') as feed:\n"
        "    feed.write('%%MatrixMarket matrix coordinate integer general\\n')\n"
        "    while True: feed.write('% a comment\\n' * 1000)"
    )
    return subprocess.Popen([sys.executable, "-c", endless], stderr=subprocess.DEVNULL)


def test_packet_by_packet(nuice_command, tmp_path) -> None:
    matrix = nuice.random_regular(32, 6, unit_bytes=65536, max_units=4, seed=3)
    machine = nuice.find_machine("fattree-ib").replace(topology="fattree:8x4/2")
    plan = nuice.plan(matrix, "link_coloring", topology=nuice.make_topology(machine.topology))
    run = nuice.simulate_packets(matrix, plan.schedule, machine, "depend", queueing="voq")
    assert run.delivered.tolist() == matrix.bytes.tolist()
    assert run.slots >= run.link_bound_slots > run.port_bound_slots
    assert run.packets == sum(-(-size // 4096) for size in matrix.bytes.tolist())
    nuice.save_matrix_market(tmp_path / "m.mtx", matrix)
    words = ["simulate", "m.mtx", "--machine", "fattree-ib", "--model", "packets"]
    result = nuice_command(*words, "--schedulers", "ac,link_coloring", "--queueing", "voq", "--json").json()
    by_name = {row["scheduler"]: row for row in result["schedulers"]}
    assert by_name["ac"]["executor"] == "async" and by_name["link_coloring"]["executor"] == "depend"
    assert by_name["link_coloring"]["slots_to_bound"] >= 1
    assert nuice_command(*words).status == 0
    for wrong in (["--queueing", "lifo"], ["--routing", "x"], ["--model", "x"], ["--plot", "m.png"]):
        assert nuice_command(*words, *wrong).status == 2
    with pytest.raises(nuice.Error, match="packet simulator"):
        nuice.simulate_packets(matrix, plan.schedule, "ipsc860-64", "async")

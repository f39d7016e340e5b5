# SPDX-License-Identifier: BSD-3-Clause
"""Machines and the simulator from Python, and the command."""

from __future__ import annotations

import pytest

import nuice


@pytest.fixture(scope="module")
def matrix() -> nuice.CommMatrix:
    return nuice.random_regular(16, 5, unit_bytes=1000, max_units=8, seed=2)


def test_every_scheduler_on_every_machine(matrix) -> None:
    names = ["ac", "lp", "rs_n", "rs_nl", "rex", "rs_nh", "drs_n"]
    for name in nuice.machine_names():
        machine = nuice.find_machine(name)
        for prediction in nuice.predict(matrix, machine, names):
            if prediction.run is None:
                assert prediction.reason
                continue
            assert prediction.run.delivered.tolist() == matrix.bytes.tolist()
            assert prediction.run.seconds >= prediction.bound_s * (1 - 1e-9)


def test_a_changed_copy_of_a_machine(matrix) -> None:
    machine = nuice.find_machine("cm5-32")
    slower = machine.replace(byte_s=2 * machine.byte_s, topology="crossbar:16", duplex="full")
    assert slower.byte_s == 2 * machine.byte_s
    assert (slower.topology, slower.duplex, slower.num_ranks) == ("crossbar:16", "full", 16)
    assert machine.duplex == "half"
    for wrong in ({"byte_s": -1.0}, {"speed": 3}, {"duplex": "both"}, {"packet_header": 4}):
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
    lists = ["--schedulers", "drs_n,drs_n:list,drs_n:early", "--drs-early-bytes", "2000"]
    forms = nuice_command("simulate", "m.mtx", "--machine", "cm5-32", *lists, "--json").json()["schedulers"]
    assert [f["scheduler"] for f in forms] == ["drs_n", "drs_n:list", "drs_n:early"]
    assert forms[0] == by_name["drs_n"]
    assert [f["inquiries"] for f in forms[1:]] == [matrix.num_messages] * 2
    early = nuice.simulate_drs_n(matrix, "cm5-32", when_busy="list", early_bytes=2000)
    assert early.delivered.tolist() == matrix.bytes.tolist() and forms[2]["seconds"] == early.seconds
    with pytest.raises(nuice.Error, match='"ask"; known: refuse, list'):
        nuice.simulate_drs_n(matrix, "cm5-32", when_busy="ask")
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

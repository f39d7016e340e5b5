# SPDX-License-Identifier: BSD-3-Clause
"""The test network where none is made: names, times, launch commands, presets, what is read of a switch."""

from __future__ import annotations

import pytest

from test_testbed import FOLDER, network, testbed

import commands  # isort: skip
import launch  # isort: skip
import ports as port_counters  # isort: skip


def test_counters_of_several_ports_are_told_apart():
    line = "  {}: 1 2 3 4 5 6 7 8 {} 2 0 0 0 0 0 0"
    text = "\n".join(line.format(*x) for x in [("p10", 3), ("p2-1", 2), ("p2", 1), ("br0", 9), ("up0", 9)])
    assert port_counters.read_ports(text) == {(2, 0): 1, (2, 1): 2, (10, 0): 3}


def test_names_are_words():
    for name in ("../x", ""):
        refused = testbed("status", "--name", name)
        assert (refused.returncode, "small letters" in refused.stderr) == (2, True)


@pytest.mark.parametrize("seconds", ["nan", "-1", "inf"])
def test_a_timeout_is_seconds(seconds):
    refused = testbed("run", "--timeout", seconds, "true")
    assert refused.returncode == 2
    assert refused.stderr == f"nuice-testbed: --timeout {seconds}: seconds from 0 on\n"


@pytest.mark.parametrize("kind", ["openmpi4", "openmpi5", "mpich"])
def test_launch_commands_fill_hosts_in_blocks(kind):
    multi = network.Network("a", 7, network.PRESETS["multi"])
    words = launch.command(launch.Launcher("mpiexec", kind), multi, 9, ["program", "--flag"])
    assert words[-2:] == ["program", "--flag"]
    assert words[:4] == ["ip", "netns", "exec", "nuice-a-sw"]
    assert "10.77.7.1:4,10.77.7.2:4,10.77.7.3:4" in words
    with pytest.raises(network.TestbedError, match="room for 1 to 32"):
        launch.command(launch.Launcher("mpiexec", kind), multi, 33, ["program"])


@pytest.mark.parametrize("kind", ["openmpi4", "openmpi5"])
def test_open_mpi_is_given_all_ports(kind):
    multi2 = network.Network("a", 7, network.PRESETS["multi2"])
    words = launch.command(launch.Launcher("mpiexec", kind), multi2, 32, ["program"])
    assert words[words.index("btl_tcp_if_include") + 1] == "10.77.7.0/24,10.78.7.0/24"


def test_presets_are_those_of_the_documentation():
    page = (FOLDER.parents[1] / "docs" / "how-to" / "testbed.md").read_text()
    for name, settings in network.PRESETS.items():
        row = next(line for line in page.splitlines() if line.startswith(f"| `{name}`"))
        assert f"| {settings.hosts}" in row
        assert settings.rate.removesuffix("mbit") + " Mbit/s" in row
        queue = (
            f"{settings.buffer} packets" if settings.topology else settings.queue.removesuffix("k") + " KiB"
        )
        assert queue in row
        assert (settings.ports_per_host > 1) == ("ports" in row.split("|")[3])


def test_a_bucket_holds_what_is_due_while_its_shaper_wakes_up_late():
    assert commands.burst_bytes("50mbit") == 4000
    assert commands.burst_bytes("4gbit") == 125_000

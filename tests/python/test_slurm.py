# SPDX-License-Identifier: BSD-3-Clause
"""Slurm's topology.yaml."""

from __future__ import annotations

from pathlib import Path

import pytest

import nuice
from nuice.slurm import topology_conf

TWO = """
- topology: small
  tree:
    switches:
      - switch: alone
        nodes: a[1-2]
- topology: whole
  cluster_default: true
  tree:
    switches:
      - switch: spine
        children: leaf[0-1]
      - switch: leaf0
        nodes: n[00-03]
      - switch: leaf1
        nodes: n04,n[05-07]
- topology: blocks
  block:
    block_sizes: [4]
    blocks: [{block: b1, nodes: "n[00-03]"}]
"""


def test_the_default_topology_is_the_network_of_the_same_conf(nuice_main, tmp_path: Path) -> None:
    (tmp_path / "topology.yaml").write_text(TWO)
    result = nuice_main("export", "slurm", "topology.yaml", "-o", "topology.conf", "--json").json()
    assert result["ranks"] == 8
    assert (tmp_path / "topology.conf").read_text() == (
        "SwitchName=spine Switches=leaf[0-1]\n"
        "SwitchName=leaf0 Nodes=n[00-03]\nSwitchName=leaf1 Nodes=n04,n[05-07]\n"
    )
    net = nuice.make_topology(f"slurm:{tmp_path / 'topology.conf'}")
    names = [net.vertex_name(net.link(i).dst) for i in net.route(1, 6)]
    assert names == ["spine", "leaf1"]
    shown = nuice_main("export", "slurm", "topology.yaml", "-o", "small.conf", "--name", "small")
    assert shown.status == 0 and "has 2 hosts" in shown.out


@pytest.mark.parametrize(
    ("text", "name", "code", "says"),
    [
        ("a: [", None, "parse", "t.yaml: while parsing"),
        ("- 2026-02-31", None, "parse", "t.yaml: day "),
        ("[" * 5000, None, "limit", "lists in lists"),
        ("&a [*a]", None, "parse", '"topology" is missing'),
        ("just words", None, "parse", "expected a list of topologies"),
        ("- tree: {}", None, "parse", '"topology" is missing'),
        ("- topology: t\n  tree: {switches: []}", None, "parse", '"switches" is missing, or no list'),
        ("- topology: t\n  tree: {switches: [{nodes: a}]}", None, "parse", '"switch" is missing'),
        ("- topology: t\n  tree: {switches: [{switch: s, hosts: a}]}", None, "parse", 'unknown key "hosts"'),
        ("- topology: t\n  tree: {switches: [{switch: s, nodes: a b}]}", None, "parse", "no blanks"),
        (TWO, "other", "not_applicable", 'no topology "other"; there are small, whole, blocks'),
        (TWO, "blocks", "not_applicable", "blocks has no tree of switches"),
        (TWO.replace("cluster_default: true", ""), None, "not_applicable", "no one topology is the default"),
    ],
)
def test_what_is_wrong_is_named(text: str, name: str | None, code: str, says: str) -> None:
    with pytest.raises(nuice.Error) as error:
        topology_conf(text, name, "t.yaml")
    assert error.value.code == code and says in str(error.value)


def test_a_yaml_file_given_as_network_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "topology.yaml").write_text(TWO)
    with pytest.raises(nuice.Error, match="nuice export slurm"):
        nuice.make_topology(f"slurm:{tmp_path / 'topology.yaml'}")


def test_what_is_no_network_is_not_written(nuice_main, tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text("- topology: t\n  tree: {switches: [{switch: s, children: s}]}\n")
    result = nuice_main("export", "slurm", "t.yaml", "-o", "t.conf")
    assert result.status == 2
    assert 't.yaml, as t.conf:1: switch "s" is below itself' in result.err
    assert [path.name for path in tmp_path.iterdir()] == ["t.yaml"]

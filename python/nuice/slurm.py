# SPDX-License-Identifier: BSD-3-Clause
"""Slurm's topology.yaml as the topology.conf that networks are read from (slurm:FILE).

text = topology_conf(Path("topology.yaml").read_text())
"""

from __future__ import annotations

from typing import Any

from .errors import Error


def topology_conf(text: str, name: str | None = None, file: str = "topology.yaml") -> str:
    """The lines SwitchName=... of one topology of the file: that called `name`, else the cluster's default,
    else the only one with switches. Error parse: not such a file; not_applicable: no such topology, or one
    without switches (block, flat)."""
    topologies = _read(text, file)
    chosen = _choose(topologies, name, file)
    switches = _field(chosen.get("tree"), "switches", list, f"{file}: topology {chosen['topology']}: tree")
    return "".join(f"{_line(switch, file)}\n" for switch in switches)


def _read(text: str, file: str) -> list[dict[str, Any]]:
    import yaml

    try:
        found = yaml.safe_load(text)
    except RecursionError:
        raise Error(f"{file}: lists in lists without end", "limit") from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: the 31st of February, a number without digits
        raise Error(f"{file}: {' '.join(str(error).split())}", "parse") from None
    if not isinstance(found, list) or not found:
        raise Error(f"{file}: expected a list of topologies", "parse")
    for entry in found:
        _field(entry, "topology", str, f"{file}: a topology")
    return found


def _choose(topologies: list[dict[str, Any]], name: str | None, file: str) -> dict[str, Any]:
    names = ", ".join(entry["topology"] for entry in topologies)
    if name is not None:
        fitting = [entry for entry in topologies if entry["topology"] == name]
    else:
        trees = [entry for entry in topologies if "tree" in entry]
        fitting = [entry for entry in topologies if entry.get("cluster_default") is True]
        fitting = fitting or (trees if len(trees) == 1 else [])
    if len(fitting) != 1:
        what = f'no topology "{name}"' if name is not None else "no one topology is the default"
        raise Error(f"{file}: {what}; there are {names}", "not_applicable")
    if "tree" not in fitting[0]:
        raise Error(f"{file}: topology {fitting[0]['topology']} has no tree of switches", "not_applicable")
    return fitting[0]


def _line(switch: Any, file: str) -> str:
    name = _field(switch, "switch", str, f"{file}: a switch")
    known = {"switch": "SwitchName", "nodes": "Nodes", "children": "Switches"}
    if unknown := sorted(set(switch) - set(known)):
        raise Error(f'{file}: switch {name}: unknown key "{unknown[0]}"; known: {", ".join(known)}', "parse")
    words = [
        f"{word}={_field(switch, key, str, f'{file}: switch {name}')}"
        for key, word in known.items()
        if key in switch
    ]
    if any(character.isspace() for word in words for character in word):
        raise Error(f"{file}: switch {name}: names have no blanks", "parse")
    return " ".join(words)


def _field(entry: Any, key: str, kind: type, where: str) -> Any:
    value = entry.get(key) if isinstance(entry, dict) else None
    if not isinstance(value, kind) or not value:
        raise Error(f'{where}: "{key}" is missing, or no {"list" if kind is list else "text"}', "parse")
    return value

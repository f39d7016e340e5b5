# SPDX-License-Identifier: BSD-3-Clause
"""nuice list: lists the schedulers, executors, broadcasts, patterns, networks and machines."""

from __future__ import annotations

from typing import Any

import typer

from .. import _core
from . import output
from .options import AsJson

PATTERNS = (
    ("random", "every rank sends and receives the same number of messages", "003 fig. 7"),
    ("density", "every pair of ranks has a message with a given probability", "001 s.4"),
    ("airfoil", "halo of a partitioned mesh around a NACA 0012 profile", "004 s.5, 001"),
    ("euler", "halo of a mesh of tetrahedra cut by coordinates", "001 table 12, 000 fig. 14"),
    ("cg", "halo of a seven-point Laplacian cut into boxes", "001 table 12"),
    ("partition", "halo with the printed numbers of 004's airfoil meshes", "004 s.5"),
)


def list_all(as_json: AsJson = False) -> None:
    """List schedulers, executors, broadcasts, patterns, networks (--topology) and machines (simulate)."""
    result = {
        "schedulers": [
            {
                "name": s.name,
                "guarantees": s.guarantees,
                "randomized": s.randomized,
                "alias_of": s.alias_of or None,
                "source": s.source,
                "summary": s.summary,
            }
            for s in _core.schedulers()
        ],
        "executors": [
            {
                "name": e.name,
                "needs": e.needs,
                "simulated": e.is_simulated,
                "on_mpi": e.on_mpi,
                "source": e.source,
                "summary": e.summary,
            }
            for e in _core.executors()
        ],
        "broadcasts": [
            {"name": b.name, "source": b.source, "summary": b.summary} for b in _core.broadcasters()
        ],
        "patterns": [dict(zip(("name", "summary", "source"), row, strict=True)) for row in PATTERNS],
        "topologies": [
            {"name": k.name, "syntax": k.syntax, "source": k.source, "summary": k.summary}
            for k in _core.topology_kinds()
        ],
        "machines": [
            {"name": m.name, "topology": m.topology, "summary": m.summary}
            for m in map(_core.find_machine, _core.machine_names())
        ],
    }
    output.report(as_json, result, lambda console: _show(console, result))


def _show(console: Any, result: dict[str, Any]) -> None:
    rows = [
        (s["name"], " ".join(s["guarantees"]), _yes(s["randomized"]), s["source"], s["summary"])
        for s in result["schedulers"]
    ]
    console.print(output.table(("scheduler", "guarantees", "seeded", "source", "summary"), rows, left=5))
    rows = [
        (e["name"], _yes(e["simulated"]), _yes(e["on_mpi"]), e["source"], e["summary"])
        for e in result["executors"]
    ]
    console.print(output.table(("executor", "simulated", "on MPI", "source", "summary"), rows, left=5))
    rows = [(b["name"], b["source"], b["summary"]) for b in result["broadcasts"]]
    console.print(output.table(("broadcast", "source", "summary"), rows, left=3))
    rows = [(p["name"], p["source"], p["summary"]) for p in result["patterns"]]
    console.print(output.table(("pattern", "source", "summary"), rows, left=3))
    rows = [(k["syntax"], k["source"], k["summary"]) for k in result["topologies"]]
    console.print(output.table(("network", "source", "summary"), rows, left=3))
    rows = [(m["name"], m["topology"], m["summary"]) for m in result["machines"]]
    console.print(output.table(("machine", "topology", "summary"), rows, left=3))
    console.print("Sources: docs/explanation/papers.md. All schedules deliver every byte exactly once.")


def _yes(flag: bool) -> str:
    return "yes" if flag else "no"


def register(app: typer.Typer) -> None:
    app.command("list", epilog="nuice list\n\nnuice list --json")(list_all)

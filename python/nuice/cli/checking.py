# SPDX-License-Identifier: BSD-3-Clause
"""nuice check: whether a plan is right for a matrix."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .. import _core
from ..planning import Plan, load_plan
from . import output
from .options import AsJson, MatrixFile, TopologySpec


def check(
    plan_file: Annotated[Path, typer.Argument(metavar="PLAN", help="A file that `nuice plan -o` wrote.")],
    file: MatrixFile,
    topology: TopologySpec = None,
    as_json: AsJson = False,
) -> int:
    """Check a plan: does every byte of the matrix arrive exactly once, and do the claimed guarantees hold?

    A plan that claims link_free names its network. With --topology the plan must be link_free on the given
    network, whatever it claims.

    Exit code 0 if the plan is right, 1 if it is wrong (the first violation is named), 2 for bad input, such
    as a plan that was made for another matrix.
    """
    plan = load_plan(plan_file, _core.load_matrix_market(file), topology)
    result = {
        "plan": str(plan_file),
        "file": str(file),
        "scheduler": plan.scheduler,
        "seed": plan.seed,
        "guarantees": list(plan.guarantees),
        "ranks": plan.matrix.num_ranks,
        "messages": plan.matrix.num_messages,
        "phases": plan.phases,
        "topology": plan.topology.name if plan.topology else None,
        "verified": plan.verified,
        "violation": _violation(plan),
    }
    output.report(as_json, result, lambda console: console.print(_sentence(plan_file, plan)))
    return 0 if plan.verified else 1


def _violation(plan: Plan) -> dict[str, Any] | None:
    if plan.violation is None:
        return None
    names = ("kind", "phase", "src", "dst", "message_src", "message_dst", "offset", "bytes")
    links = ("link", "other_src", "other_dst", "text")
    return {name: getattr(plan.violation, name) for name in names + links}


def _sentence(plan_file: Path, plan: Plan) -> str:
    if plan.violation is not None:
        return f"{plan_file}: wrong: {plan.violation.text}"
    kept = f"; keeps {', '.join(plan.guarantees)}" if plan.guarantees else ""
    kept += f" on {plan.topology.name}" if plan.topology else ""
    return f"{plan_file}: right: {plan.matrix.num_messages} messages delivered in {plan.phases} phases{kept}"


def register(app: typer.Typer) -> None:
    app.command("check", epilog="nuice check halo.plan halo.mtx")(check)

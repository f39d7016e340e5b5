# SPDX-License-Identifier: BSD-3-Clause
"""nuice export: schedules for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .. import _core
from ..files import OutputFiles
from ..goal import goal_text
from ..planning import load_plan
from ..planning import plan as make_plan
from . import output
from .options import AsJson, MatrixFile, Seed, TopologySpec

app = typer.Typer(help="Write schedules for other programs.", no_args_is_help=True)


@app.callback()
def common() -> None:
    """Write schedules for other programs."""


@app.command("goal", epilog="nuice export goal halo.mtx --scheduler coloring -o halo.goal")
def goal(
    file: MatrixFile,
    out: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE.goal", help="Write the schedule here.")
    ],
    plan_file: Annotated[
        Path | None, typer.Option("--plan", metavar="PLAN", help="A file that `nuice plan -o` wrote.")
    ] = None,
    scheduler: Annotated[
        str, typer.Option(metavar="NAME", help="Without --plan: the scheduler.")
    ] = "coloring",
    executor: Annotated[str, typer.Option(metavar="NAME", help="phased, or async.")] = "phased",
    seed: Seed = 0,
    topology: TopologySpec = None,
    as_json: AsJson = False,
) -> int:
    """Write a schedule in GOAL, the input language of the simulators LogGOPSim, ATLAHS and htsim.

    The file has one exchange: the sends and receives of every rank, and their order.
    """
    matrix = _core.load_matrix_market(file)
    if plan_file is not None:
        plan = load_plan(plan_file, matrix, topology)
    else:
        plan = make_plan(matrix, scheduler, seed, topology=topology)
    text = goal_text(plan.schedule, matrix.num_ranks, executor)
    with OutputFiles() as files:
        files.temporary(out).write_text(text, encoding="utf-8")
    result = {
        "file": str(file),
        "goal": str(out),
        "scheduler": plan.scheduler,
        "executor": executor,
        "ranks": matrix.num_ranks,
        "phases": plan.phases,
        "transfers": plan.schedule.num_transfers,
        "verified": plan.verified,
    }
    sizes = f"{plan.schedule.num_transfers} transfers of {matrix.num_ranks} ranks"
    sentence = f"{out}: {plan.scheduler}, {executor}, {sizes}"
    output.report(as_json, result, lambda console: console.print(sentence))
    return 0 if plan.verified else 1


def register(parent: typer.Typer) -> None:
    parent.add_typer(app, name="export")

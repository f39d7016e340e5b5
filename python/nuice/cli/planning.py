# SPDX-License-Identifier: BSD-3-Clause
"""nuice plan: one schedule, checked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .. import _core
from ..files import OutputFiles
from ..planning import Plan
from ..planning import plan as make_plan
from . import output
from .options import AsJson, MatrixFile, PhaseCostBytes, Plot, Seed, TopologySpec


def plan(
    file: MatrixFile,
    scheduler: Annotated[str, typer.Option(metavar="NAME", help="A name that `nuice list` shows.")] = "rs_n",
    seed: Seed = 0,
    topology: TopologySpec = None,
    pairs: Annotated[
        bool,
        typer.Option("--pairs", help="rs_nl: ranks with messages for each other exchange them in one phase."),
    ] = False,
    phase_cost_bytes: PhaseCostBytes = _core.DEFAULT_PHASE_COST_BYTES,
    plan_file: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="PLAN", help="Write the schedule to this file.")
    ] = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> int:
    """Plan an exchange: make a schedule for a matrix, check it, and show how far it is from the bounds.

    Schedulers that guarantee link_free need a network (--topology). For other schedulers, --topology only
    adds statistics of the links. Rank i of the matrix is rank i of the network.

    The picture shows the phases as a timeline: which rank sends to which rank, and how long each phase lasts
    if every rank has one port.
    """
    matrix = _core.load_matrix_market(file)
    with OutputFiles() as out:
        plan_name, picture = out.optional(plan_file), out.picture(plot)
        result = make_plan(
            matrix,
            scheduler,
            seed,
            topology=topology,
            prefer_pairs=pairs,
            phase_cost_bytes=phase_cost_bytes,
        )
        if plan_name and result.verified:
            result.save(plan_name)
        if picture:
            from ..plots import draw_timeline, save_figure

            save_figure(draw_timeline([result]), picture)
    figures = {
        "file": str(file),
        **result.figures(),
        "phase_cost_bytes": phase_cost_bytes,
        "violation": result.violation.text if result.violation else None,
        "plan": str(plan_file) if plan_file and result.verified else None,
        "plot": str(plot) if plot else None,
    }
    output.report(as_json, figures, lambda console: _show(console, result, figures))
    return 0 if result.verified else 1


def _show(console: Any, plan: Plan, figures: dict[str, Any]) -> None:
    lines = {
        "scheduler": f"{figures['scheduler']}, seed {figures['seed']}",
        "guarantees": ", ".join(figures["guarantees"]) or "none",
        "ranks, messages": f"{figures['ranks']}, {figures['messages']}",
        "phases": f"{figures['phases']}  (max degree {figures['max_degree']})",
        "phase bytes": f"{figures['phase_bytes']}  (bound {figures['bound_bytes']})",
        "bytes / bound": output.ratio_text(figures["bytes_to_bound"]),
        **output.link_lines(figures),
        "time to plan": output.time_text(figures["plan_seconds"]),
        "verified": output.verdict_text(plan.verified)
        + (f": {figures['violation']}" if plan.violation else ""),
    }
    for name in ("plan", "plot"):
        if figures[name]:
            lines[f"{name} in"] = figures[name]
    console.print(output.pairs(lines))


def register(app: typer.Typer) -> None:
    epilog = (
        "nuice plan halo.mtx --scheduler coloring -o halo.plan --plot halo.png\n\n"
        "nuice plan halo.mtx --scheduler link_coloring --topology hypercube:3\n\nnuice plan halo.mtx --json"
    )
    app.command("plan", epilog=epilog)(plan)

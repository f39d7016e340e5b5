# SPDX-License-Identifier: BSD-3-Clause
"""nuice frontier: the best schedules from fewest phases to fewest bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .. import _core
from ..files import OutputFiles
from ..tradeoff import Frontier, FrontierPoint
from ..tradeoff import frontier as find_frontier
from . import output
from .options import AsJson, MatrixFile, Seed


def frontier(
    file: MatrixFile,
    alpha_us: Annotated[float, typer.Option(metavar="US", help="Cost of a phase in microseconds.")] = 20.0,
    beta_ns: Annotated[
        float, typer.Option(metavar="NS", help="Time per byte in nanoseconds; 0.8 is 10 Gbit/s.")
    ] = 0.8,
    seed: Seed = 0,
    plan_output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="PLAN", help="Write the cheapest plan here.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Show the best schedules, from fewest phases to fewest bytes, and the cheapest schedule for a machine.

    Model: cost = alpha * phases + beta * (sum of the largest transfers of all phases). In this model, ranks
    send and receive one message at a time, and wait for each other after every phase.
    """
    matrix = _core.load_matrix_market(file)
    with OutputFiles() as out:
        target = out.optional(plan_output)
        found = find_frontier(matrix, alpha_us * 1e-6, beta_ns * 1e-9, seed)
        if target:
            found.best.plan.save(target)
    bounds = _core.lower_bounds(matrix)
    result = {
        "file": str(file),
        "alpha_us": alpha_us,
        "beta_ns": beta_ns,
        "seed": seed,
        "max_degree": bounds.max_degree,
        "bound_bytes": bounds.max_port_bytes,
        "whole_message_bytes": _core.whole_message_bytes(matrix),
        "bound_seconds": found.bound_s,
        "points": [_figures(point, found) for point in found.points],
        "best": _figures(found.best, found),
        "plan": str(plan_output) if plan_output else None,
    }
    output.report(as_json, result, lambda console: _show(console, result))
    return 0 if all(point.plan.verified for point in found.points) else 1


def _figures(point: FrontierPoint, found: Frontier) -> dict[str, Any]:
    return {
        **point.plan.figures(),
        "phase_cost_bytes": point.phase_cost_bytes,
        "cost_seconds": point.cost_s,
        "cost_to_bound": point.cost_s / found.bound_s,
    }


def _name(f: dict[str, Any]) -> str:
    asked = f["phase_cost_bytes"]
    return f["scheduler"] if asked is None else f"{f['scheduler']}, a phase = {output.size_text(asked)}"


def _show(console: Any, result: dict[str, Any]) -> None:
    console.print(
        f"{result['file']}: max degree {result['max_degree']}, bound {result['bound_bytes']} bytes, "
        f"{result['whole_message_bytes']} for whole messages"
    )
    columns = ("scheduler", "phases", "/ max degree", "phase bytes", "/ bound", "cost", "/ bound", "to plan")
    rows = [
        (
            _name(f) + (" *" if f["cost_seconds"] == result["best"]["cost_seconds"] else ""),
            str(f["phases"]),
            output.ratio_text(f["phases_to_max_degree"]),
            str(f["phase_bytes"]),
            output.ratio_text(f["bytes_to_bound"]),
            output.time_text(f["cost_seconds"]),
            output.ratio_text(f["cost_to_bound"]),
            output.time_text(f["plan_seconds"]),
        )
        for f in result["points"]
    ]
    console.print(output.table(columns, rows))
    above = 100 * (result["best"]["cost_to_bound"] - 1)
    console.print(
        f"* cheapest if a phase costs {result['alpha_us']:g} us and a byte {result['beta_ns']:g} ns: "
        f"{_name(result['best'])}, {above:.1f} % above the bound (a model)"
    )
    if result["plan"]:
        console.print(f"plan: {result['plan']}")


def register(app: typer.Typer) -> None:
    epilog = "nuice frontier halo.mtx --alpha-us 5 --beta-ns 0.1 -o halo.plan"
    app.command("frontier", epilog=epilog)(frontier)

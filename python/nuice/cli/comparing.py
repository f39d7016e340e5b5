# SPDX-License-Identifier: BSD-3-Clause
"""nuice compare: the schedules of all schedulers for a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from .. import _core
from ..files import OutputFiles
from ..planning import Comparison
from ..planning import compare as compare_all
from . import output
from .options import AsJson, MatrixFile, PhaseCostBytes, Plot, Seed, TopologySpec, names_in


def compare(
    file: MatrixFile,
    schedulers: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Only these, in this order; all if not given.")
    ] = None,
    seed: Seed = 0,
    topology: TopologySpec = None,
    phase_cost_bytes: PhaseCostBytes = _core.DEFAULT_PHASE_COST_BYTES,
    repeat: Annotated[
        int, typer.Option(min=1, metavar="R", help="Planning time is the median of R runs.")
    ] = 5,
    plot: Plot = None,
    as_json: AsJson = False,
) -> int:
    """Compare schedulers on a matrix: phases, bytes and planning time, each schedule checked.

    Ratios are relative to the lower bounds for ranks that send and receive one message at a time. Schedulers
    without this property (ac) have no ratios. With a network, rounds is the number of phases if transfers
    that share a link wait for each other. Its lower bound comes from the ports or from the busiest link. Exit
    code 1 if a schedule is wrong.
    """
    names = None if schedulers is None else names_in("--schedulers", schedulers)
    matrix = _core.load_matrix_market(file)
    with OutputFiles() as out:
        picture = out.picture(plot)
        comparisons = compare_all(
            matrix, names, seed, repeat=repeat, topology=topology, phase_cost_bytes=phase_cost_bytes
        )
        if picture:
            from ..plots import draw_comparison, save_figure

            title = f"{file.name}: {matrix.num_ranks} ranks, {matrix.num_messages} messages"
            save_figure(draw_comparison(comparisons, title), picture)
    bounds = _core.lower_bounds(matrix)
    links = next((c.plan.link_bounds for c in comparisons if c.plan is not None), None)
    result = {
        "file": str(file),
        "seed": seed,
        "topology": topology,
        "link_bound_phases": links.phases if links else None,
        "link_bound_bytes": links.bytes if links else None,
        "phase_cost_bytes": phase_cost_bytes,
        "ranks": matrix.num_ranks,
        "messages": matrix.num_messages,
        "max_degree": bounds.max_degree,
        "bound_bytes": bounds.max_port_bytes,
        "whole_message_bytes": _core.whole_message_bytes(matrix),
        "schedulers": [c.figures() for c in comparisons],
        "plot": str(plot) if plot else None,
    }
    output.report(as_json, result, lambda console: _show(console, comparisons, result))
    return 0 if all_right(comparisons) else 1


def all_right(comparisons: Sequence[Comparison]) -> bool:
    return all(c.plan.verified for c in comparisons if c.plan is not None)


def _show(console: Any, comparisons: Sequence[Comparison], result: dict[str, Any]) -> None:
    console.print(
        f"{result['file']}: {result['ranks']} ranks, {result['messages']} messages, max degree "
        f"{result['max_degree']}, bound {result['bound_bytes']} bytes, "
        f"{result['whole_message_bytes']} for whole messages"
    )
    if result["topology"] and result["link_bound_phases"] is not None:
        console.print(
            f"{result['topology']}: busiest link {result['link_bound_phases']} phases, "
            f"{result['link_bound_bytes']} bytes at least on its routes"
        )
    console.print(comparison_table(comparisons))
    for c in comparisons:
        if c.plan is None:
            console.print(f"{c.scheduler} is not applicable: {c.reason}")
        elif c.plan.violation is not None:
            console.print(f"{c.scheduler} is wrong: {c.plan.violation.text}")
    if result["plot"]:
        console.print(f"picture: {result['plot']}")


def comparison_table(comparisons: Sequence[Comparison]) -> Any:
    figures = [c.figures() for c in comparisons if c.plan is not None]
    with_links = any("topology" in f for f in figures)
    columns = (
        "scheduler",
        "phases",
        "/ max degree",
        *(("rounds", "/ bound") if with_links else ()),
        "phase bytes",
        "/ bound",
        "time to plan",
        "verified",
    )
    rows = [
        (
            f["scheduler"],
            str(f["phases"]),
            output.ratio_text(f["phases_to_max_degree"]),
            *((str(f["link_rounds"]), output.ratio_text(f["rounds_to_bound"])) if with_links else ()),
            str(f["phase_bytes"]),
            output.ratio_text(f["bytes_to_bound"]),
            output.time_text(f["plan_seconds"]),
            output.verdict_text(f["verified"]),
        )
        for f in figures
    ]
    return output.table(columns, rows)


def register(app: typer.Typer) -> None:
    epilog = "nuice compare halo.mtx --plot halo.png\n\nnuice compare halo.mtx --schedulers rs_n,coloring\n\n"
    epilog += "nuice compare halo.mtx --topology torus:8x8"
    app.command("compare", epilog=epilog)(compare)

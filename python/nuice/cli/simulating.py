# SPDX-License-Identifier: BSD-3-Clause
"""nuice simulate: the times that schedules take on a machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from .. import _core
from ..errors import Error
from ..files import OutputFiles
from ..simulation import (
    DRS_N,
    PacketPrediction,
    Prediction,
    machine_for,
    predict,
    predict_packets,
)
from . import output
from .options import AsJson, MatrixFile, Plot, RanksPerHost, Seed, names_in

MODELS = ("fluid", "packets")


def simulate(
    file: MatrixFile,
    machine: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="A shipped machine (nuice list), or a file NAME.toml, such as nuice-calibrate writes.",
        ),
    ],
    schedulers: Annotated[
        str,
        typer.Option(metavar="A,B,...", help="Only these, in this order; also drs_n."),
    ] = "all",
    executor: Annotated[
        str, typer.Option(metavar="E", help="auto or a name (docs/reference/machines.md).")
    ] = "auto",
    blocking: Annotated[
        bool, typer.Option("--blocking", help="A rank's next send waits until the previous one has left.")
    ] = False,
    model: Annotated[
        str,
        typer.Option(metavar="M", help="fluid, or packets: a lossless network packet by packet."),
    ] = "fluid",
    queueing: Annotated[
        str, typer.Option(metavar="Q", help="packets: queues of switches are fifo or voq.")
    ] = "fifo",
    routing: Annotated[
        str,
        typer.Option(metavar="R", help="packets: table (the network's), random (ECMP), spray (adaptive)."),
    ] = "table",
    seed: Seed = 0,
    ranks_per_host: RanksPerHost = 1,
    plot: Plot = None,
    as_json: AsJson = False,
) -> int:
    """Simulate schedules on a machine: time, ratio to the bound, idle time, contention.

    The bound is the time that the busiest port needs for its bytes at full speed; no execution is faster.
    Exit code 1 if a schedule is wrong.
    """
    names = None if schedulers == "all" else names_in("--schedulers", schedulers)
    matrix = _core.load_matrix_market(file)
    target = machine_for(machine, matrix, ranks_per_host)
    if model not in MODELS:
        raise Error(f'unknown model "{model}"; known: {", ".join(MODELS)}')
    if model == "packets":
        if plot:
            raise Error("--plot draws the fluid model only")
        packets = predict_packets(
            matrix, target, names, seed, executor=executor, queueing=queueing, routing=routing
        )
        return _report_packets(file, matrix, target, packets, (queueing, routing, seed), as_json)
    settings = dict(executor=executor, blocking_sends=blocking)
    predictions = _predict(matrix, target, names, seed, settings, plot)
    return _report(file, matrix, target, predictions, seed, plot, as_json)


def _predict(
    matrix: Any, target: Any, names: list[str] | None, seed: int, settings: dict[str, Any], plot: Any
) -> list[Prediction]:
    """Predicts by the fluid model, and draws the runs if a picture is requested."""
    with OutputFiles() as out:
        picture = out.picture(plot)
        predictions = predict(matrix, target, names, seed, timeline=picture is not None, **settings)
        if picture:
            from ..plots import draw_runs, save_figure

            save_figure(draw_runs(predictions, target.name), picture)
    return predictions


def _report(
    file: Any, matrix: Any, target: Any, predictions: list[Prediction], seed: int, plot: Any, as_json: bool
) -> int:
    result = {
        "file": str(file),
        "machine": target.name,
        "topology": target.topology,
        "seed": seed,
        "ranks": matrix.num_ranks,
        "messages": matrix.num_messages,
        "port_bound_seconds": _core.port_bound_s(matrix, target),
        "link_bound_seconds": _core.link_bound_s(matrix, target),
        "schedulers": [p.figures() for p in predictions],
        "plot": str(plot) if plot else None,
    }
    output.report(as_json, result, lambda console: _show(console, predictions, result))
    return 0 if all(p.plan.verified for p in predictions if p.plan is not None) else 1


def _report_packets(
    file: Any,
    matrix: Any,
    target: Any,
    packets: Sequence[PacketPrediction],
    how: tuple[str, str | None, int],
    as_json: bool,
) -> int:
    queueing, routing, seed = how
    result = {
        "file": str(file),
        "machine": target.name,
        "topology": target.topology,
        "model": "packets",
        "queueing": queueing,
        "routing": routing or target.routing,
        "seed": seed,
        "ranks": matrix.num_ranks,
        "messages": matrix.num_messages,
        "schedulers": [p.figures() for p in packets],
    }
    output.report(as_json, result, lambda console: _show_packets(console, packets, result))
    return 0 if all(p.plan.verified for p in packets if p.plan is not None) else 1


def _show_packets(console: Any, packets: Sequence[PacketPrediction], result: dict[str, Any]) -> None:
    console.print(
        f"{result['file']}: {result['ranks']} ranks, {result['messages']} messages, packet by packet on "
        f"{result['machine']} ({result['topology']}, {result['queueing']}, routes {result['routing']})"
    )
    cells = [
        [
            f["scheduler"],
            f["executor"],
            output.time_text(f["seconds"]),
            output.ratio_text(f["slots_to_bound"]),
            output.ratio_text(f["slots_to_port_bound"]),
            str(f["phases"]),
        ]
        for f in result["schedulers"]
        if f["applicable"]
    ]
    console.print(
        output.table(["scheduler", "executor", "time", "/ bound", "/ port", "phases"], cells, left=2)
    )
    for p in packets:
        if p.run is None:
            console.print(f"{p.scheduler} is not applicable: {p.reason}")


def _show(console: Any, predictions: Sequence[Prediction], result: dict[str, Any]) -> None:
    console.print(
        f"{result['file']}: {result['ranks']} ranks, {result['messages']} messages, simulated on "
        f"{result['machine']} ({result['topology']})"
    )
    bounds = f"bound: {output.time_text(result['port_bound_seconds'])} by the busiest port"
    if result["link_bound_seconds"]:
        bounds += f", {output.time_text(result['link_bound_seconds'])} by the busiest link"
    console.print(bounds)
    console.print(_table([f for f in result["schedulers"] if f["applicable"]]))
    for p in predictions:
        if p.run is None:
            console.print(f"{p.scheduler} is not applicable: {p.reason}")
        elif p.scheduler == DRS_N:
            console.print(f"{p.scheduler}: {p.run.inquiries} inquiries, {p.run.refusals} refused")
        elif p.plan is not None and p.plan.violation is not None:
            console.print(f"{p.scheduler} is wrong: {p.plan.violation.text}")
    if result["plot"]:
        console.print(f"picture: {result['plot']}")


def _table(rows: Sequence[dict[str, Any]]) -> Any:
    columns = ["scheduler", "executor", "time", "/ bound", "phases", "idle", "node cont.", "link cont."]
    any_timeouts = any(f["timeouts"] for f in rows)
    if any_timeouts:
        columns.append("timeouts")
    cells = [
        [
            f["scheduler"],
            f["executor"],
            output.time_text(f["seconds"]),
            output.ratio_text(f["seconds_to_bound"]),
            "-" if f["phases"] is None else str(f["phases"]),
            f"{100 * f['idle_share']:.0f} %",
            str(f["node_contention"]),
            str(f["link_contention"]),
            *([str(f["timeouts"])] if any_timeouts else []),
        ]
        for f in rows
    ]
    return output.table(columns, cells, left=2)


def register(app: typer.Typer) -> None:
    epilog = (
        "nuice simulate halo.mtx --machine cm5-32\n\n"
        "nuice simulate halo.mtx --machine ethernet-10g --schedulers ac,rs_n,coloring --plot runs.png\n\n"
        "nuice simulate halo.mtx --machine fattree-ib --model packets --queueing voq"
    )
    app.command("simulate", epilog=epilog)(simulate)

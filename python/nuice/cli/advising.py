# SPDX-License-Identifier: BSD-3-Clause
"""nuice advise: says which scheduler and executor suit a matrix, and why the others do not; draws maps of the
fastest candidate.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import _core
from ..advice_map import RegionMap, break_even, region_map
from ..advising import advise as find_advice
from ..errors import Error
from ..files import OutputFiles
from ..simulation import machine_for
from . import output
from .options import AsJson, Plot, RanksPerHost, Seed, names_in, whole_number

PATIENCE_S = 3.0  # for interactive use; plans take this time only while that probably saves more


def advise(
    machine: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="A shipped machine (nuice list), or a file NAME.toml, such as nuice-calibrate writes.",
        ),
    ],
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE.mtx", help="Matrix Market file: row sends to column, value = bytes."),
    ] = None,
    reuse: Annotated[
        int,
        typer.Option(parser=whole_number(1, 2**63 - 1), metavar="R", help="How often the plan will be used."),
    ] = 100,
    candidates: Annotated[
        str,
        typer.Option(
            metavar="A,B,...",
            help="SCHEDULER or SCHEDULER:EXECUTOR; all: all known ones; mpi: those that run on MPI.",
        ),
    ] = "all",
    predict_by: Annotated[
        str,
        typer.Option(metavar="HOW", help="auto (as closely as 3 s allow), rule or simulation."),
    ] = "auto",
    seed: Seed = 0,
    ranks_per_host: RanksPerHost = 1,
    region: Annotated[
        bool,
        typer.Option(
            "--map",
            help="Without a file: the fastest method by messages per rank and size (000 figs 16, 17).",
        ),
    ] = False,
    ranks: Annotated[
        int | None,
        typer.Option(
            parser=whole_number(2, 4096), metavar="N", help="Ranks of the map; by default 32 or fewer."
        ),
    ] = None,
    plot: Plot = None,
    as_json: AsJson = False,
) -> int:
    """Choose a schedule: predict the cost of every candidate, choose the least, and say why the others are
    not chosen. The cost is planning time / R + exchange time, for R uses of the plan.

    With --map the candidates are AC, LP, RS_N and RS_NL unless --candidates names others. Every cell of the
    map is simulated. A table shows up to how many messages per rank CGM (RS_N) costs no more than LP,
    according to 003 s.5.1 and according to NUICE.
    """
    if region == (file is not None):
        raise Error("nuice advise takes a FILE.mtx, or --map and no file")
    if plot and not region:
        raise Error("--plot draws the map: it needs --map")
    if ranks and not region:
        raise Error("--ranks is of the map: it needs --map")
    target = _core.find_machine(machine)
    how = None if predict_by == "auto" else predict_by
    names = _names(candidates, target, region)
    if file is not None:
        matrix = _core.load_matrix_market(file)
        fitting = machine_for(target, matrix, ranks_per_host)
        _advise(file, matrix, fitting, reuse, names, how, seed, as_json)
    else:
        _map(target, ranks, reuse, names, how, seed, plot, as_json)
    return 0


def _names(text: str, machine: _core.Machine, region: bool) -> list[str] | None:
    if text == "all":
        return None
    if text == "mpi":
        return _core.mpi_candidates(machine)
    return names_in("--candidates", text)


def _advise(
    file: Path,
    matrix: _core.CommMatrix,
    machine: _core.Machine,
    reuse: int,
    names: Sequence[str] | None,
    how: str | None,
    seed: int,
    as_json: bool,
) -> None:
    budget_s = None if how else PATIENCE_S
    advice = find_advice(
        matrix, machine, reuse, candidates=names, seed=seed, predict_by=how, budget_s=budget_s
    )
    result = {"file": str(file), **json.loads(advice.to_json())}
    output.report(as_json, result, lambda console: _show(console, result))


def _show(console: Any, result: dict[str, Any]) -> None:
    console.print(
        f"{result['file']}: {result['ranks']} ranks, {result['messages']} messages, on "
        f"{result['machine']} ({result['topology']}), {result['reuse']} uses"
    )
    console.print(f"\n{result['sentence']}\n", soft_wrap=True)
    rows = [
        [
            c["candidate"],
            output.time_text(c["total_seconds"]),
            output.time_text(c["exchange_seconds"]),
            f"{100 * c['uncertainty']:.0f} %",
            output.ratio_text(c["exchange_to_bound"] or None),
            str(c["phases"] or "-"),
            output.time_text(c["planning_seconds"]),
            c["predicted_by"],
        ]
        for c in result["candidates"]
        if c["applicable"]
    ]
    columns = ["candidate", "S / R + C", "exchange C", "+-", "/ bound", "phases", "planning S", "by"]
    console.print(output.table(columns, rows))
    for c in result["candidates"]:
        if c["why_not"]:
            verb = "Not" if c["applicable"] else "Not applicable:"
            console.print(f"{verb} {c['candidate']}: {c['why_not']}", soft_wrap=True)
    console.print(
        f"Deciding may take {output.time_text(result['budget_seconds'])} and took about "
        f"{output.time_text(result['deciding_seconds'])} (counted, not timed)."
        if result["budget_seconds"]
        else f"Deciding took about {output.time_text(result['deciding_seconds'])} (counted, not timed)."
    )


def _map(
    machine: _core.Machine,
    ranks: int | None,
    reuse: int,
    names: Sequence[str] | None,
    how: str | None,
    seed: int,
    plot: Path | None,
    as_json: bool,
) -> None:
    with OutputFiles() as out:
        picture = out.picture(plot)
        regions = region_map(
            machine, ranks, reuse=reuse, candidates=names, predict_by=how or "simulation", seed=seed
        )
        lines = break_even(machine, regions.ranks, regions.sizes)
        if picture:
            from ..plots import draw_regions, save_figure

            save_figure(draw_regions(regions, lines), picture)
    result = {
        **regions.figures(),
        "break_even": [vars(line) for line in lines],
        "plot": str(plot) if plot else None,
    }
    output.report(as_json, result, lambda console: _show_map(console, regions, result))


def _show_map(console: Any, regions: RegionMap, result: dict[str, Any]) -> None:
    console.print(
        f"{regions.machine}, {regions.ranks} ranks, every one sends and receives d messages of one size; "
        f"{regions.reuse} uses"
    )
    sizes = [output.size_text(size) for size in regions.sizes]
    rows = [[str(degree), *row] for degree, row in zip(regions.degrees, regions.winner, strict=True)]
    console.print(output.table(["d", *sizes], rows, left=1 + len(sizes)))
    lines = result["break_even"]
    console.print("Used once, CGM costs no more than LP up to d =")
    console.print(
        output.table(
            [output.size_text(line["bytes"]) for line in lines],
            [[str(line["degree"]) for line in lines]],
            left=0,
        )
    )
    if result["plot"]:
        console.print(f"picture: {result['plot']}")


def register(app: typer.Typer) -> None:
    epilog = (
        "nuice advise halo.mtx --machine ethernet-10g --reuse 1000\n\n"
        "nuice advise halo.mtx --machine my.toml --candidates mpi --json\n\n"
        "nuice advise --map --machine cm5-32 --plot regions.png"
    )
    app.command("advise", epilog=epilog)(advise)

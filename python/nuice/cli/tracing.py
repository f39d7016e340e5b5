# SPDX-License-Identifier: BSD-3-Clause
"""nuice trace: the times of real exchanges, and which rank waited for which."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import Error
from ..files import OutputFiles
from . import output
from .options import AsJson, Plot

if TYPE_CHECKING:
    from ..tracing import ExchangeTrace, Run

MOST_ROWS = 12


def trace(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of NUICE_TRACE=DIR.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE.json", help="Write all runs here, for ui.perfetto.dev or Chrome."
        ),
    ] = None,
    exchange: Annotated[
        int, typer.Option(metavar="N", help="Number of the bind(), from 0; -1: the last.")
    ] = -1,
    run: Annotated[int, typer.Option(metavar="K", help="Number of its start(), from 0; -1: the last.")] = -1,
    plot: Plot = None,
    as_json: AsJson = False,
) -> int:
    """Show what happened in exchanges: the durations, and which rank waited for which rank; as text, as a
    picture, or for Perfetto.

    To record a trace, set NUICE_TRACE=DIR in the environment of rank 0, or the option trace of a plan.
    """
    from .. import tracing

    exchanges = [each for each in tracing.load(folder) if each.runs]
    chosen = _pick(exchanges, exchange, "exchange")
    one = _pick(chosen.runs, run, "run")
    with OutputFiles() as files:
        if out is not None:
            events = tracing.trace_events(chosen)
            files.temporary(out).write_text(json.dumps(events) + "\n", encoding="utf-8")
        if plot is not None:
            from ..plots import draw_trace

            draw_trace(chosen, one).savefig(files.picture(plot), dpi=130)
    result = figures(exchanges, chosen, one)
    output.report(as_json, result, lambda console: _show(console, result))
    return 0


def _pick(found: list[Any], number: int, what: str) -> Any:
    if not -len(found) <= number < len(found):
        raise Error(f"--{what} {number}: there are {len(found)}, numbered from 0")
    return found[number]


def figures(exchanges: list[ExchangeTrace], chosen: ExchangeTrace, run: Run) -> dict[str, Any]:
    waits = chosen.waited(run)
    return {
        "exchanges": [
            {
                "scheduler": each.scheduler,
                "executor": each.executor,
                "ranks": each.num_ranks,
                "runs": len(each.runs),
                "median_seconds": sorted(r.seconds for r in each.runs)[len(each.runs) // 2],
                "lost_notes": each.lost_notes,
                "clock_error_seconds": each.clock_error_s,
            }
            for each in exchanges
        ],
        "exchange": exchanges.index(chosen),
        "run": {"seconds": run.seconds, "complete": run.complete, "transfers": len(run.transfers())},
        "waited": waits,
        "missing_ranks": sorted(set(range(chosen.num_ranks)) - set(chosen.notes)),
    }


def _show(console: Any, result: dict[str, Any]) -> None:
    rows = [
        (
            str(number),
            f"{each['scheduler']}:{each['executor']}",
            str(each["ranks"]),
            str(each["runs"]),
            output.time_text(each["median_seconds"]),
            output.time_text(each["clock_error_seconds"]),
        )
        for number, each in enumerate(result["exchanges"])
    ]
    console.print(output.table(("", "plan", "ranks", "runs", "median", "clocks +-"), rows, left=2))
    run = result["run"]
    ended = "" if run["complete"] else "; it did not end on all ranks"
    console.print(
        f"exchange {result['exchange']}: {output.time_text(run['seconds'])}, "
        f"{run['transfers']} transfers{ended}"
    )
    if result["missing_ranks"]:
        console.print(
            f"no trace of ranks {', '.join(map(str, result['missing_ranks']))}: their file is missing"
        )
    lines = [
        (
            str(w["rank"]),
            str(w["waits_for"]),
            output.time_text(w["seconds"]),
            f"{100 * w['seconds'] / run['seconds']:.0f} %" if run["seconds"] else "-",
            str(w["times"]),
            w["what"],
        )
        for w in result["waited"][:MOST_ROWS]
    ]
    columns = ("rank", "waited for", "seconds", "of the run", "times", "for its")
    console.print(output.table(columns, lines))
    if len(result["waited"]) > MOST_ROWS:
        console.print(f"... and {len(result['waited']) - MOST_ROWS} pairs more: --json has all")


def register(app: typer.Typer) -> None:
    epilog = (
        "NUICE_TRACE=t mpiexec -n 8 ./my_program; nuice trace t --plot t.png\n\nnuice trace t -o trace.json"
    )
    app.command("trace", epilog=epilog)(trace)

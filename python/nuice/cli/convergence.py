# SPDX-License-Identifier: BSD-3-Clause
"""nuice convergence: how the exchanges of `auto` choose their method."""

from __future__ import annotations

import json
import sys
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer

from ..errors import Error
from ..files import OutputFiles
from . import output
from .options import AsJson, Plot


def convergence(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Output of nuice-bench --json for auto and other methods; - for stdin."
        ),
    ],
    method: Annotated[str, typer.Option(metavar="NAME", help="Name of the method in nuice-bench.")] = "auto",
    plot: Plot = None,
    as_json: AsJson = False,
) -> int:
    """Show which method carried out each exchange, and how long the exchange took, while auto tries several
    methods.

    The picture shows the time of every exchange, coloured by method, and the time of the best of MPI's own
    methods.
    """
    records = _records(file)
    record = next((r for r in records if r["method"] == method), None)
    if record is None:
        names = ", ".join(r["method"] for r in records)
        raise Error(f"{file}: no method {method}; there are: {names}")
    seconds = record["exchange_seconds_all"]
    if not seconds:
        raise Error(f"{file}: {method} was not run: {record['refused']}")
    by = record["exchange_methods_all"] or [
        record["learnt"]["executor"] if record["learnt"] else method
    ] * len(seconds)
    best = next((r for r in records if r["method"] == record["best_mpi"]), None)
    peer = (best["method"], best["exchange_seconds_median"]) if best else None
    if plot is not None:
        from ..plots import draw_convergence

        with OutputFiles() as files:
            title = f"{method}: {record['ranks']} ranks"
            draw_convergence(seconds, by, title, peer).savefig(files.picture(plot), dpi=130)
    result = {
        "file": str(file),
        "method": method,
        "runs": _runs(by, seconds),
        "tried": record["learnt"]["methods"] if record["learnt"] else [],
        "best_mpi": peer[0] if peer else None,
        "best_mpi_seconds": peer[1] if peer else None,
    }
    output.report(as_json, result, lambda console: _show(console, result))
    return 0


def _records(file: Path) -> list[dict[str, Any]]:
    text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    records = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("{"):
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise Error(f"{file}:{number}: no JSON: {error.msg}") from error
        if "exchange_seconds_all" in record:
            records.append(record)
    if not records:
        raise Error(f"{file}: no record of nuice-bench: start it with --json")
    return records


def _runs(by: list[str], seconds: list[float]) -> list[dict[str, Any]]:
    """Groups consecutive exchanges by the same method."""
    runs = []
    for name, group in groupby(enumerate(by), key=lambda each: each[1]):
        numbers = [i for i, _ in group]
        times = [seconds[i] for i in numbers]
        runs.append(
            {
                "method": name,
                "first": numbers[0] + 1,
                "last": numbers[-1] + 1,
                "median_seconds": median(times),
                "max_seconds": max(times),
            }
        )
    return runs


def _show(console: Any, result: dict[str, Any]) -> None:
    rows = [
        (
            str(run["first"]) if run["first"] == run["last"] else f"{run['first']} to {run['last']}",
            run["method"],
            output.time_text(run["median_seconds"]),
            output.time_text(run["max_seconds"]),
        )
        for run in result["runs"]
    ]
    console.print(output.table(("exchanges", "by", "median", "most"), rows))
    if result["best_mpi"]:
        console.print(f"best of MPI: {result['best_mpi']}, {output.time_text(result['best_mpi_seconds'])}")


def register(app: typer.Typer) -> None:
    epilog = (
        "mpiexec -n 8 nuice-bench --matrix halo.mtx --schedulers auto,alltoallv --json > bench.json; "
        "nuice convergence bench.json --plot auto.png"
    )
    app.command("convergence", epilog=epilog)(convergence)

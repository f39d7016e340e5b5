# SPDX-License-Identifier: BSD-3-Clause
"""nuice import: matrices from mpiP reports and OTF2 traces."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import _core
from ..errors import Error
from . import output
from .options import AsJson

if TYPE_CHECKING:
    from ..importing import Exchange, Imported

MOST_SITES = 20

Folder = Annotated[
    Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for the matrices; new or empty.")
]
Iterations = Annotated[
    int,
    typer.Option(
        min=0,
        metavar="N",
        help="Number of exchanges in the run; without it the mean message of every pair is used.",
    ),
]

group = typer.Typer(no_args_is_help=True, help="Matrices from what other tools have recorded.")


@group.command(epilog="nuice import mpip amg2013.64.1.mpiP --iterations 100 -o amg")
def mpip(
    report: Annotated[Path, typer.Argument(metavar="REPORT", help="An mpiP report.")],
    folder: Folder,
    iterations: Iterations = 0,
    as_json: AsJson = False,
) -> None:
    """Makes matrices from an mpiP report: of the whole run, of one exchange, and of each class of pairs that
    communicate about equally often.

    An mpiP report has one matrix for the whole program, and none for a call site. The bytes that each call
    site sent are printed.
    """
    from ..importing import read_mpip

    _write(read_mpip(report), folder, iterations, as_json)


@group.command(epilog="nuice import otf2 scorep-trace -o matrices")
def otf2(
    trace: Annotated[Path, typer.Argument(metavar="DIR", help="An OTF2 trace, as Score-P writes.")],
    folder: Folder,
    iterations: Iterations = 0,
    as_json: AsJson = False,
) -> None:
    """Matrices of the point-to-point messages in an OTF2 trace, one for each function that sends.

    Needs the Python package otf2 (pip install otf2).
    """
    from ..importing import read_otf2

    _write(read_otf2(trace), folder, iterations, as_json)


def _write(imported: Imported, folder: Path, iterations: int, as_json: bool) -> None:
    if folder.exists() and any(folder.iterdir()):
        raise Error(f"{folder}: not empty; give a new folder", "io")
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for number, exchange in enumerate(imported.exchanges):
        name = f"{number:02d}-{re.sub(r'[^A-Za-z0-9]+', '-', exchange.site).strip('-') or 'program'}"
        written.append(_write_one(exchange, folder, name, iterations))
    result = {"ranks": imported.ranks, "written": written, "call_sites": list(imported.call_sites)}
    (folder / "imported.json").write_text(json.dumps(result, indent=1) + "\n")
    output.report(as_json, result, lambda console: _show(console, folder, result))


def _write_one(exchange: Exchange, folder: Path, name: str, iterations: int) -> dict[str, Any]:
    """Writes the matrices of the run and of one exchange. If pairs differ in their numbers of messages, also
    writes a matrix for each class of pairs.
    """
    place = exchange.site or "the whole program"
    of_what = f"{iterations} exchanges" if iterations else "the mean message of every pair"
    matrices = {
        f"{name}.run.mtx": (exchange.matrix(), f"{place}: bytes in a whole run"),
        f"{name}.one.mtx": (exchange.one(iterations), f"{place}: one exchange ({of_what})"),
    }
    classes = exchange.classes()
    for at, found in enumerate(classes):
        chosen = found.pop("chosen")
        if len(classes) > 1:
            times = f"about {found['calls_median']:g} times"
            found["file"] = f"{name}.repeats-{at}.mtx"
            matrices[found["file"]] = (exchange.one(0, chosen), f"{place}: what was sent {times}")
    for file, (matrix, comment) in matrices.items():
        _core.save_matrix_market(folder / file, matrix, f"nuice import: {comment}")
    return {
        "site": exchange.site,
        "files": list(matrices),
        "messages": int(exchange.calls.sum()),
        "bytes": int(exchange.bytes.sum()),
        "pairs": len(exchange.src),
        "classes": classes,
    }


def _show(console: Any, folder: Path, result: dict[str, Any]) -> None:
    console.print(f"{result['ranks']} ranks; matrices in {folder}")
    rows = [
        (row["site"] or "(all)", str(row["pairs"]), str(row["messages"]), output.size_text(row["bytes"]))
        for row in result["written"][:MOST_SITES]
    ]
    console.print(output.table(("sent from", "pairs", "messages", "bytes"), rows))
    rows = [
        (
            f"{row['calls_median']:g}",
            str(row["calls_most"]),
            str(row["pairs"]),
            output.size_text(row["bytes"]),
        )
        for row in result["written"][0]["classes"]
    ]
    console.print("All pairs by their number of messages: repeated exchanges first, set-up last.")
    console.print(output.table(("median times", "most", "pairs", "bytes"), rows, left=0))
    rows = [
        (row["call"], row["from"], str(row["calls"]), output.size_text(row["bytes"]))
        for row in result["call_sites"][:MOST_SITES]
    ]
    if rows:
        console.print(output.table(("call", "from", "calls", "bytes"), rows, left=2))


def register(app: typer.Typer) -> None:
    app.add_typer(group, name="import")

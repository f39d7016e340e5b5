# SPDX-License-Identifier: BSD-3-Clause
"""nuice reproduce: the papers' tables in simulation compared with the printed numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import nuice_papers as reproduction
from nuice.cli import output
from nuice.cli.options import AsJson
from nuice.files import OutputFiles


def reproduce(
    tables: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TABLE...]", help="As 003-table2 or 000-fig13; 004: all of that paper."),
    ] = None,
    list_names: Annotated[bool, typer.Option("--list", help="List the tables and figures.")] = False,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="A few rows of each, and one matrix per cell, to see whether it works."),
    ] = False,
    summary: Annotated[
        bool, typer.Option("--summary", help="One line per table instead of its numbers.")
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", metavar="FILE|DIR", help="One picture, or one for each table and figure in a folder."
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Regenerate the papers' tables and figures in simulation, compared with the printed numbers.

    Error: median over a table's cells of |simulated / printed - 1|. Order: the share of the pairs of columns
    in a row, printed numbers more than 10 % apart, that the simulation puts in the same order. Figures
    without printed numbers are compared with the statements in the text. Planning times are those of this
    computer, and marked so. papers/docs/reproduce.md explains differences.
    """
    chosen = reproduction.select(tables or [])
    if list_names:
        result: dict[str, Any] = {"names": chosen}
        output.report(as_json, result, lambda console: console.print("\n".join(chosen)))
        return 0
    folder = plot if plot is not None and (plot.is_dir() or not plot.suffix) else None
    with OutputFiles() as out:
        picture = None if folder else out.picture(plot)
        results = list(reproduction.reproduce(chosen, quick=quick))
        _draw(results, picture, folder)
    result = {
        "quick": quick,
        "total": reproduction.summary_of(results),
        "overall": _overall(results),
        "fitted_to": reproduction.fits(),
        "tables": [{"name": r.name, "title": r.title} | r.summary() for r in results]
        if summary
        else [r.figures() | {"summary": r.summary()} for r in results],
        "plot": str(plot) if plot else None,
    }
    output.report(as_json, result, lambda console: _show(console, results, result, summary))
    return 0


def _draw(results: list[reproduction.Reproduction], picture: Any, folder: Path | None) -> None:
    if picture is None and folder is None:
        return
    from nuice.plots import save_figure

    from .draw_reproduced import draw_reproductions, drawable

    if picture is not None:
        save_figure(draw_reproductions(results), picture)
        return
    folder.mkdir(parents=True, exist_ok=True)
    for found in results:
        if drawable(found):
            with OutputFiles() as out:
                save_figure(draw_reproductions([found]), out.picture(folder / f"{found.name}.png"))


def _overall(results: list[reproduction.Reproduction]) -> dict[str, Any] | None:
    """Returns the figures over all tables that the fitted machines must predict; None if none of them was
    asked for."""
    cells = reproduction.in_the_bars(results)
    if not cells:
        return None
    predicted = [cell for cell in cells if not cell.fitted]
    right, total = reproduction.ordered_pairs(cells)
    return {
        "cells": len(cells),
        "median_error": reproduction.median_error(cells),
        "predicted_cells": len(predicted),
        "median_error_predicted": reproduction.median_error(predicted),
        "pairs_ordered_as_printed": right,
        "pairs_apart": total,
    }


def _show(
    console: Any, results: list[reproduction.Reproduction], result: dict[str, Any], summary: bool
) -> None:
    if not summary:
        for found in results:
            _show_one(console, found)
    console.print(_summary_table(results))
    overall = result["overall"]
    if overall:
        console.print(
            f"cost of exchanges on the CM-5, messages up to 32 KiB: {overall['cells']} cells, median error "
            f"{_percent(overall['median_error'])}; {overall['predicted_cells']} cells were not fitted, their "
            f"median error {_percent(overall['median_error_predicted'])}; "
            f"{_share(overall['pairs_ordered_as_printed'], overall['pairs_apart'])} pairs ordered as printed"
        )
    total = result["total"]
    console.print(
        f"in total: {total['cells']} cells, median error {_percent(total['median_error'])} "
        f"({_percent(total['median_error_predicted'])} of those that nothing was fitted to); "
        f"{_share(total['pairs_in_order'], total['pairs'])} pairs ordered as printed, of pairs within 10 % "
        f"{_share(total['close_pairs_in_order'], total['close_pairs'])}; "
        f"{_share(total['claims_held'], total['claims'])} claims hold"
    )
    for found in results if summary else ():
        for claim in found.claims:
            if not claim.holds:
                console.print(f"  does not hold: {found.name}: {claim.text}: {claim.reason}")
    console.print(_fits_table(result["fitted_to"]))
    if result["plot"]:
        console.print(f"picture: {result['plot']}")


def _show_one(console: Any, found: reproduction.Reproduction) -> None:
    console.print(f"{found.name}: {found.title}")
    for part in found.parts:
        console.print(_part_title(part))
        console.print(_part_table(part))
    for claim in found.claims:
        console.print(f"  {'holds' if claim.holds else 'DOES NOT HOLD'}: {claim.text}")
        console.print(f"    {claim.seen}")
        if not claim.holds and claim.reason:
            console.print(f"    why: {claim.reason}")
    for note in found.notes:
        console.print(f"  note: {note}")
    console.print()


def _part_table(part: reproduction.Part) -> Any:
    """A row of the paper per line: ours, the printed number in brackets."""
    columns = list(dict.fromkeys(cell.column for cell in part.cells))
    rows: dict[Any, dict[str, str]] = {}
    for cell in part.cells:
        mark = "*" if cell.fitted else ""
        rows.setdefault(cell.row, {})[cell.column] = f"{cell.ours:.4g}{mark} [{cell.printed:g}]"
    keys = [key for key, _ in part.cells[0].row]
    lines = [
        [*(str(value) for _, value in row), *(found.get(column, "-") for column in columns)]
        for row, found in rows.items()
    ]
    return output.table([*keys, *columns], lines, left=len(keys))


def _part_title(part: reproduction.Part) -> str:
    title = f"  {part.title}, {part.unit}: ours [printed]"
    if part.timed_here:
        title += "; NUICE's is of this computer, not of a CM-5"
    if any(cell.fitted for cell in part.cells):
        title += "; * the machine was fitted to it"
    return title


def _summary_table(results: list[reproduction.Reproduction]) -> Any:
    rows = []
    for found in results:
        for part in found.parts:
            if not part.timed_here:
                figures = (str(len(part.cells)), _percent(part.median_error()), _share(*part.order()))
                rows.append((found.name, part.title, *figures))
        if found.claims:
            held, count = sum(claim.holds for claim in found.claims), len(found.claims)
            rows.append((found.name, "claims", str(count), "-", f"{held} of {count} hold"))
    return output.table(("table", "what", "cells", "median error", "ordered as printed"), rows, left=2)


def _fits_table(fits: list[dict[str, Any]]) -> Any:
    """What is fitted to what; all else is prediction."""
    rows = [
        (
            fit["machine"],
            fit["parameters"],
            f"{fit['table']}: {fit['columns']}",
            str(fit["cells"]),
            _percent(fit["median_error"]),
            _percent(fit["leave_one_out"]),
        )
        for fit in fits
    ]
    head = ("machine", "fitted parameters", "to", "cells", "median error", "leave one out")
    return output.table(head, rows, left=3)


def _percent(share: float | None) -> str:
    if share is None:
        return "-"
    return f"{100 * share:.1f} %"


def _share(right: int, total: int) -> str:
    return f"{right} of {total} ({100 * right / total:.0f} %)" if total else "-"


def register(app: typer.Typer) -> None:
    epilog = (
        "nuice reproduce --summary\n\nnuice reproduce 003-table2 004 --json\n\nnuice reproduce --plot "
        "pictures"
    )
    app.command("reproduce", epilog=epilog)(reproduce)

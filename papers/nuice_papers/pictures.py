# SPDX-License-Identifier: BSD-3-Clause
"""nuice apps: draws pictures of the numerical programs' output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from nuice.cli import output
from nuice.cli.options import AsJson
from nuice.errors import Error

Picture = Annotated[
    Path, typer.Option("-o", "--output", metavar="FILE.png", help="The picture (png, pdf, svg).")
]
apps = typer.Typer(no_args_is_help=True, help="Draw the results of nuice-wolff and nuice-lee.")


@apps.command(
    epilog="mpiexec -n 2 nuice-wolff --widths 1,4,16 --json >w.json\n\nnuice apps plot w.json -o wolff.png"
)
def plot(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.json",
            help="Output of --json (curves over the width) or of nuice-wolff --picture (a lattice).",
        ),
    ],
    picture: Picture,
    as_json: AsJson = False,
) -> None:
    """Draw times and speed-ups of all schemes, or a lattice with its last cluster."""
    from nuice.plots import save_figure

    from .draw_schemes import draw_lattice, draw_schemes

    content = _read(file)
    what = "lattice" if "rows" in content else "schemes"
    save_figure(draw_lattice(content) if what == "lattice" else draw_schemes(content), picture)
    result = {"file": str(file), "plot": str(picture), "what": what}
    output.report(as_json, result, lambda console: console.print(f"{picture}: {what}"))


@apps.command(
    epilog="mpiexec -n 2 nuice-lee --size 128 --grid g.txt --distances d.i32\n\n"
    "nuice apps maze g.txt --distances d.i32 -o maze.png"
)
def maze(
    grid: Annotated[Path, typer.Argument(metavar="GRID.txt", help="The file of nuice-lee --grid.")],
    picture: Picture,
    distances: Annotated[
        Path | None, typer.Option(metavar="FILE.i32", help="The file of --distances: the last wavefront.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Draw a routed maze: walls, the last wavefront by distance, the paths."""
    from nuice.plots import save_figure

    from .draw_maze import draw_maze

    for file in (grid, distances):
        if file is not None and not file.is_file():
            raise Error(f"{file}: cannot be opened", "io")
    save_figure(draw_maze(grid, distances), picture)
    result = {"file": str(grid), "plot": str(picture), "what": "maze"}
    output.report(as_json, result, lambda console: console.print(f"{picture}: maze"))


def _read(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text())
    except ValueError as error:
        raise Error(f"{file}: not JSON: {error}", "parse") from error
    if not isinstance(content, dict) or not (content.get("results") or content.get("rows")):
        raise Error(
            f"{file}: neither results of nuice-wolff or nuice-lee nor a picture of a lattice", "parse"
        )
    return content


def register(app: typer.Typer) -> None:
    app.add_typer(apps, name="apps")

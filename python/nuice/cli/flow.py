# SPDX-License-Identifier: BSD-3-Clause
"""nuice mesh and nuice flow: make input for the numerical programs, and pictures of their results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from ..files import OutputFiles
from . import output
from .options import AsJson


def mesh(
    file: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE.mesh", help="Where to write the mesh.")
    ],
    points: Annotated[
        int,
        typer.Option(metavar="N", help="Points of the mesh, about; the papers have 2800, 9428 and 53961."),
    ] = 2800,
    stiffness: Annotated[
        Path | None,
        typer.Option(metavar="FILE.mtx", help="Write the stiffness matrix of the mesh here, for nuice-cg."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write a mesh around a NACA 0012 profile, for nuice-euler (docs/reference/formats.md).

    The stiffness matrix is the Laplace operator in linear finite elements, with zero on the far boundary.
    """
    from .. import flow as flows
    from ..airfoil import airfoil_mesh

    made = airfoil_mesh(points)
    result: dict[str, Any] = {
        "file": str(file),
        "points": len(made.points),
        "triangles": len(made.triangles),
        "stiffness": str(stiffness) if stiffness else None,
    }
    with OutputFiles() as out:
        temporary = out.temporary(file)
        matrix_file = out.optional(stiffness)
        flows.save_mesh(temporary, made)
        if matrix_file:
            import scipy.io

            matrix = flows.stiffness_matrix(made)
            with matrix_file.open("wb") as stream:  # with a name, SciPy would add an ending
                scipy.io.mmwrite(stream, matrix, comment="nuice mesh", symmetry="symmetric", precision=17)
            result["rows"] = matrix.shape[0]
    output.report(
        as_json,
        result,
        lambda console: console.print(
            f"{file}: {result['points']} points, {result['triangles']} triangles"
            + (f"; {stiffness}: {result['rows']} rows" if stiffness else "")
        ),
    )


def flow(
    file: Annotated[Path, typer.Argument(metavar="FLOW.vtk", help="What nuice-euler --vtk wrote.")],
    plot: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE.png", help="The picture (png, pdf, svg).")
    ],
    value: Annotated[str, typer.Option(help="mach, pressure or density.")] = "mach",
    as_json: AsJson = False,
) -> None:
    """Draw a flow, coloured by Mach number, pressure or density."""
    from .. import flow as flows
    from ..errors import Error
    from ..plots import draw_flow, save_figure

    loaded = flows.load_flow(file)
    if value not in loaded.values:
        raise Error(f"{value}: a flow has {', '.join(loaded.values)}")
    save_figure(draw_flow(loaded, value), plot)
    field = loaded.values[value]
    result = {
        "file": str(file),
        "plot": str(plot),
        "points": len(loaded.points),
        "value": value,
        "min": float(field.min()),
        "max": float(field.max()),
    }
    output.report(
        as_json,
        result,
        lambda console: console.print(f"{plot}: {value} {field.min():.4g} to {field.max():.4g}"),
    )


def register(app: typer.Typer) -> None:
    app.command(epilog="nuice mesh --points 2800 -o airfoil.mesh --stiffness stiffness.mtx")(mesh)
    app.command(epilog="nuice flow flow.vtk -o mach.png")(flow)

# SPDX-License-Identifier: BSD-3-Clause
"""nuice generate: communication matrices as the papers use them, written as Matrix Market files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from .. import _core
from .._core import CommMatrix
from ..errors import Error
from ..files import OutputFiles
from . import output
from .options import AsJson, MatrixOutput, MaxUnits, Seed, UnitBytes, whole_number

generate = typer.Typer(no_args_is_help=True, help="Generate a communication matrix.")

Ranks = Annotated[int, typer.Option(parser=whole_number(1, 2**31 - 1), metavar="N", help="Number of ranks.")]


@generate.command(epilog="nuice generate random --ranks 32 --degree 8 --max-units 32 --seed 1 -o random.mtx")
def random(
    ranks: Ranks,
    degree: Annotated[
        int, typer.Option(min=0, metavar="D", help="Messages that each rank sends and receives.")
    ],
    file: MatrixOutput,
    unit: UnitBytes = 1024,
    max_units: MaxUnits = 1,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Every rank sends D messages and receives D messages, none to itself (003 fig. 7)."""
    matrix = _core.random_regular(ranks, degree, unit, max_units, seed)
    settings = {"degree": degree, "unit_bytes": unit, "max_units": max_units, "seed": seed}
    _write("random", matrix, settings, file, as_json)


@generate.command(epilog="nuice generate density --ranks 32 --density 0.25 --seed 1 -o quarter.mtx")
def density(
    ranks: Ranks,
    density: Annotated[
        float, typer.Option(min=0.0, max=1.0, metavar="P", help="Probability that a pair has a message.")
    ],
    file: MatrixOutput,
    unit: UnitBytes = 1024,
    max_units: MaxUnits = 1,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Every ordered pair of different ranks has a message with probability P (001 s.4)."""
    matrix = _core.random_density(ranks, density, unit, max_units, seed)
    settings = {"density": density, "unit_bytes": unit, "max_units": max_units, "seed": seed}
    _write("density", matrix, settings, file, as_json)


@generate.command(
    epilog="nuice generate airfoil --points 2800 --parts 8 -o halo.mtx --mesh-plot mesh.png\n\n"
    "nuice generate airfoil --points 53961 --parts 32 -o large.mtx"
)
def airfoil(
    parts: Annotated[int, typer.Option(min=1, metavar="P", help="Parts of the mesh, one per rank.")],
    file: MatrixOutput,
    points: Annotated[
        int,
        typer.Option(metavar="N", help="Points of the mesh, about; the papers have 2800, 9428 and 53961."),
    ] = 2800,
    unit: UnitBytes = 1024,
    seed: Seed = 0,
    mesh_plot: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="Draw the mesh, coloured by part (png, pdf, svg).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Part i sends to part j the mesh points of i that are adjacent to points of j.

    The mesh surrounds a NACA 0012 profile (gmsh) and is partitioned with METIS. For 32 parts and a mesh size
    of paper 004, the statistics in section 5 of this paper are shown too.
    """
    from .. import airfoil as pattern
    from ..pattern_figures import PAPER_PARTS, airfoil_figures, paper_figures

    with OutputFiles() as out:
        picture = out.picture(mesh_plot)
        temporary = out.temporary(file)
        mesh = pattern.airfoil_mesh(points)
        owner = pattern.partition(mesh, parts, seed)
        matrix = pattern.halo_matrix(mesh, owner, parts, unit)
        settings = {
            "points": len(mesh.points),
            "triangles": len(mesh.triangles),
            "unit_bytes": unit,
            "seed": seed,
        }
        _core.save_matrix_market(temporary, matrix, _comment("airfoil", matrix, settings))
        if picture:
            from ..plots import draw_mesh, save_figure

            save_figure(draw_mesh(mesh, owner, parts), picture)
    result = _result("airfoil", matrix, settings, file)
    result["mesh_plot"] = str(mesh_plot) if mesh_plot else None
    result["figures"] = airfoil_figures(matrix, unit)
    result["paper"] = paper_figures(points) if parts == PAPER_PARTS else None
    output.report(as_json, result, lambda console: _show_airfoil(console, result))


Points = Annotated[int, typer.Option(min=8, metavar="N", help="Points of the mesh.")]


@generate.command(epilog="nuice generate euler --points 2800 --ranks 32 -o euler.mtx")
def euler(
    ranks: Ranks,
    file: MatrixOutput,
    points: Points = 2800,
    unit: Annotated[int, typer.Option(min=1, metavar="BYTES", help="Bytes per point.")] = 20,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """The halo of a tetrahedral mesh that is cut by coordinates, as in the Euler solvers of 001 table 12 and
    of 000.

    Points lie at random in a cube (Delaunay), and parts are assigned to ranks at random. An entry of 20 bytes
    has five unknowns in single precision.
    """
    from .. import halos

    if points < 8 * ranks:
        raise Error(f"{points} points for {ranks} ranks: a part needs 8 at least", "invalid_argument")
    matrix = halos.euler(points, seed, ranks, unit)
    _write("euler", matrix, {"points": points, "unit_bytes": unit, "seed": seed}, file, as_json)


@generate.command(epilog="nuice generate cg --grid 32x32x16 --boxes 16x2x1 -o cg.mtx")
def cg(
    file: MatrixOutput,
    grid: Annotated[str, typer.Option(metavar="AxBxC", help="Points along each side.")] = "32x32x16",
    boxes: Annotated[str, typer.Option(metavar="AxBxC", help="Ranks along each side.")] = "16x2x1",
    unit: Annotated[int, typer.Option(min=1, metavar="BYTES", help="Bytes per point.")] = 4,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """The halo of a seven-point Laplacian on a grid: the conjugate gradients of 001 table 12."""
    from .. import halos

    sides, cuts = _three(grid, "--grid"), _three(boxes, "--boxes")
    if any(cut > side for side, cut in zip(sides, cuts, strict=True)):
        raise Error(
            f"--boxes {boxes} cuts a side of --grid {grid} into more parts than it has points",
            "invalid_argument",
        )
    matrix = halos.conjugate_gradients(seed, sides, cuts, unit)
    _write("cg", matrix, {"grid": grid, "boxes": boxes, "unit_bytes": unit, "seed": seed}, file, as_json)


@generate.command(epilog="nuice generate partition --points 53961 --unit 256 -o partition.mtx")
def partition(
    file: MatrixOutput,
    points: Annotated[int, typer.Option(metavar="N", help="2800, 9428 or 53961.")] = 2800,
    unit: UnitBytes = 1024,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """A halo on 32 ranks with the statistics that 004 s.5 prints for its partitions of airfoil meshes.

    The statistics are the largest, smallest and mean number of messages per part, and the largest, smallest
    and mean length. The meshes of the paper are lost; `airfoil` makes similar meshes, but METIS cuts them
    into parts with fewer neighbours.
    """
    from ..pattern_figures import like_mesh, mesh_sizes

    if points not in mesh_sizes():
        known = ", ".join(map(str, mesh_sizes()))
        raise Error(f"--points {points}: 004 prints the numbers of {known}", "invalid_argument")
    matrix = like_mesh(points, unit, seed)
    _write("partition", matrix, {"points": points, "unit_bytes": unit, "seed": seed}, file, as_json)


@generate.command(epilog="nuice generate moe --ranks 64 --tokens 4096 --skew hot --seed 1 -o dispatch.mtx")
def moe(
    ranks: Ranks,
    file: MatrixOutput,
    skew: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="even; hot: some ranks have popular experts; fan: tokens go to more or fewer experts; "
            "lengths: as fan, with tokens of several lengths.",
        ),
    ] = "hot",
    tokens: Annotated[int, typer.Option(min=1, metavar="N", help="Tokens of every rank.")] = 4096,
    experts: Annotated[int, typer.Option(min=1, metavar="K", help="Experts of each token.")] = 8,
    token_bytes: Annotated[int, typer.Option(min=1, metavar="BYTES", help="Bytes per token.")] = 7168,
    hot_ranks: Annotated[
        int, typer.Option(min=1, metavar="N", help="hot: number of ranks with popular experts.")
    ] = 2,
    popularity: Annotated[
        float, typer.Option(min=1.0, metavar="X", help="hot: these ranks get X times as many tokens.")
    ] = 4.0,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """A mixture of experts: tokens are sent to experts, one expert on every rank, with four kinds of skew.

    The kinds are the same as in the traffic generator of UCC's ucc_perftest. If a token picks the expert on
    its own rank, the token does not travel.
    """
    from ..mixture import SKEWS, dispatch

    if skew not in SKEWS:
        raise Error(f"--skew {skew}: known are {', '.join(SKEWS)}", "invalid_argument")
    matrix = dispatch(ranks, skew, tokens, experts, token_bytes, hot_ranks, popularity, seed)
    settings = {"skew": skew, "tokens": tokens, "experts": experts, "token_bytes": token_bytes, "seed": seed}
    if skew == "hot":
        settings |= {"hot_ranks": hot_ranks, "popularity": popularity}
    _write("moe", matrix, settings, file, as_json)


def _three(text: str, option: str) -> tuple[int, int, int]:
    words = text.split("x")
    if len(words) != 3 or not all(word.isdecimal() and int(word) > 0 for word in words):
        raise Error(f"{option} {text}: three numbers are expected, as 32x32x16", "invalid_argument")
    return int(words[0]), int(words[1]), int(words[2])


def _write(pattern: str, matrix: CommMatrix, settings: dict[str, Any], file: Path, as_json: bool) -> None:
    with OutputFiles() as out:
        _core.save_matrix_market(out.temporary(file), matrix, _comment(pattern, matrix, settings))
    result = _result(pattern, matrix, settings, file)
    output.report(as_json, result, lambda console: console.print(_summary(result)))


def _comment(pattern: str, matrix: CommMatrix, settings: dict[str, Any]) -> str:
    words = ", ".join(f"{name} {value}" for name, value in settings.items())
    return f"nuice generate {pattern}: {matrix.num_ranks} ranks, {words}"


def _result(pattern: str, matrix: CommMatrix, settings: dict[str, Any], file: Path) -> dict[str, Any]:
    bounds = _core.lower_bounds(matrix)
    return {
        "pattern": pattern,
        "file": str(file),
        "ranks": matrix.num_ranks,
        "messages": matrix.num_messages,
        "max_degree": bounds.max_degree,
        "total_bytes": bounds.total_bytes,
        **settings,
    }


def _summary(result: dict[str, Any]) -> str:
    return (
        f"{result['file']}: {result['ranks']} ranks, {result['messages']} messages, max degree "
        f"{result['max_degree']}, {output.size_text(result['total_bytes'])} in all"
    )


def _show_airfoil(console: Any, result: dict[str, Any]) -> None:
    console.print(_summary(result))
    console.print(f"mesh: {result['points']} points, {result['triangles']} triangles")
    if result["mesh_plot"]:
        console.print(f"picture: {result['mesh_plot']}")
    paper = result["paper"]
    rows = [
        (what, part, f"{result['figures'][name]:.4g}", *([f"{paper[name]:.4g}"] if paper else []))
        for what, key in (("messages per part", "messages"), ("message length in units", "length"))
        for part in ("max", "min", "avg")
        for name in [f"{key}_{part}"]
    ]
    columns = ("", "", "here", *(["004 s.5"] if paper else []))
    console.print(output.table(columns, rows, left=2))
    if paper:
        console.print(
            "This is a 2-D mesh partitioned with METIS. The paper's mesh is another one, its partitioner a "
            "genetic algorithm (its ref. 8): expect figures of the same kind, not the same."
        )


def register(app: typer.Typer) -> None:
    app.add_typer(generate, name="generate")

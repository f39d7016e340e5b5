# SPDX-License-Identifier: BSD-3-Clause
"""Options and arguments that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from .._core import DEFAULT_PHASE_COST_BYTES, MAX_BYTES
from ..errors import Error


def whole_number(low: int, high: int) -> Callable[[str], int]:
    """Returns a parser for numbers whose limits would only clutter the help text."""

    def parse(text: str | int) -> int:
        try:
            value = int(text)
        except ValueError:
            raise typer.BadParameter(f"{text!r} is not a whole number") from None
        if not low <= value <= high:
            raise typer.BadParameter(f"{value} is not in {low}..{high}")
        return value

    return parse


def names_in(option: str, text: str) -> list[str]:
    """Returns the names between the commas, at least one."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise Error(f"{option} '{text}': no name in it")
    return names


RanksPerHost = Annotated[
    int,
    typer.Option(
        min=1, metavar="N", help="Number of ranks that share a host's port, on a machine that grows."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout and nothing else.")]
MatrixFile = Annotated[
    Path, typer.Argument(metavar="FILE.mtx", help="Matrix Market file: row sends to column, value = bytes.")
]
MatrixOutput = Annotated[
    Path, typer.Option("-o", "--output", metavar="FILE.mtx", help="Where to write the matrix.")
]
Plot = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE.png", help="Draw a picture (png, pdf, svg).")
]
Seed = Annotated[
    int,
    typer.Option(
        parser=whole_number(0, 2**64 - 1), metavar="S", help="The same seed gives the same result everywhere."
    ),
]
TopologySpec = Annotated[
    str | None,
    typer.Option(
        "--topology", metavar="SPEC", help="A network: hypercube:6, torus:8x8, file:NAME, ... (`nuice list`)."
    ),
]
PhaseCostBytes = Annotated[
    int,
    typer.Option(
        "--phase-cost-bytes",
        parser=whole_number(0, MAX_BYTES),
        metavar="BYTES",
        help="Cost of a phase in addition to its largest transfer, in bytes that could be sent in this time "
        f"(default {DEFAULT_PHASE_COST_BYTES}); kpbs, bruck and distributed_coloring use it.",
        show_default=False,
    ),
]
UnitBytes = Annotated[
    int, typer.Option("--unit", parser=whole_number(1, MAX_BYTES), metavar="BYTES", help="Bytes per unit.")
]
MaxUnits = Annotated[
    int,
    typer.Option(
        parser=whole_number(1, MAX_BYTES),
        metavar="K",
        help="Sizes are 1..K units, drawn at random; 1: all equal, 32: the papers' non-uniform sizes.",
    ),
]

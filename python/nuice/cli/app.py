# SPDX-License-Identifier: BSD-3-Clause
"""Assembles the command `nuice` from its subcommands. Each group of subcommands has its own file. A
subcommand reads its input, calls the package, and shows the results.
"""

from __future__ import annotations

import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated

import typer

from . import (
    advising,
    broadcast,
    checking,
    comparing,
    demo,
    export,
    flow,
    generate,
    importing,
    listing,
    planning,
    recording,
    reporting,
    running,
    show,
    simulating,
    tracing,
)

app = typer.Typer(
    help="Plan irregular exchanges on distributed-memory machines: from a communication matrix to "
    "a verified schedule.",
    epilog="A first tour:\n\n"
    "nuice generate airfoil --points 2800 --parts 8 -o halo.mtx\n\n"
    "nuice show halo.mtx\n\n"
    "nuice compare halo.mtx\n\n"
    "nuice plan halo.mtx --scheduler coloring -o halo.plan\n\n"
    "nuice check halo.plan halo.mtx",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        typer.echo(f"nuice {__version__}")
        raise typer.Exit


def _load_rows(paths: list[Path] | None) -> None:
    from .. import load_rows

    for path in paths or []:
        load_rows(path)


@app.callback()
def common(
    plugin: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE.so",
            help="A shared object with schedulers or executors of your own "
            "(docs/how-to/own-schedulers.md); repeatable. It runs with all your rights: load none that you "
            "do not trust.",
            callback=_load_rows,
        ),
    ] = None,
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_print_version),
    ] = False,
) -> None:
    pass


_GROUPS = (
    listing,
    generate,
    show,
    planning,
    running,
    recording,
    importing,
    checking,
    comparing,
    simulating,
    advising,
    broadcast,
    flow,
    demo,
    tracing,
    reporting,
    export,
)
for command_group in _GROUPS:
    command_group.register(app)
# Commands of other packages, such as papers: modules with register(app).
for entry in entry_points(group="nuice.commands"):
    try:
        entry.load().register(app)
    except Exception as error:  # the commands of NUICE work whatever another package raises
        print(f"nuice: the commands of {entry.value} cannot be loaded: {error}", file=sys.stderr)

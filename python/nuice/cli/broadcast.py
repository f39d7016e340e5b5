# SPDX-License-Identifier: BSD-3-Clause
"""nuice broadcast: one message for all ranks or for a group, as checked steps."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .. import _core
from ..errors import Error
from . import output
from .options import AsJson, whole_number

MAX_RANKS = 2**31 - 1


def broadcast(
    ranks: Annotated[
        int, typer.Option(parser=whole_number(1, MAX_RANKS), metavar="N", help="Number of ranks.")
    ],
    algorithm: Annotated[str, typer.Option(metavar="NAME", help="lib or reb: see `nuice list`.")] = "reb",
    root: Annotated[
        int,
        typer.Option(parser=whole_number(0, MAX_RANKS), metavar="R", help="The rank that has the message."),
    ] = 0,
    group: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="The ranks that need it; all if not given.")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Plan a broadcast: the copies of each step, checked.

    Exit code 1 if the steps are wrong.
    """
    members = list(range(ranks)) if group is None else _ranks(group)
    schedule = _core.make_broadcast(algorithm, ranks, root, members)
    fault = _core.check_broadcast(schedule, members)
    result = {
        "algorithm": algorithm,
        "ranks": ranks,
        "root": root,
        "group": None if group is None else members,
        "num_steps": len(schedule.steps),
        "copies": sum(len(step) for step in schedule.steps),
        "steps": schedule.steps,
        "verified": fault is None,
        "violation": fault,
    }
    output.report(as_json, result, lambda console: _show(console, result))
    return 0 if fault is None else 1


def _ranks(text: str) -> list[int]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    wrong = next((word for word in words if not word.isdecimal() or int(word) > MAX_RANKS), None)
    if wrong is not None:
        raise Error(f"--group: {wrong!r} is not a rank")
    return [int(word) for word in words]


def _show(console: Any, result: dict[str, Any]) -> None:
    console.print(
        f"{result['algorithm']} from rank {result['root']}: {result['copies']} copies in "
        f"{result['num_steps']} steps, {'right' if result['verified'] else 'wrong: ' + result['violation']}"
    )
    rows = [
        (str(number), "  ".join(f"{src} -> {dst}" for src, dst in step))
        for number, step in enumerate(result["steps"], start=1)
    ]
    if rows:
        console.print(output.table(("step", "copies"), rows, left=2))


def register(app: typer.Typer) -> None:
    epilog = "nuice broadcast --ranks 8\n\nnuice broadcast --ranks 16 --root 7 --group 3,7,11,15"
    app.command("broadcast", epilog=epilog)(broadcast)

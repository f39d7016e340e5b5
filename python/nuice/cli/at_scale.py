# SPDX-License-Identifier: BSD-3-Clause
"""nuice plan-at-scale: makes a plan for up to a million ranks, each of which knows only its own messages."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import _core
from ..files import OutputFiles
from . import output
from .options import AsJson, Plot, Seed, names_in, whole_number

MOST_RANKS = 2**24
FEWEST_DRAWN = 2**10  # the least number of ranks in the picture


def plan_at_scale(
    ranks: Annotated[
        int, typer.Option(parser=whole_number(1, MOST_RANKS), metavar="N", help="Number of ranks.")
    ] = 1024,
    degree: Annotated[
        int, typer.Option(parser=whole_number(0, 2**16 - 2), metavar="D", help="Messages per rank.")
    ] = 64,
    pattern: Annotated[
        str, typer.Option(metavar="NAME", help="Destinations of the ranks: random, stencil, mesh or power.")
    ] = "random",
    sizes: Annotated[
        str,
        typer.Option(metavar="NAME", help="Sizes of messages: equal (1 KiB), uniform (to 32 KiB) or zipf."),
    ] = "equal",
    changed: Annotated[
        float,
        typer.Option(metavar="SHARE", help="Share of the messages that then gets other partners."),
    ] = 0.0,
    machine: Annotated[
        str, typer.Option(metavar="NAME,...", help="Machines whose planning time is modelled.")
    ] = "slingshot-dragonfly,ib-ndr-fattree",
    seed: Seed = 0,
    plot: Plot = None,
    as_json: AsJson = False,
) -> int:
    """Plan without a matrix: every rank knows only its own messages. All ranks run in this process.

    The code is the same as for planning=distributed on MPI. The command counts rounds, control messages,
    memory and phases, and predicts planning times on machines by the LogGP model. 2^20 ranks with 64 messages
    each take minutes and 5 GB of memory. --plot also draws phases and time for fewer ranks. Exit code 1 if a
    plan is wrong.
    """
    machines = [_core.find_machine(name) for name in names_in("--machine", machine)]

    def figures(num_ranks: int, share: float) -> dict[str, Any]:
        with _progress(num_ranks) as tell:
            report = _core.plan_at_scale(num_ranks, degree, pattern, sizes, seed, share, tell)
        return _figures(report, machines)

    with OutputFiles() as out:
        picture = out.picture(plot)
        result = {"pattern": pattern, "degree": degree, "sizes": sizes, "seed": seed}
        result |= figures(ranks, changed)
        if picture:
            fewer = [
                2**k for k in range(FEWEST_DRAWN.bit_length() - 1, ranks.bit_length(), 2) if 2**k < ranks
            ]
            result["series"] = [figures(n, 0.0) for n in fewer if n > degree]
            _draw(result, picture)
    output.report(as_json, result, lambda console: _show(console, result))
    follow = result.get("follow")
    return 0 if result["verified"] and (follow is None or follow["verified"]) else 1


@contextlib.contextmanager
def _progress(num_ranks: int) -> Iterator[Callable[[str, float], None]]:
    """Shows a progress bar on stderr if that is a terminal."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=output.console(to_stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    ) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda step, done: bar.update(task, description=f"{num_ranks} ranks: {step}", completed=done)


def _figures(report: _core.ScaleReport, machines: list[_core.Machine]) -> dict[str, Any]:
    result = {
        "ranks": report.num_ranks,
        "messages": report.num_messages,
        "max_degree": report.max_degree,
        "memory_per_rank_bytes": report.memory_per_rank_bytes,
        "process_bytes": report.process_bytes,
        **_run_figures(report, report.plan, machines),
    }
    if report.num_changed:
        follow = _run_figures(report, report.follow, machines)
        result["changed"] = report.num_changed
        result["follow"] = follow | {"letters_to_planning": report.follow.letters / report.plan.letters}
    return result


def _run_figures(
    report: _core.ScaleReport, run: _core.ScaleRun, machines: list[_core.Machine]
) -> dict[str, Any]:
    modelled = {m.name: _core.modelled_planning_s(report, run, m) for m in machines}
    bound = report.whole_message_bytes
    return {
        "phases": run.num_phases,
        "phases_to_max_degree": run.num_phases / report.max_degree if report.max_degree else None,
        "phase_bytes": run.phase_bytes,
        "bytes_to_bound": run.phase_bytes / bound if bound else None,
        "rounds": run.num_rounds,
        "messages_per_rank": run.letters / report.num_ranks,
        "most_messages_of_a_rank": run.most_letters_of_a_rank,
        "modelled_seconds": next(iter(modelled.values())),
        "modelled_seconds_by_machine": modelled,
        "seconds": run.seconds,
        "verified": run.verified,
        "violation": run.violation or None,
    }


def _run_lines(figures: dict[str, Any]) -> dict[str, str]:
    by_machine = figures["modelled_seconds_by_machine"].items()
    modelled = (f"{output.time_text(seconds)} on {name}" for name, seconds in by_machine)
    to_degree = output.ratio_text(figures["phases_to_max_degree"])
    return {
        "phases": f"{figures['phases']}  ({to_degree} of the max degree)",
        "phase bytes": f"{figures['phase_bytes']}  ({output.ratio_text(figures['bytes_to_bound'])} of W)",
        "rounds": str(figures["rounds"]),
        "messages to plan": f"{figures['messages_per_rank']:.0f} a rank, "
        f"{figures['most_messages_of_a_rank']} by the one that sends most",
        "time": f"{', '.join(modelled)} (modelled)",
        "here": f"{output.time_text(figures['seconds'])} for all ranks, in one process",
        "verified": output.verdict_text(figures["verified"]),
        **({"violation": figures["violation"]} if figures["violation"] else {}),
    }


def _show(console: Any, result: dict[str, Any]) -> None:
    lines = {
        "ranks": f"{result['ranks']}  ({result['messages']} messages, max degree {result['max_degree']})",
        **_run_lines(result),
        "memory": f"{output.size_text(result['memory_per_rank_bytes'])} at the rank that needs most",
    }
    console.print(output.pairs(lines))
    if follow := result.get("follow"):
        console.print(f"\n{result['changed']} messages get other partners, and the plan follows:")
        share = f"{100 * follow['letters_to_planning']:.1f} % of what planning took"
        console.print(output.pairs({**_run_lines(follow), "messages": share}))


def _draw(result: dict[str, Any], picture: Path) -> None:
    from ..plots.scale import draw_scale

    title = f"{result['pattern']}, degree {result['degree']}, {result['sizes']} sizes"
    draw_scale([*result["series"], result], title).savefig(picture, dpi=130)


def register(app: typer.Typer) -> None:
    epilog = "nuice plan-at-scale --ranks 65536 --degree 64 --changed 0.01"
    app.command("plan-at-scale", epilog=epilog)(plan_at_scale)

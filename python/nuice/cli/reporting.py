# SPDX-License-Identifier: BSD-3-Clause
"""nuice report: writes one page about an exchange, with its matrix, advice, a plan, and a measured run."""

from __future__ import annotations

import io
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import _core, recording
from .._core import CommMatrix
from ..advising import advise
from ..errors import Error
from ..files import OutputFiles
from ..planning import plan
from . import output
from .options import AsJson
from .recording import _figures as recorded_figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..tracing import ExchangeTrace, Run

NOMINAL_MACHINE = "ethernet-10g"
MOST_CANDIDATES, MOST_WAITS, MOST_BARS = 8, 12, 4000
LANE, LABEL, WIDTH = 26, 60, 1000  # sizes in the drawing of a trace, in its own units


def report(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="DIR|FILE.mtx", help="A matrix, or a folder of NUICE_TRACE or of nuice run --record."
        ),
    ],
    out: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE.html", help="Where to write the page.")
    ],
    machine: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Machine of the prediction; by default the file of nuice-calibrate --save."
        ),
    ] = None,
    reuse: Annotated[int, typer.Option(min=1, metavar="R", help="How often a plan would be used.")] = 1000,
    as_json: AsJson = False,
) -> int:
    """Write one page: matrix, bounds, advice with reasons, plan, the measured exchange, next steps."""
    try:
        import jinja2
    except ImportError:
        raise Error("nuice report needs jinja2: pip install jinja2", "io") from None
    page = _page(source, machine, reuse)
    text = resources.files("nuice").joinpath("data/report.html.j2").read_text(encoding="utf-8")
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    html = environment.from_string(text).render(page)
    with OutputFiles() as files:
        files.temporary(out).write_text(html, encoding="utf-8")
    result = {"file": str(out), "bytes": len(html), "choice": page["choice"]}
    output.report(as_json, result, lambda console: console.print(f"{out}: {output.size_text(len(html))}"))
    return 0


def _page(source: Path, machine: str | None, reuse: int) -> dict[str, Any]:
    planned_by = None  # draw the plan of the choice
    page: dict[str, Any] = {"title": f"nuice: {source.name}", "recorded": [], "trace": None}
    if not source.is_dir():
        matrix = _core.load_matrix_market(source)
        page["intro"] = "A communication matrix: the bytes from each rank to each other."
    elif any(source.glob("*.trace")):
        from .. import tracing

        exchange = [e for e in tracing.load(source) if e.runs][-1]
        matrix, run = exchange.matrix(), exchange.runs[-1]
        page["intro"] = "A real exchange, recorded by NUICE_TRACE: the last one, and its matrix."
        page["trace"] = trace_drawing(exchange, run)
        planned_by = exchange.scheduler
    else:
        seen = recording.load(source)
        target = _core.find_machine(machine) if machine else None
        page["recorded"] = [recorded_figures(each, seen, target) for each in seen.exchanges[:MOST_CANDIDATES]]
        patterns = [each.patterns[0] for each in seen.exchanges if each.patterns]
        if not patterns:
            raise Error(f"{source}: no exchange was recorded")
        matrix = patterns[0].matrix()
        page["intro"] = (
            f"A program of {seen.num_ranks} ranks, recorded by nuice run; below its most expensive exchange."
        )
    return (
        page
        | _matrix_part(matrix)
        | _advice_part(matrix, machine, reuse, planned_by)
        | {"steps": next_steps(source)}
    )


def _matrix_part(matrix: CommMatrix) -> dict[str, Any]:
    from ..matrix_figures import matrix_figures
    from ..plots import draw_matrix

    figures = matrix_figures(matrix)
    rows = {
        "ranks": figures["ranks"],
        "messages": figures["messages"],
        "bytes in all": output.size_text(figures["total_bytes"]),
        "most messages of a rank (phases at least)": figures["max_degree"],
        "most bytes through a rank (the bound)": output.size_text(figures["bound_bytes"]),
    }
    return {
        "matrix": list(rows.items()),
        "heat_map": _svg(draw_matrix(matrix, "bytes")) if matrix.num_messages else "",
        "degrees": _svg(_draw_degrees(matrix)),
    }


def _draw_degrees(matrix: CommMatrix) -> Figure:
    import numpy as np

    from ..plots.style import OURS, THEIRS, byte_unit, new_figure

    n = matrix.num_ranks
    figure = new_figure(10, 3)
    degree, load = figure.subplots(1, 2)
    sides = (("sends", matrix.src, OURS, -0.2), ("receives", matrix.dst, THEIRS, 0.2))
    totals = [np.bincount(at, weights=matrix.bytes, minlength=n) for _, at, _, _ in sides]
    divisor, unit = byte_unit(float(max((t.max() for t in totals if len(t)), default=1.0)))
    for (name, at, colour, shift), total in zip(sides, totals, strict=True):
        degree.bar(np.arange(n) + shift, np.bincount(at, minlength=n), 0.4, color=colour, label=name)
        load.bar(np.arange(n) + shift, total / divisor, 0.4, color=colour)
    degree.set_ylabel("messages")
    load.set_ylabel(unit)
    for axes in (degree, load):
        axes.set_xlabel("rank")
    degree.legend(frameon=False)
    return figure


def _advice_part(
    matrix: CommMatrix, machine: str | None, reuse: int, planned_by: str | None
) -> dict[str, Any]:
    """Returns the part of the page with the advice. planned_by: the scheduler whose plan is drawn; by default
    the chosen scheduler.
    """
    saved = _core.calibrated_machine_path(False)
    name = machine or (saved if saved and Path(saved).is_file() else NOMINAL_MACHINE)
    note = "as asked for." if machine else "as nuice-calibrate has left it."
    if name == NOMINAL_MACHINE and not machine:
        note = "a guess, as no machine was named or calibrated here. --machine NAME names one (nuice list)."
    part: dict[str, Any] = {"machine": name, "machine_note": note, "advice": None, "plan": "", "choice": None}
    try:
        advice = advise(matrix, name, reuse)
    except Error as error:
        return part | {"no_advice": f"There is no advice: {error}.", "candidates": []}
    rows = [
        {
            "name": c.name,
            "exchange": output.time_text(c.exchange_s),
            "planning": output.time_text(c.planning_s),
            "why_not": c.why_not or "the choice",
        }
        for c in advice.candidates[:MOST_CANDIDATES]
        if c.applicable
    ]
    choice = advice.choice
    part |= {"advice": advice, "candidates": rows, "choice": choice.name, "no_advice": ""}
    scheduler = planned_by or choice.scheduler
    if matrix.num_messages and scheduler in [row.name for row in _core.schedulers()]:
        from ..plots import draw_timeline

        part["plan"] = _svg(draw_timeline([plan(matrix, scheduler)]))
    return part


def trace_drawing(exchange: ExchangeTrace, run: Run) -> dict[str, Any]:
    """Returns the lanes and bars of a run, in the units of the drawing. Every bar has a title."""
    from ..plots.style import rank_colours

    scale = (WIDTH - LABEL) / (run.seconds or 1.0)
    colours = rank_colours(exchange.num_ranks)
    lanes = [{"rank": rank, "y": rank * LANE} for rank in range(exchange.num_ranks)]
    text = output.time_text

    def bar(
        rank: int, top: int, begin_s: float, end_s: float, title: str, colour: Any, opacity: float
    ) -> dict:
        from matplotlib.colors import to_hex

        lasts = f", {text(begin_s)} to {text(end_s)}"
        place = {"x": round(LABEL + begin_s * scale, 2), "y": rank * LANE + top}
        size = {"width": round(max((end_s - begin_s) * scale, 0.8), 2), "height": LANE // 2 - 3}
        return place | size | {"title": title + lasts, "colour": to_hex(colour), "opacity": opacity}

    transfers, waits = run.transfers(), run.waits()
    bars = [
        bar(
            t.src,
            1,
            t.begin_s,
            t.end_s,
            f"rank {t.src} to rank {t.dst}: {_bytes(t.bytes)}",
            colours[t.dst],
            0.6,
        )
        for t in transfers
    ]
    bars += [
        bar(
            w.rank,
            LANE // 2,
            w.begin_s,
            w.end_s,
            f"rank {w.rank} waits for rank {w.waits_for} ({w.what})",
            "#999999",
            1,
        )
        for w in waits
    ]
    bars.sort(key=lambda b: -b["width"])
    words = f"{exchange.scheduler}:{exchange.executor}, {len(transfers)} transfers in {text(run.seconds)}"
    if len(bars) > MOST_BARS:
        words += f"; the {MOST_BARS} longest of {len(bars)} bars are drawn"
    waited = [row | {"time": text(row["seconds"])} for row in exchange.waited(run)[:MOST_WAITS]]
    size = {"width": WIDTH, "height": LANE * exchange.num_ranks}
    return size | {"lanes": lanes, "bars": bars[:MOST_BARS], "waited": waited, "words": words + "."}


def _bytes(count: int) -> str:
    return output.size_text(count) if count else "size not noted"


def next_steps(source: Path) -> list[dict[str, str]]:
    """Returns commands for the next steps."""
    matrix = source if not source.is_dir() else source / "exchange-00.mtx"
    steps = []
    if source.is_dir() and not any(source.glob("*.trace")):
        steps.append({"text": "Write the matrices.", "command": f"nuice record merge {source}"})
    if source.is_dir() and any(source.glob("*.trace")):
        steps.append(
            {
                "text": "Look at every run.",
                "command": f"nuice trace {source} -o trace.json    # for ui.perfetto.dev",
            }
        )
        matrix = Path("halo.mtx")
        steps.append({"text": "Write the matrix in the program.", "command": 'plan.save_matrix("halo.mtx")'})
    steps.append(
        {
            "text": "Describe your network, so that predictions are about it.",
            "command": "nuice-calibrate --save",
        }
    )
    bench = f"mpiexec -n N nuice-bench --matrix {matrix} --schedulers auto,coloring:async,neighbor,isend"
    steps.append({"text": "Measure, with all of MPI's methods.", "command": bench})
    steps.append(
        {"text": "How to read that, and where there is nothing to gain: docs/will-it-help.md.", "command": ""}
    )
    return steps


def _svg(figure: Figure) -> Any:
    from markupsafe import Markup

    text = io.StringIO()
    figure.savefig(text, format="svg")
    return Markup(text.getvalue()[text.getvalue().index("<svg") :])  # contains no text from elsewhere


def register(app: typer.Typer) -> None:
    epilog = "nuice report halo.mtx -o report.html\n\nnuice report trace-folder -o report.html"
    app.command("report", epilog=epilog)(report)

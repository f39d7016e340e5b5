# SPDX-License-Identifier: BSD-3-Clause
"""Draws a real exchange above its plan: sends and waits of each rank."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from ..tracing import ExchangeTrace, Run
from .style import explain_rank_colours, new_figure, rank_colours, three_digits, time_unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_LABELLED_RANKS = 40
WAITING = "#DDDDDD"


def plan_bars(exchange: ExchangeTrace) -> list[tuple[int, int, float, float]]:
    """Returns (src, dst, begin, end) for each transfer of the plan, in bytes. A phase lasts as long as its
    busiest port needs.
    """
    by_phase: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for rank, rows in exchange.entries.items():
        for phase, to, size, _, _ in rows.tolist():
            if to >= 0:
                by_phase[phase].append((rank, to, size))
    bars, begin = [], 0.0
    for phase in sorted(by_phase):
        sent: dict[int, float] = defaultdict(float)
        received: dict[int, float] = defaultdict(float)
        for src, dst, size in by_phase[phase]:
            bars.append((src, dst, begin + sent[src], begin + sent[src] + size))
            sent[src] += size
            received[dst] += size
        begin += max([*sent.values(), *received.values()])
    return bars


def draw_trace(exchange: ExchangeTrace, run: Run) -> Figure:
    """Draws two panels: the measured exchange, in which a transfer lasts from its start to its arrival, and
    the plan."""
    factor, unit = time_unit(run.seconds)
    num_ranks = exchange.num_ranks
    panel = min(max(0.24 * num_ranks, 1.9), 7.5)
    figure = new_figure(13, 1.6 + 2 * (panel + 0.5))
    real, planned = figure.subplots(2, 1)
    colours = rank_colours(num_ranks)
    for wait in run.waits():
        width = (wait.end_s - wait.begin_s) * factor
        real.barh(wait.rank, width, left=wait.begin_s * factor, height=0.84, color=WAITING)
    rows = [(t.src, t.dst, t.begin_s * factor, t.end_s * factor) for t in run.transfers()]
    _draw_bars(real, rows, colours, 0.55)
    real.set_title(
        f"what happened: {three_digits(run.seconds * factor)} {unit}, executor {exchange.executor}",
        loc="left",
    )
    real.set_xlabel(f"time since the first start() ({unit}); grey: the rank waits; colour: to rank")
    _draw_bars(planned, plan_bars(exchange), colours, 0.95)
    planned.set_title(f"the plan: {exchange.scheduler}, {exchange.num_phases} phases", loc="left")
    planned.set_xlabel("bytes that have passed the busiest port (a model)")
    for axes in (real, planned):
        axes.set_ylim(num_ranks - 0.5, -0.5)
        axes.set_ylabel("sending rank")
        if num_ranks <= MAX_LABELLED_RANKS:
            axes.set_yticks(range(num_ranks))
        axes.spines[["top", "right"]].set_visible(False)
    real.set_xlim(0, run.seconds * factor * 1.01)
    explain_rank_colours(figure, (real, planned), num_ranks)
    return figure


def _draw_bars(
    axes: Any, bars: list[tuple[int, int, float, float]], colours: list[Any], alpha: float
) -> None:
    for src, dst, begin, end in bars:
        axes.barh(src, end - begin, left=begin, height=0.6, color=colours[dst], alpha=alpha, linewidth=0)
    axes.autoscale_view()

# SPDX-License-Identifier: BSD-3-Clause
"""Draws plans as timelines, according to a model, and the comparison of schedulers as bars."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..planning import Comparison, Plan
from .style import (
    OURS,
    REFERENCE_LINE,
    byte_unit,
    explain_rank_colours,
    new_figure,
    rank_colours,
    text_colour_on,
    time_unit,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_LABELLED_RANKS = 40
NOT_COMPARABLE = "#BBBBBB"  # bars of schedules for which the bound does not hold
MIN_LABEL_SHARE = 0.016  # share of the axis' width below which a bar has no room for its receiver's number


def draw_timeline(plans: Sequence[Plan]) -> Figure:
    """Draws which rank sends to which rank in each phase. There is one panel of ranks x bytes per plan; all
    panels have the same scale.

    The model: a rank sends and receives one message at a time, all messages have the same speed, and a phase
    begins when the previous phase has ended on all ranks. If a rank has several sends in one phase, they are
    drawn one after the other, in their order.
    """
    num_ranks = plans[0].matrix.num_ranks
    ends = [_phase_ends(plan) for plan in plans]
    longest = max((float(e[-1]) for e in ends if len(e)), default=1.0)
    divisor, unit = byte_unit(longest)
    panel = min(max(0.21 * num_ranks, 1.9), 7.5)
    figure = new_figure(13, 1.5 + len(plans) * (panel + 0.45))
    panels = figure.subplots(len(plans), 1, sharex=True, squeeze=False)[:, 0]
    for axes, plan, end in zip(panels, plans, ends, strict=True):
        _draw_plan(axes, plan, end / divisor, divisor, longest / divisor)
    model = "model, not measured: one port per rank, no start-up cost"
    panels[-1].set_xlabel(f"{unit} that have passed through the busiest port ({model})")
    panels[0].set_xlim(0, longest / divisor * 1.005)
    explain_rank_colours(figure, panels, num_ranks)
    return figure


def _phase_ends(plan: Plan) -> NDArray[np.float64]:
    """Returns the end of each phase, in bytes. A phase lasts as long as its busiest rank works."""
    phase, src, dst, size = plan.schedule.transfer_table().T
    num_ranks, num_phases = plan.matrix.num_ranks, plan.phases
    busy = np.zeros((2, num_phases * num_ranks))
    np.add.at(busy[0], phase * num_ranks + src, size)
    np.add.at(busy[1], phase * num_ranks + dst, size)
    lengths = busy.max(axis=0).reshape(num_phases, num_ranks).max(axis=1) if busy.size else np.zeros(0)
    return np.cumsum(lengths)


def _draw_plan(axes: Any, plan: Plan, ends: NDArray[np.float64], divisor: float, longest: float) -> None:
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgba_array

    num_ranks = plan.matrix.num_ranks
    phase, src, dst, size = plan.schedule.transfer_table().T
    width = size / divisor
    left = _send_starts(phase, src, width, ends)
    right, top, bottom = left + width, src - 0.42, src + 0.42
    corners = np.stack([left, top, right, top, right, bottom, left, bottom], axis=1).reshape(-1, 4, 2)
    colours = rank_colours(num_ranks)
    faces = to_rgba_array(colours)[dst] if len(dst) else None
    axes.add_collection(PolyCollection(corners, facecolors=faces, edgecolors="white", linewidths=0.3))
    if num_ranks <= MAX_LABELLED_RANKS:
        for x, w, s, d in zip(left, width, src, dst, strict=True):
            if w > MIN_LABEL_SHARE * longest:
                ink = text_colour_on(colours[d])
                axes.text(x + w / 2, s, str(d), ha="center", va="center", fontsize=7.5, color=ink)
    _draw_phases(axes, ends, longest)
    if "one_port" in plan.guarantees:
        bound = plan.bounds.max_port_bytes / divisor
        axes.axvline(bound, color="black", linestyle="--", linewidth=1.2)
        side = {"ha": "right", "va": "bottom", "rotation": 90, "fontsize": 7.5}
        axes.text(bound, num_ranks - 0.6, "lower bound ", **side)
    axes.set_ylim(num_ranks - 0.5, -0.5)
    axes.set_ylabel("sending rank")
    if num_ranks <= MAX_LABELLED_RANKS:
        axes.set_yticks(range(num_ranks))
        axes.tick_params(axis="y", labelsize=8)
    figures = plan.figures()
    ratio = figures["bytes_to_bound"]
    verdict = f"{ratio:.2f} x the bound on bytes" if ratio else "not one-port: all sends at once"
    phases = f"{plan.phases} phase{'s'[: plan.phases != 1]} (max degree {figures['max_degree']})"
    axes.set_title(f"{plan.scheduler}: {phases}, {verdict}", loc="left", pad=13)


def _send_starts(phase: Any, src: Any, width: Any, ends: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the start of each transfer, in bytes: the start of its phase, or the end of the rank's earlier
    sends in this phase.
    """
    begins = np.concatenate([[0.0], ends])
    sent: dict[tuple[int, int], float] = {}
    left = np.zeros(len(phase))
    for i, (p, s, w) in enumerate(zip(phase.tolist(), src.tolist(), width.tolist(), strict=True)):
        before = sent.get((p, s), 0.0)
        left[i] = begins[p] + before
        sent[p, s] = before + w
    return left


def _draw_phases(axes: Any, ends: NDArray[np.float64], longest: float) -> None:
    """Draws every second phase on a grey background, with its number above if there is room."""
    begins = np.concatenate([[0.0], ends])
    for p, (begin, end) in enumerate(zip(begins[:-1], ends, strict=True)):
        if p % 2 == 1:
            axes.axvspan(begin, end, color="#EEEEEE", zorder=0)
        if end - begin > MIN_LABEL_SHARE * longest:
            above = {"xycoords": axes.get_xaxis_transform(), "xytext": (0, 2), "textcoords": "offset points"}
            label = f"phase {p}" if p == 0 else str(p)
            middle = ((begin + end) / 2, 1.0)
            axes.annotate(label, middle, **above, ha="center", va="bottom", fontsize=7.5, color="#666666")
    if len(ends):
        axes.axvline(ends[-1], color=REFERENCE_LINE, linewidth=1.4)


def draw_comparison(comparisons: Sequence[Comparison], title: str = "schedulers compared") -> Figure:
    """Draws phases, bytes over bound, and planning time of every applicable scheduler.

    Schedulers that made the same schedule share a row, which shows the planning time of the fastest of them.
    """
    groups = _same_schedules(comparisons)
    names = [textwrap.fill(", ".join(c.scheduler for c in group), 26) for group in groups]
    figures = [min((c.figures() for c in group), key=lambda f: f["plan_seconds"]) for group in groups]
    rows = groups
    num_lines = sum(1 + name.count("\n") for name in names)
    figure = new_figure(13, 1.6 + 0.42 * max(num_lines, 2))
    phases, ratio, seconds = figure.subplots(1, 3, sharey=True)
    _bars(phases, names, [float(f["phases"]) for f in figures], "{:.0f}")
    for bar, f in zip(phases.patches, figures, strict=True):
        bar.set_color(OURS if "one_port" in f["guarantees"] else NOT_COMPARABLE)
    _bars(ratio, names, [f["bytes_to_bound"] for f in figures], "{:.2f}", missing="not one-port: no ratio")
    factor, unit = time_unit(max((f["plan_seconds"] for f in figures), default=0.0))
    _bars(seconds, names, [f["plan_seconds"] * factor for f in figures], "{:.3g}")
    phases.set_xlabel("phases")
    ratio.set_xlabel("phase bytes / lower bound")
    seconds.set_xlabel(f"time to plan ({unit}, median)")
    if figures:
        degree = figures[0]["max_degree"]
        line = {"color": REFERENCE_LINE, "linestyle": "--"}
        phases.axvline(degree, **line, label=f"max degree {degree} (least if one-port)")
        ratio.axvline(1.0, **line, label="lower bound")
        for axes in (phases, ratio):
            axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False, fontsize=9)
    phases.set_ylim(len(rows) - 0.4, -0.6)
    figure.suptitle(title)
    return figure


def _same_schedules(comparisons: Sequence[Comparison]) -> list[list[Comparison]]:
    """Groups the schedulers that made the same schedule, in their order, without inapplicable schedulers."""
    groups: dict[tuple[int, bytes], list[Comparison]] = {}
    for c in comparisons:
        if c.plan is not None:
            key = (c.plan.phases, np.ascontiguousarray(c.plan.schedule.transfer_table()).tobytes())
            groups.setdefault(key, []).append(c)
    return list(groups.values())


def _bars(axes: Any, names: list[str], values: Sequence[float | None], label: str, missing: str = "") -> None:
    rows = range(len(names))
    axes.barh(rows, [v or 0.0 for v in values], color=OURS, height=0.65)
    axes.set_yticks(rows, names)
    for row, value in zip(rows, values, strict=True):
        text = missing if value is None else label.format(value)
        place = {"xytext": (4, 0), "textcoords": "offset points", "va": "center"}
        axes.annotate(text, (value or 0.0, row), **place, fontsize=9)
    axes.set_xlim(0, 1.18 * max([1e-9, *(v for v in values if v)]))
    axes.spines[["top", "right"]].set_visible(False)

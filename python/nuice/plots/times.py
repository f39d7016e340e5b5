# SPDX-License-Identifier: BSD-3-Clause
"""Draws measured exchange times, as nuice-bench reports them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .style import OURS, THEIRS, new_figure, three_digits, time_unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_times(methods: Sequence[Mapping[str, Any]], title: str) -> Figure:
    """Draws one bar per method: the median over the repetitions, with minimum and maximum.

    Each method is a dict with the keys label, mpi (whether it is a method of MPI) and
    exchange_seconds_{median,min,max}.
    """
    from matplotlib.patches import Patch

    medians = [m["exchange_seconds_median"] for m in methods]
    factor, unit = time_unit(max(medians, default=0.0))
    # The slowest repetition may be a disturbance of the machine, which must not shrink all bars.
    slowest = max((m["exchange_seconds_max"] for m in methods), default=1.0)
    longest = factor * min(slowest, 4 * max(medians, default=1.0))
    figure = new_figure(11, 1.9 + 0.42 * len(methods))
    axes = figure.add_subplot()
    for row, method in enumerate(methods):
        low, middle, high = (factor * method[f"exchange_seconds_{part}"] for part in ("min", "median", "max"))
        axes.barh(row, middle, color=THEIRS if method["mpi"] else OURS, height=0.62)
        axes.plot([low, min(high, longest)], [row, row], color="black", linewidth=1.2, marker="|")
        figures = f"{three_digits(middle)}  ({three_digits(low)} to {three_digits(high)})"
        axes.text(1.01, row, figures, transform=axes.get_yaxis_transform(), va="center", fontsize=9)
    axes.set_xlim(0, 1.03 * longest)
    axes.set_yticks(range(len(methods)), [m["label"] for m in methods])
    axes.invert_yaxis()
    axes.set_xlabel(f"time of one exchange in {unit}, slowest rank (bar: median, line: min to max)")
    axes.spines[["top", "right"]].set_visible(False)
    handles = [Patch(color=OURS, label="nuice"), Patch(color=THEIRS, label="MPI's own collective")]
    axes.legend(handles=handles, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
    figure.suptitle(title)
    return figure

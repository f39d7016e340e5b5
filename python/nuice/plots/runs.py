# SPDX-License-Identifier: BSD-3-Clause
"""Draws simulated runs as timelines: sends, receives and waits of each rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import ACTIVITIES
from ..simulation import Prediction
from .style import COLOURS, REFERENCE_LINE, new_figure, three_digits, time_unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The parts of a rank's row, from top to bottom: work of the processor fills the row, bytes lie on it.
LANES = {
    "software": (-0.46, 0.46, COLOURS[7]),
    "waiting": (-0.46, 0.46, "#E4E4E4"),
    "sending": (-0.40, -0.03, COLOURS[0]),
    "blocked": (-0.40, -0.03, COLOURS[1]),
    "receiving": (0.03, 0.40, COLOURS[4]),
}
WORDS = {
    "software": "software",
    "waiting": "processor waits",
    "sending": "sending",
    "blocked": "send blocked: link or receiver busy",
    "receiving": "receiving",
}
MAX_LABELLED_RANKS = 40


def draw_runs(predictions: Sequence[Prediction], machine: str) -> Figure:
    """Draws one panel of ranks x time per run; all panels have the same scale. The runs must have been made
    with timeline=True.
    """
    runs = [p for p in predictions if p.run is not None]
    num_ranks = max((len(p.run.ranks) for p in runs), default=1)
    longest = max((p.run.seconds for p in runs), default=0.0) or 1e-9
    factor, unit = time_unit(longest)
    panel = min(max(0.21 * num_ranks, 1.6), 6.0)
    figure = new_figure(13, 1.5 + max(len(runs), 1) * (panel + 0.4))
    panels = figure.subplots(max(len(runs), 1), 1, sharex=True, squeeze=False)[:, 0]
    for axes, prediction in zip(panels, runs, strict=False):
        _draw_run(axes, prediction, num_ranks, factor, unit)
    panels[0].set_xlim(0, longest * factor * 1.005)
    panels[-1].set_xlabel(f"time ({unit}), simulated on {machine}")
    _explain(figure)
    return figure


def _draw_run(axes: Any, prediction: Prediction, num_ranks: int, factor: float, unit: str) -> None:
    from matplotlib.collections import PolyCollection

    run = prediction.run
    times = run.interval_times() * factor
    rank, activity = run.interval_table()[:, :2].T if len(times) else (np.zeros(0, int), np.zeros(0, int))
    for order, (name, (top, bottom, colour)) in enumerate(sorted(LANES.items(), key=_background_first)):
        chosen = activity == ACTIVITIES.index(name)
        left, right = times[chosen].T if chosen.any() else (np.zeros(0), np.zeros(0))
        row = rank[chosen]
        corners = np.stack(
            [left, row + top, right, row + top, right, row + bottom, left, row + bottom], axis=1
        ).reshape(-1, 4, 2)
        axes.add_collection(PolyCollection(corners, facecolors=colour, edgecolors="none", zorder=1 + order))
    axes.axvline(run.seconds * factor, color=REFERENCE_LINE, linewidth=1.4)
    axes.set_ylim(num_ranks - 0.5, -0.5)
    axes.set_ylabel("rank")
    if num_ranks <= MAX_LABELLED_RANKS:
        axes.set_yticks(range(num_ranks))
        axes.tick_params(axis="y", labelsize=8)
    figures = prediction.figures()
    title = f"{prediction.scheduler} ({prediction.executor}): {three_digits(run.seconds * factor)} {unit}"
    if figures["seconds_to_bound"]:
        title += f", {figures['seconds_to_bound']:.2f} x the bound, idle {100 * figures['idle_share']:.0f} %"
    axes.set_title(title, loc="left")


def _background_first(lane: tuple[str, tuple[float, float, str]]) -> int:
    return ("waiting", "software", "receiving", "sending", "blocked").index(lane[0])


def _explain(figure: Figure) -> None:
    from matplotlib.patches import Patch

    handles = [Patch(color=LANES[name][2], label=WORDS[name]) for name in LANES]
    figure.legend(handles=handles, loc="outside upper right", ncols=len(handles), frameon=False)

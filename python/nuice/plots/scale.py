# SPDX-License-Identifier: BSD-3-Clause
"""Draws the results of distributed planning against the number of ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .style import COLOURS, REFERENCE_LINE, new_figure, time_unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_scale(points: Sequence[Mapping[str, Any]], title: str) -> Figure:
    """Draws phases over the maximum degree, and modelled planning times, by ranks.

    Each point has ranks, phases_to_max_degree and modelled_seconds_by_machine (`nuice plan-at-scale --json`).
    """
    ranks = [point["ranks"] for point in points]
    figure = new_figure(11, 4.2)
    phases, times = figure.subplots(1, 2)
    phases.plot(ranks, [point["phases_to_max_degree"] for point in points], marker="o", color=COLOURS[0])
    phases.axhline(1, color=REFERENCE_LINE, linewidth=1, linestyle="--")
    phases.set_ylim(0.99, None)
    phases.set_ylabel("phases / maximum degree (counted)")
    longest = max(max(point["modelled_seconds_by_machine"].values()) for point in points)
    factor, unit = time_unit(longest)
    for name, colour in zip(points[0]["modelled_seconds_by_machine"], COLOURS, strict=False):
        modelled = [factor * point["modelled_seconds_by_machine"][name] for point in points]
        times.plot(ranks, modelled, marker="o", color=colour, label=name)
    times.set_ylim(0, None)
    times.set_ylabel(f"planning time in {unit} (modelled by LogGP, not measured)")
    times.legend(frameon=False)
    for axes in (phases, times):
        axes.set_xscale("log", base=2)
        axes.set_xlabel("ranks")
        axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle(f"planning where every rank knows its own messages only: {title}")
    return figure

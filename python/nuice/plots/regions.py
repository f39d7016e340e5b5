# SPDX-License-Identifier: BSD-3-Clause
"""Draws maps of the fastest candidates, as 000 figs 16 and 17, with the break-even lines of LP and CGM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..advice_map import BreakEven, RegionMap
from .style import COLOURS, new_figure, text_colour_on

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_regions(regions: RegionMap, lines: Sequence[BreakEven] = ()) -> Figure:
    """Draws a map with one cell per number of messages (upwards) and size (to the right). A cell has the
    colour of its fastest candidate.
    """
    from matplotlib.patches import Patch, Rectangle

    names = list(dict.fromkeys(name for row in regions.winner for name in row))
    colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(names)}
    figure = new_figure(2.5 + 1.0 * len(regions.sizes), 2.6 + 0.5 * len(regions.degrees))
    axes = figure.add_subplot()
    for i, row in enumerate(regions.winner):
        for j, name in enumerate(row):
            axes.add_patch(Rectangle((j, i), 1, 1, facecolor=colours[name], edgecolor="white"))
            axes.text(
                j + 0.5,
                i + 0.5,
                name.split(":")[0],
                ha="center",
                va="center",
                fontsize=7,
                color=text_colour_on(colours[name]),
            )
    _draw_break_even(axes, regions, lines)
    axes.set_xlim(0, len(regions.sizes))
    axes.set_ylim(0, len(regions.degrees))
    axes.set_xticks(
        [j + 0.5 for j in range(len(regions.sizes))], [_size_text(size) for size in regions.sizes]
    )
    axes.set_yticks([i + 0.5 for i in range(len(regions.degrees))], [str(d) for d in regions.degrees])
    axes.set_xlabel("bytes of a message")
    axes.set_ylabel("messages of a rank")
    handles = [Patch(color=colours[name], label=name) for name in names]
    handles += [line for line in axes.get_lines() if not str(line.get_label()).startswith("_")]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    figure.suptitle(
        f"{regions.machine}, {regions.ranks} ranks: least S / R + C, R = {regions.reuse} (simulated)",
        fontsize=10,
    )
    return figure


def _draw_break_even(axes: Axes, regions: RegionMap, lines: Sequence[BreakEven]) -> None:
    """Draws the line below which CGM costs no more than LP."""
    points = [(j + 0.5, _height(regions, line.degree)) for j, line in enumerate(lines)]
    if points:
        axes.plot(*zip(*points, strict=True), color="black", linewidth=1.6, label="CGM = LP, used once")


def _height(regions: RegionMap, degree: int) -> float:
    """Returns the position of a degree between the rows."""
    degrees = regions.degrees
    if degree < degrees[0]:
        return 0.0
    for i, low in enumerate(degrees[:-1]):
        if degree < degrees[i + 1]:
            return i + 0.5 + (degree - low) / (degrees[i + 1] - low)
    return len(degrees) - 0.5


def _size_text(size: int) -> str:
    return f"{size}" if size < 1024 else f"{size // 1024} K"

# SPDX-License-Identifier: BSD-3-Clause
"""Draws reproduced tables as curves: printed numbers as marks, NUICE's as lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nuice.errors import Error
from nuice.plots.style import COLOURS, new_figure

from .report import Cell, Curves, Part, Reproduction

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_ACROSS = 3
_LINES_BESIDE_A_LEGEND = 6


def draw_reproductions(results: Sequence[Reproduction]) -> Figure:
    """Draws one picture per table and group of rows (all keys but the last), with the last key along the x
    axis."""
    panels = [panel for result in results for panel in _panels(result)]
    curves = [(result.name, found) for result in results for found in result.curves]
    if not panels and not curves:
        raise Error("nothing to draw: what was asked for has claims only")
    count = len(panels) + len(curves)
    across, down = min(_ACROSS, count), -(-count // _ACROSS)
    figure = new_figure(5 * across, 3.6 * down)
    for place, (title, part, cells) in enumerate(panels, 1):
        _draw(figure.add_subplot(down, across, place), title, part, cells)
    for place, (name, found) in enumerate(curves, len(panels) + 1):
        _draw_curves(figure.add_subplot(down, across, place), name, found)
    has_printed = any("printed" in line for _, found in curves for line in found.lines)
    alone = "simulated" if has_printed else "simulated; the paper prints no points"
    figure.suptitle("marks: printed, lines: simulated" if panels else alone)
    return figure


def drawable(result: Reproduction) -> bool:
    """Returns whether the result has more than claims."""
    return bool(result.curves) or any(_panels(result))


def _draw_curves(axes: Any, name: str, curves: Curves) -> None:
    for index, (label, points) in enumerate(curves.lines.items()):
        x, y = zip(*points, strict=True)
        style = "-" if index < len(COLOURS) else "--"
        axes.plot(x, y, style, color=COLOURS[index % len(COLOURS)], linewidth=1.2, marker=".", label=label)
    if curves.log:
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
    _label(axes, f"{name}: {curves.title}", curves.x, curves.y)
    if len(curves.lines) <= _LINES_BESIDE_A_LEGEND:
        axes.legend(fontsize=7, frameon=False)
    else:  # below the curves, where it hides none
        axes.legend(fontsize=6, frameon=False, ncols=5, loc="upper center", bbox_to_anchor=(0.5, -0.16))


def _label(axes: Any, title: str, x: str, y: str) -> None:
    axes.set_title(title, fontsize=9)
    axes.set_xlabel(x, fontsize=8)
    axes.set_ylabel(y, fontsize=8)
    axes.tick_params(labelsize=8)


def _panels(result: Reproduction) -> list[tuple[str, Part, list[Cell]]]:
    panels = []
    for part in result.parts:
        if part.timed_here:
            continue
        groups: dict[Any, list[Cell]] = {}
        for cell in part.cells:
            groups.setdefault(cell.row[:-1], []).append(cell)
        for group, cells in groups.items():
            where = ", ".join(f"{key} {value}" for key, value in group)
            panels.append((f"{result.name}: {where or part.title}", part, cells))
    return panels


def _draw(axes: Any, title: str, part: Part, cells: list[Cell]) -> None:
    columns = list(dict.fromkeys(cell.column for cell in cells))
    for index, column in enumerate(columns):
        of_column = [cell for cell in cells if cell.column == column]
        x = [cell.row[-1][1] for cell in of_column]
        colour = COLOURS[index % len(COLOURS)]
        axes.plot(x, [cell.printed for cell in of_column], "o", color=colour, markersize=4)
        style = "-" if len(of_column) > 1 else "_"  # a line of one point would be invisible
        ours = [cell.ours for cell in of_column]
        axes.plot(x, ours, style, color=colour, linewidth=1.2, markersize=12, label=column)
    if not any(isinstance(cell.row[-1][1], str) for cell in cells):
        axes.set_xscale("log", base=2)
    if all(cell.printed > 0 and cell.ours > 0 for cell in cells):
        axes.set_yscale("log")
    _label(axes, title, cells[0].row[-1][0], part.unit)
    axes.legend(fontsize=7, frameon=False)

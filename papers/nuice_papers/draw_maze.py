# SPDX-License-Identifier: BSD-3-Clause
"""Draws mazes that nuice-lee has routed: walls, the last wavefront by distance, the paths."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from nuice.errors import Error
from nuice.plots.style import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_maze(grid: Path, distances: Path | None = None) -> Figure:
    """Draws the output of nuice-lee --grid, with the output of --distances for the last net below it."""
    cells = read_grid(grid)
    figure = new_figure(8, 8)
    axes = figure.subplots()
    if distances is not None:
        levels = _read_distances(distances, cells.shape)
        image = axes.imshow(np.ma.masked_less(levels, 0), cmap="viridis", interpolation="nearest")
        figure.colorbar(image, ax=axes, shrink=0.8, label="distance from the source of the last net")
    for letter, colour in (("#", (0.25, 0.25, 0.25, 1.0)), ("+", (0.85, 0.1, 0.1, 1.0))):
        layer = np.zeros((*cells.shape, 4))
        layer[cells == letter] = colour
        axes.imshow(layer, interpolation="nearest")
    axes.set_xticks([])
    axes.set_yticks([])
    walls, paths = (cells == "#").mean(), int((cells == "+").sum())
    axes.set_title(f"{cells.shape[0]} x {cells.shape[1]}, {walls:.0%} walls, {paths} cells on paths")
    return figure


def read_grid(path: Path) -> npt.NDArray[np.str_]:
    rows = path.read_text().splitlines()
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise Error(f"{path}:{number}: {len(row)} cells, those above {len(rows[0])}", "parse")
        if unknown := set(row) - set(".#+"):
            raise Error(f"{path}:{number}: unknown character {sorted(unknown)[0]!r}", "parse")
    if not rows or not rows[0]:
        raise Error(f"{path}: no maze in it", "parse")
    return np.array([list(row) for row in rows])


def _read_distances(path: Path, shape: tuple[int, ...]) -> npt.NDArray[np.int32]:
    levels = np.fromfile(path, dtype=np.int32)
    if levels.size != np.prod(shape):
        raise Error(f"{path}: {levels.size} distances for {shape[0]} x {shape[1]} cells", "mismatch")
    return levels.reshape(shape)

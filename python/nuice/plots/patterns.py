# SPDX-License-Identifier: BSD-3-Clause
"""Draws a mesh coloured by part, and a communication matrix as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._core import CommMatrix
from .style import COLOURS, byte_unit, new_figure, text_colour_on

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..airfoil import Mesh

MAX_CELLS = (
    256  # rows of a heat map, so that single messages are visible; larger matrices are drawn in blocks
)
MAX_NUMBERED_PARTS = 128


def draw_mesh(mesh: Mesh, owner: NDArray[np.int64], num_parts: int) -> Figure:
    """Draws the whole mesh and, enlarged, the part near the profile. White triangles lie between parts; their
    edges cause the messages.

    Adjacent parts have different colours. Up to eight parts have one colour each and a legend; more parts
    have numbers.
    """
    figure = new_figure(13, 6.4)
    colours = [COLOURS[i] for i in _colour_numbers(mesh, owner, num_parts)]
    titles = (f"whole mesh: {len(mesh.points)} points, {len(mesh.triangles)} triangles", "near the profile")
    for axes, title in zip(figure.subplots(1, 2), titles, strict=True):
        _draw_triangles(axes, mesh, owner, colours)
        axes.set_aspect("equal")
        axes.set_title(title)
        axes.set_xlabel("x / chord")
        axes.set_ylabel("y / chord")
    near = figure.axes[1]
    near.set_xlim(-0.6, 1.6)
    near.set_ylim(-1.1, 1.1)
    figure.suptitle(f"NACA 0012 mesh in {num_parts} parts (white: triangles shared by parts)")
    if num_parts <= len(COLOURS):
        _part_legend(figure, owner, colours)
    elif num_parts <= MAX_NUMBERED_PARTS:
        for axes in figure.axes:
            _number_parts(axes, mesh, owner, num_parts)
    return figure


def _colour_numbers(mesh: Mesh, owner: NDArray[np.int64], num_parts: int) -> list[int]:
    """Returns a colour per part. Adjacent parts have different colours if eight colours are enough."""
    if num_parts <= len(COLOURS):
        return list(range(num_parts))
    touching: list[set[int]] = [set() for _ in range(num_parts)]
    ends = owner[mesh.edges()]
    for a, b in np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0).tolist():
        touching[a].add(b)
        touching[b].add(a)
    # Smallest degree last: a planar graph then needs at most six colours.
    left, order = {part: set(near) for part, near in enumerate(touching)}, []
    while left:
        part = min(left, key=lambda p: len(left[p]))
        for neighbour in left.pop(part):
            left[neighbour].discard(part)
        order.append(part)
    colour: dict[int, int] = {}
    for part in reversed(order):
        used = {colour[n] for n in touching[part] if n in colour}
        colour[part] = min(set(range(len(COLOURS))) - used, default=part % len(COLOURS))
    return [colour[part] for part in range(num_parts)]


def _draw_triangles(axes: Any, mesh: Mesh, owner: NDArray[np.int64], colours: list[Any]) -> None:
    from matplotlib.collections import PolyCollection
    from matplotlib.colors import to_rgba_array

    parts = owner[mesh.triangles]
    shared = (parts != parts[:, :1]).any(axis=1)
    faces = to_rgba_array([*colours, "#FFFFFF"])[np.where(shared, len(colours), parts[:, 0])]
    thickness = 0.3 if len(mesh.triangles) < 20_000 else 0.08
    shapes = PolyCollection(
        mesh.points[mesh.triangles], facecolors=faces, edgecolors="#333333", linewidths=thickness
    )
    axes.add_collection(shapes)
    axes.autoscale_view()


def _part_legend(figure: Figure, owner: NDArray[np.int64], colours: list[Any]) -> None:
    from matplotlib.patches import Patch

    sizes = np.bincount(owner, minlength=len(colours))
    labels = [f"part {part}: {size}" for part, size in enumerate(sizes)]
    handles = [Patch(color=c, label=label) for c, label in zip(colours, labels, strict=True)]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(colours), title="points per part")


def _number_parts(axes: Any, mesh: Mesh, owner: NDArray[np.int64], num_parts: int) -> None:
    """Writes the number of each part at its median point, if the axes show this point and the part is large
    enough there.
    """
    width = np.ptp(axes.get_xlim())
    for part in range(num_parts):
        points = mesh.points[owner == part]
        if np.ptp(points[:, 0]) > 0.03 * width:
            x, y = np.median(points, axis=0)
            frame = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
            axes.text(x, y, str(part), fontsize=7.5, ha="center", va="center", bbox=frame, clip_on=True)


def draw_matrix(matrix: CommMatrix, title: str = "communication matrix") -> Figure:
    """Draws the bytes from every sender (row) to every receiver (column); white: no message."""
    from matplotlib import colormaps
    from matplotlib.colors import LogNorm, Normalize

    block = -(-max(matrix.num_ranks, 1) // MAX_CELLS)
    cells = _block_sums(matrix, block)
    divisor, unit = byte_unit(float(cells.max()))
    shown = np.ma.masked_equal(cells / divisor, 0.0)
    low, high = (float(shown.min()), float(shown.max())) if shown.count() else (1.0, 1.0)
    wide_range = high > 50 * low
    figure = new_figure(8.2, 7)
    axes = figure.add_subplot()
    extent = (-0.5, matrix.num_ranks - 0.5, matrix.num_ranks - 0.5, -0.5)
    # The scale begins at zero: equal sizes must not look empty, and white must mean "no message".
    norm = LogNorm(low, high) if wide_range else Normalize(0.0, high)
    image = axes.imshow(shown, cmap=colormaps["viridis_r"], norm=norm, extent=extent, interpolation="none")
    per = f" per {block} x {block} ranks" if block > 1 else ""
    figure.colorbar(image, ax=axes, label=f"{unit}{per}{' (log scale)' if wide_range else ''}", shrink=0.85)
    axes.set_xlabel("receiving rank")
    axes.set_ylabel("sending rank")
    axes.set_title(f"{title}\n{matrix.num_ranks} ranks, {matrix.num_messages} messages")
    if matrix.num_ranks <= 40:
        _draw_grid(axes, matrix.num_ranks)
    if matrix.num_ranks <= 12:
        _write_sizes(axes, shown, norm, image.cmap)
    return figure


def _block_sums(matrix: CommMatrix, block: int) -> NDArray[np.float64]:
    src, dst, size = matrix.entries()
    side = max(-(-matrix.num_ranks // block), 1)
    cells = np.zeros((side, side))
    np.add.at(cells, (src // block, dst // block), size)
    return cells


def _draw_grid(axes: Any, num_ranks: int) -> None:
    step = 1 if num_ranks <= 20 else 4
    axes.set_xticks(range(0, num_ranks, step))
    axes.set_yticks(range(0, num_ranks, step))
    axes.set_xticks(np.arange(num_ranks + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(num_ranks + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="#CCCCCC", linewidth=0.5)
    axes.tick_params(which="minor", length=0)


def _write_sizes(axes: Any, shown: Any, norm: Any, cmap: Any) -> None:
    for (row, column), value in np.ndenumerate(shown.filled(0.0)):
        if value:
            colour = text_colour_on(cmap(norm(value))[:3])
            axes.text(column, row, f"{value:.4g}", ha="center", va="center", color=colour, fontsize=8)

# SPDX-License-Identifier: BSD-3-Clause
"""A network's switches and links, coloured by the load that an exchange puts on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._core import CommMatrix, Topology, lower_bounds
from .style import REFERENCE_LINE, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_BARS = 16
BEND = 0.1  # bend of a link, so that both directions of a cable are visible
MAX_NAMED = 12  # levels of more vertices have names only at the busiest links
NAMED_LINKS = 6


def link_loads(matrix: CommMatrix, network: Topology) -> NDArray[np.float64]:
    """Returns a number for each link: the bytes over the link if messages take the network's own routes,
    divided by the number of simultaneous transfers that the link allows.
    """
    loads = np.zeros(network.num_links)
    for src, dst, count in zip(*(ends.tolist() for ends in matrix.entries()), strict=True):
        if src != dst:
            loads[network.route(src, dst)] += count
    return loads / [network.link(i).slots for i in range(network.num_links)]


def draw_fabric(matrix: CommMatrix, network: Topology, title: str = "") -> Figure:
    """Draws the network (left) and the names of the busiest links (right). The more a link carries, the
    redder it is.

    Loads are relative to the busiest port. If a load is above 1, a link and not a port is the bottleneck.
    Raises ValueError for a network without links, such as a crossbar.
    """
    if network.num_links == 0:
        raise ValueError(f"{network.name} has no links to draw")
    port_bytes = max(1, lower_bounds(matrix).max_port_bytes)
    loads = link_loads(matrix, network) / port_bytes
    links = [network.link(i) for i in range(network.num_links)]
    ends = np.array([(link.src, link.dst) for link in links])
    figure = new_figure(14, 7)
    fabric, bars = figure.subplots(1, 2, width_ratios=[3, 1])
    places, levels = _places(ends, _homes(network, matrix.num_ranks))
    _draw_links(figure, fabric, places[ends], loads)
    busiest = np.argsort(-loads, kind="stable")[:MOST_BARS]
    _draw_vertices(fabric, network, places, levels, set(ends[busiest[:NAMED_LINKS]].ravel().tolist()))
    hot = int((loads > 1).sum())
    fabric.set_title(
        f"{title or 'this exchange'} on {network.name}: {hot} of {len(loads)} links have more to carry "
        "than the busiest port"
    )
    _draw_bars(
        bars, [" > ".join(map(network.vertex_name, ends[i].tolist())) for i in busiest], loads[busiest]
    )
    return figure


def _homes(network: Topology, num_ranks: int) -> set[int]:
    """Returns the vertices where routes of ranks begin."""
    last = num_ranks - 1
    homes = set()
    for rank in range(num_ranks):
        for other in (0, last, last // 2, *range(num_ranks)):
            if route := network.route(rank, other):
                homes.add(network.link(route[0]).src)
                break
    return homes


def _places(ends: NDArray[np.int64], homes: set[int]) -> tuple[NDArray[np.float64], dict[int, int]]:
    """Returns x, y and the level of each vertex. The level is the number of cables between the vertex and the
    ranks. If there is only one level, the vertices form a circle.
    """
    near: dict[int, set[int]] = {}
    for a, b in ends.tolist():
        near.setdefault(a, set()).add(b)
        near.setdefault(b, set()).add(a)
    levels = dict.fromkeys(sorted(homes), 0)
    front = list(levels)
    while front:
        front = [v for u in front for v in sorted(near.get(u, ())) if levels.setdefault(v, -1) == -1]
        depth = max(levels.values()) + 1
        levels.update(dict.fromkeys(front, depth))
    levels = {v: level for v, level in levels.items() if v in near}
    places = np.full((int(ends.max()) + 1, 2), np.nan)
    height = max(levels.values(), default=0)
    for level in range(height + 1):
        row = sorted(v for v, at in levels.items() if at == level)
        turn = (np.arange(len(row)) + 0.5) / len(row)
        if height == 0:
            turn = 2 * np.pi * turn
            places[row] = np.stack([0.5 + 0.5 * np.sin(turn), np.cos(turn)], axis=1)
        else:
            places[row] = np.stack([turn, np.full(len(row), float(level))], axis=1)
    return places, levels


def _draw_links(figure: Figure, axes: Any, lines: NDArray[np.float64], loads: NDArray[np.float64]) -> None:
    from matplotlib.collections import LineCollection

    order = np.argsort(loads, kind="stable")
    order = order[(loads[order] > 0) & ~np.isnan(lines[order]).any(axis=(1, 2))]
    if not len(order):
        return
    begin, end = (lines[order, side][:, None, :] for side in (0, 1))
    part = np.linspace(0, 1, 9)[None, :, None]
    across = (end - begin)[:, :, ::-1] * [BEND, -BEND]
    curves = begin + (end - begin) * part + across * part * (1 - part)
    hot = loads[order] > min(1.0, 0.95 * loads.max())
    drawn = LineCollection(
        curves.tolist(),
        array=loads[order],
        cmap="YlOrRd",
        linewidths=np.where(hot, 2.0, 0.5).tolist(),
        alpha=np.where(hot, 1.0, 0.35).tolist(),
    )
    drawn.set_clim(0, max(1.0, loads.max()))
    axes.add_collection(drawn)
    axes.autoscale_view()
    figure.colorbar(drawn, ax=axes, label="bytes over those of the busiest port", fraction=0.03, pad=0.01)


def _draw_vertices(
    axes: Any, network: Topology, places: NDArray[np.float64], levels: dict[int, int], named: set[int]
) -> None:
    vertices = list(levels)
    axes.plot(*places[vertices].T, "s", color="#333333", markersize=4)
    for level in set(levels.values()):
        row = [v for v in vertices if levels[v] == level]
        for v in row if len(row) <= MAX_NAMED else named.intersection(row):
            axes.annotate(
                network.vertex_name(v),
                places[v],
                xytext=(0, -11 if level == 0 else 6),
                textcoords="offset points",
                ha="center",
                fontsize=7,
            )
    axes.margins(0.05)
    axes.set_axis_off()


def _draw_bars(axes: Any, names: list[str], loads: NDArray[np.float64]) -> None:
    axes.barh(range(len(names)), loads, color="#BD0026", height=0.6)
    axes.axvline(1, color=REFERENCE_LINE, linestyle="--", linewidth=1.2)
    axes.set_yticks(range(len(names)), names, fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel("over the busiest port (dashed)")
    axes.set_title("the busiest links")
    axes.spines[["top", "right"]].set_visible(False)

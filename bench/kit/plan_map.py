# SPDX-License-Identifier: BSD-3-Clause
"""Draws where a plan pays off, from the results of three_peers()."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from nuice.plots.style import COLOURS, new_figure, save_figure

from .three_peers import NETWORK_TITLES

MARKS = "osD^vP*X<>"


def draw_map(peers: Iterable[Mapping], path: Path) -> None:
    """Draws the map. x is the port pressure, y the speed. Filled marks are relative to MPI tuned for each
    case, hollow marks to MPI as installed."""
    by_network: dict[str, list[Mapping]] = {}
    for row in peers:
        by_network.setdefault(row["network"], []).append(row)
    figure = new_figure(5.4, 5.6)  # readable on a phone
    axes = figure.subplots()
    for i, (network, rows) in enumerate(sorted(by_network.items())):
        look = {"marker": MARKS[i % len(MARKS)], "color": COLOURS[i % len(COLOURS)], "linestyle": "none"}
        x = [row["pressure"] for row in rows]
        axes.plot(x, [row["over_each"] for row in rows], label=NETWORK_TITLES.get(network, network), **look)
        axes.plot(x, [row["over_installed"] for row in rows], fillstyle="none", alpha=0.8, **look)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.axvline(1, color="black", linewidth=0.8, linestyle=":")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks([0.1, 0.2, 0.5, 1, 2, 5], ["0.1", "0.2", "0.5", "1", "2", "5"])
    axes.set_xticks([], minor=True)
    axes.set_yticks([0.5, 1, 2, 4, 8], ["0.5", "1", "2", "4", "8"])
    axes.set_yticks([], minor=True)
    axes.set_xlabel("port pressure: connections x 2 packets / queue")
    axes.set_ylabel("MPI's time divided by NUICE's")
    axes.set_title("filled: MPI tuned for each case; hollow: as installed", fontsize=10)
    figure.legend(loc="outside lower center", ncols=1, title="hosts, ports, queue of a port", fontsize=9)
    save_figure(figure, path)

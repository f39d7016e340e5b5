# SPDX-License-Identifier: BSD-3-Clause
"""Draws results of nuice-wolff and nuice-lee over the width of the stripes, and lattices with a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from nuice.plots.style import COLOURS, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LINES = {"local": "-", "global": "--", "none": ":"}
_PANELS = (  # title, what both programs call it
    ("time of a sweep, T/S · N² (ms)", ("scale_ms", "scale_milliseconds")),
    ("speed-up over the sequential program", ("speedup", "speed_up")),
)


def draw_schemes(report: Mapping[str, Any]) -> Figure:
    """Draws two panels over the width: scale time (002 figs 29, 30) and speed-up (figs 31, 32).

    Each scheme has a colour, and each kind of synchronisation a line style (figs 37, 38).
    """
    figure = new_figure(13, 5.5)
    names = list(dict.fromkeys(result["scheme"] for result in report["results"]))
    ways = list(dict.fromkeys((result["scheme"], result["sync"]) for result in report["results"]))
    panels = figure.subplots(1, len(_PANELS))
    for axes, (title, keys) in zip(panels, _PANELS, strict=True):
        for scheme, sync in ways:
            points = sorted(
                (result["width"], _first(result, keys))
                for result in report["results"]
                if (result["scheme"], result["sync"]) == (scheme, sync)
            )
            axes.plot(
                *zip(*points, strict=True),
                _LINES.get(sync or "local", "-"),
                color=COLOURS[names.index(scheme) % len(COLOURS)],
                marker="o",
                markersize=4,
                label=f"{scheme} {sync or ''}",
            )
        base = _first(report["sequential"], keys, default=1.0)
        axes.axhline(base, color="black", linewidth=1, label="sequential")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xlabel("width of the stripes (columns)")
        axes.set_title(title, fontsize=10)
        axes.grid(alpha=0.3)
    panels[0].legend(fontsize=7)
    size = f"{report['size']} x {report['size']}, " if "size" in report else ""
    figure.suptitle(f"{report.get('program', 'nuice-lee')}, {size}{report['ranks']} ranks")
    return figure


def draw_lattice(picture: Mapping[str, Any]) -> Figure:
    """Draws the spins, with the last cluster in its own colour."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    cells = np.array([[int(digit) for digit in row] for row in picture["rows"]])
    colours = ["#FFFFFF", "#555555", COLOURS[4], COLOURS[0]]
    figure = new_figure(8, 8.6)
    axes = figure.subplots()
    axes.imshow(cells, cmap=ListedColormap(colours), vmin=0, vmax=3, interpolation="nearest")
    axes.set_xticks([])
    axes.set_yticks([])
    # A cluster has one spin, so only one of its two colours occurs.
    of_cluster = 3 if (cells == 3).any() else 2
    named = ((0, "spin down"), (1, "spin up"), (of_cluster, "the last cluster, after its flip"))
    axes.legend(
        handles=[Patch(facecolor=colours[i], edgecolor="black", label=name) for i, name in named],
        loc="upper center",
        bbox_to_anchor=(0.5, -0.01),
        ncols=3,
        frameon=False,
    )
    share = float((cells >= 2).mean())
    axes.set_title(f"{picture['size']} x {picture['size']}, β = {picture['beta']:.6g}; cluster: {share:.1%}")
    return figure


def _first(values: Mapping[str, Any], keys: tuple[str, ...], default: float | None = None) -> float:
    for key in keys:
        if key in values:
            return float(values[key])
    if default is None:
        raise KeyError(keys[0])
    return default

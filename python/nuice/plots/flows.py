# SPDX-License-Identifier: BSD-3-Clause
"""A flow as lines of equal value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .style import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..flow import Flow

_TITLES = {"mach": "Mach number", "pressure": "pressure", "density": "density"}


def draw_flow(flow: Flow, value: str = "mach") -> Figure:
    """Draws the whole flow, coloured by value, and an enlarged part of it: the neighbourhood of the profile,
    if there is a profile."""
    from matplotlib.tri import Triangulation

    figure = new_figure(13, 6)
    mesh = Triangulation(*flow.points.T, flow.triangles)
    field = flow.values[value]
    levels = np.linspace(field.min(), max(field.max(), field.min() + 1e-12), 41)
    for axes, near in zip(figure.subplots(1, 2), (False, True), strict=True):
        colours = axes.tricontourf(mesh, field, levels=levels, cmap="viridis")
        axes.set_aspect("equal")
        axes.set_xlabel("x")
        axes.set_ylabel("y")
        if near:
            middle = np.array([0.5, 0.0]) if _has_a_profile(flow) else flow.points.mean(axis=0)
            size = 1.0 if _has_a_profile(flow) else 0.25 * np.ptp(flow.points[:, 0])
            axes.set_xlim(middle[0] - size, middle[0] + size)
            axes.set_ylim(middle[1] - size, middle[1] + size)
    figure.colorbar(colours, ax=figure.axes, label=_TITLES[value])
    figure.suptitle(f"{_TITLES[value]}: {field.min():.4g} to {field.max():.4g}")
    return figure


def _has_a_profile(flow: Flow) -> bool:
    """Returns whether the flow has a profile, which lies from 0 to 1 on the x axis, in a disc around its
    middle."""
    x = flow.points[:, 0]
    return bool(abs((x.min() + x.max()) / 2 - 0.5) < 0.1)

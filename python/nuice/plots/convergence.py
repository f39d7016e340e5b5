# SPDX-License-Identifier: BSD-3-Clause
"""Draws which method carries out each exchange, until the choice is made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .style import COLOURS, REFERENCE_LINE, new_figure, time_unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_convergence(
    seconds: Sequence[float],
    methods: Sequence[str],
    title: str,
    peer: tuple[str, float] | None = None,
) -> Figure:
    """Draws time against the number of the exchange, coloured by the method that carried it out.

    methods: one name for each exchange. peer: the name and the median time, in seconds, of another method; it
    is drawn as a line.
    """
    factor, unit = time_unit(max([*seconds, peer[1] if peer else 0.0]))
    figure = new_figure(11, 4.2)
    axes = figure.add_subplot()
    axes.plot(range(1, len(seconds) + 1), [factor * s for s in seconds], color="#bbbbbb", linewidth=0.8)
    for name, colour in zip(dict.fromkeys(methods), COLOURS, strict=False):
        numbers = [i for i, method in enumerate(methods) if method == name]
        axes.scatter(
            [i + 1 for i in numbers],
            [factor * seconds[i] for i in numbers],
            color=colour,
            s=16,
            label=name,
            zorder=2,
        )
    if peer is not None:
        label = f"{peer[0]}, median"
        axes.axhline(factor * peer[1], color=REFERENCE_LINE, linewidth=1, linestyle="--", label=label)
    axes.set_ylim(0, None)
    axes.set_xlabel("number of the exchange")
    axes.set_ylabel(f"time in {unit}, slowest rank")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.suptitle(title)
    return figure

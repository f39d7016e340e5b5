# SPDX-License-Identifier: BSD-3-Clause
"""Draws one exchange between hosts, by MPI and by NUICE: times, lost packets, and the traffic of each
port.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .style import OURS, REFERENCE_LINE, THEIRS, new_figure, three_digits, time_unit

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_network(network: Mapping[str, Any]) -> Figure:
    """Draws time and retransmissions of every exchange (above) and the traffic of each port (below), with MPI
    and with NUICE.

    network: the contents of network.json, which nuice demo writes.
    """
    methods = network["methods"]
    longest_s = max(max(m["times_s"]) for m in methods)
    factor, unit = time_unit(longest_s)
    figure = new_figure(13, 8.2)
    times, lost, *lanes = figure.subplot_mosaic(
        [["times", "lost"], ["theirs", "theirs"], ["ours", "ours"]],
        width_ratios=[3, 1],
        height_ratios=[0.5 + 0.36 * len(methods), 1.8, 1.8],
    ).values()
    _draw_times(times, methods, network["bound_s"] * factor, factor, unit)
    _draw_lost(lost, methods)
    lost.sharey(times)
    lost.tick_params(axis="y", labelleft=False)
    best = next(m for m in methods if m["method"] == network["best_mpi"])
    ours = next(m for m in methods if not m["mpi"])
    shown_s = 1.06 * max(best["typical"]["seconds"], ours["typical"]["seconds"])
    for axes, method, name in (
        (lanes[0], best, best["method"]),
        (lanes[1], ours, f"nuice, {ours['choice']}"),
    ):
        image = _draw_lane(axes, method, network, shown_s, factor)
        share = f"busiest port in use {100 * method['busiest_port_share']:.0f} % of the time"
        axes.set_title(
            f"{name}: {three_digits(method['typical']['seconds'] * factor)} {unit}; {share}", loc="left"
        )
    lanes[0].tick_params(axis="x", labelbottom=False)
    lanes[1].set_xlabel(f"time since the start of one typical exchange ({unit})")
    figure.colorbar(image, ax=lanes, label="of the port's speed", fraction=0.02, pad=0.01)
    tuned = network.get("tuned")
    figure.suptitle(
        f"the same exchange between {network['hosts']} emulated hosts: {network['times_faster']:.2f} times "
        "as fast as MPI as installed"
        + (f", {tuned['times_faster']:.2f} as MPI with two settings" if tuned else "")
    )
    return figure


def _draw_times(axes: Any, methods: list[Mapping[str, Any]], bound: float, factor: float, unit: str) -> None:
    for row, method in enumerate(methods):
        values = np.sort(np.array(method["times_s"])) * factor
        colour = THEIRS if method["mpi"] else OURS
        axes.barh(row, method["median_s"] * factor, color=colour, height=0.6, alpha=0.55)
        axes.plot(values, np.full(len(values), row), "o", color=colour, markersize=4, alpha=0.8)
        low, high = three_digits(values[0]), three_digits(values[-1])
        label = f"{three_digits(method['median_s'] * factor)}  ({low} to {high})"
        axes.annotate(
            label, (values[-1], row), xytext=(6, 0), textcoords="offset points", va="center", fontsize=9
        )
    axes.axvline(bound, color=REFERENCE_LINE, linestyle="--", linewidth=1.2)
    axes.annotate(
        "what the ports' speed allows",
        (bound, 1.0),
        xycoords=axes.get_xaxis_transform(),
        xytext=(0, 3),
        textcoords="offset points",
        color=REFERENCE_LINE,
        fontsize=8.5,
        ha="center",
    )
    axes.set_yticks(range(len(methods)), [m["method"] if m["mpi"] else "nuice, auto" for m in methods])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.3 * max(max(m["times_s"]) for m in methods) * factor)
    axes.set_xlabel(f"time of one exchange in {unit}: every repetition, and the median")
    axes.spines[["top", "right"]].set_visible(False)


def _draw_lost(axes: Any, methods: list[Mapping[str, Any]]) -> None:
    values = [m["sent_again"] or 0.0 for m in methods]
    axes.barh(range(len(methods)), values, color=[THEIRS if m["mpi"] else OURS for m in methods], height=0.6)
    for row, value in enumerate(values):
        axes.annotate(
            f"{value:.0f}", (value, row), xytext=(4, 0), textcoords="offset points", va="center", fontsize=9
        )
    axes.set_xlim(0, 1.25 * max(1.0, *values))
    axes.set_xlabel("packets lost and retransmitted, per exchange")
    axes.spines[["top", "right"]].set_visible(False)


def port_shares(
    lane: Mapping[str, float], network: Mapping[str, Any], shown_s: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns times, in seconds since the start of the exchange, and one row per port with the share of the
    port's rate that is used at these times.
    """
    ports = network["ports"]
    at = np.array(ports["at_s"]) - lane["begin_s"]
    # One sample more at both ends, so that the picture begins and ends inside the samples.
    first = max(int(np.searchsorted(at, 0.0)) - 1, 0)
    last = min(int(np.searchsorted(at, shown_s)) + 1, len(at))
    at, counts = at[first:last], np.array(ports["bytes"][first:last], dtype=float).reshape(last - first, -1)
    shares = np.diff(counts, axis=0) / np.diff(at)[:, None] / network["rate_bytes_per_s"]
    return at, np.clip(shares, 0.0, 1.0).T


def _draw_lane(
    axes: Any, method: Mapping[str, Any], network: Mapping[str, Any], shown_s: float, factor: float
) -> Any:
    lane = method["typical"]
    at, shares = port_shares(lane, network, shown_s)
    # Bytes after the end belong to the next exchange.
    shares[:, at[:-1] > lane["seconds"]] = 0.0
    rows = np.arange(shares.shape[0] + 1) - 0.5
    colours = "Oranges" if method["mpi"] else "Blues"
    image = axes.pcolormesh(at * factor, rows, shares, vmin=0.0, vmax=1.0, cmap=colours)
    axes.axvline(lane["seconds"] * factor, color=REFERENCE_LINE, linewidth=1.6)
    axes.set_xlim(0, shown_s * factor)
    axes.set_yticks(range(shares.shape[0]), [f"to host {port}" for port in network["ports"]["ports"]])
    axes.tick_params(axis="y", labelsize=8)
    axes.invert_yaxis()
    return image

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

# README shows the picture, on a phone 390 pixels wide: letters of 10 points are about 10 pixels high there.
WIDTH_INCHES = 5.6


def draw_network(network: Mapping[str, Any]) -> Figure:
    """Draws time and retransmissions of every exchange (above) and the traffic of each port (below), with MPI
    and with NUICE.

    network: the contents of network.json, which nuice demo writes.
    """
    methods = network["methods"]
    longest_s = max(max(m["times_s"]) for m in methods)
    factor, unit = time_unit(longest_s)
    bars_inches = 0.28 * len(methods)
    lane_inches = 0.16 * len(network["ports"]["ports"])
    figure = new_figure(WIDTH_INCHES, 4.2 + bars_inches + 2 * lane_inches)
    times, *lanes = figure.subplots(3, height_ratios=[bars_inches, lane_inches, lane_inches])
    _draw_times(times, methods, network["bound_s"] * factor, factor, unit)
    best = next(m for m in methods if m["method"] == network["best_mpi"])
    ours = next(m for m in methods if not m["mpi"])
    shown_s = 1.06 * max(best["typical"]["seconds"], ours["typical"]["seconds"])
    for axes, method, name in (
        (lanes[0], best, f"MPI, {best['method']}"),
        (lanes[1], ours, f"nuice, {ours['choice']}"),
    ):
        image = _draw_lane(axes, method, network, shown_s, factor)
        took = f"{three_digits(method['typical']['seconds'] * factor)} {unit}"
        share = f"busiest port in use {100 * method['busiest_port_share']:.0f} % of the time"
        axes.set_title(f"{name}: {took},\n{share}", loc="left", fontsize=11)
    lanes[0].tick_params(axis="x", labelbottom=False)
    lanes[1].set_xlabel(f"{unit} since the start of one typical exchange")
    bar = figure.colorbar(image, ax=lanes[1], location="bottom", aspect=30)
    bar.set_label("share of the port's speed (both colours)")
    figure.suptitle(_title(network), fontsize=12)
    return figure


def _title(network: Mapping[str, Any]) -> str:
    lines = [
        f"The same exchange between {network['hosts']} emulated hosts: NUICE is",
        f"{network['times_faster']:.2f} times as fast as MPI as installed",
    ]
    if tuned := network.get("tuned"):
        lines.append(f"and {tuned['times_faster']:.2f} times as fast as MPI with two settings")
    return "\n".join(lines)


def _draw_times(axes: Any, methods: list[Mapping[str, Any]], bound: float, factor: float, unit: str) -> None:
    for row, method in enumerate(methods):
        values = np.sort(np.array(method["times_s"])) * factor
        colour = THEIRS if method["mpi"] else OURS
        axes.barh(row, method["median_s"] * factor, color=colour, height=0.6, alpha=0.55)
        axes.plot(values, np.full(len(values), row), "o", color=colour, markersize=3.5, alpha=0.8)
        low, high = three_digits(values[0]), three_digits(values[-1])
        label = f"{three_digits(method['median_s'] * factor)} ({low} to {high})"
        axes.annotate(label, (values[-1], row), xytext=(6, 0), textcoords="offset points", va="center")
        lost = "-" if method["sent_again"] is None else f"{method['sent_again']:.0f}"
        axes.text(1.0, row, lost, transform=axes.get_yaxis_transform(), ha="right", va="center")
    axes.text(1.0, 1.01, "packets\nlost", transform=axes.transAxes, ha="right", va="bottom")
    axes.axvline(bound, color=REFERENCE_LINE, linestyle="--", linewidth=1.2)
    axes.annotate(
        "what the ports' speed allows",
        (bound, 1.0),
        xycoords=axes.get_xaxis_transform(),
        xytext=(0, 3),
        textcoords="offset points",
        color=REFERENCE_LINE,
        ha="center",
    )
    axes.set_yticks(range(len(methods)), [m["method"] if m["mpi"] else "nuice, auto" for m in methods])
    axes.invert_yaxis()
    # Room for the times and the lost packets on the right of the longest bar.
    axes.set_xlim(0, 1.75 * max(max(m["times_s"]) for m in methods) * factor)
    axes.set_xlabel(f"{unit} per exchange: median, every repetition")
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
    axes.set_yticks(range(shares.shape[0]), network["ports"]["ports"])
    axes.set_ylabel("to host")
    axes.invert_yaxis()
    return image

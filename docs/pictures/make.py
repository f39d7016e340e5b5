#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the pictures of the documents that show no measurements: docs/pictures/make.py [FOLDER]

Readable in grey (fills differ in lightness, and words name them) and on a phone (narrow, large letters).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.patches import FancyBboxPatch, Rectangle

DARK, LIGHT, PALE = "#1f4e79", "#9fc5e8", "#eef3f8"
matplotlib.rcParams.update({"svg.hashsalt": "nuice", "font.size": 11, "font.family": "DejaVu Sans"})


def canvas(width: float, height: float) -> tuple[Any, Any]:
    """One unit is a tenth of an inch."""
    figure = pyplot.figure(figsize=(width / 10, height / 10))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(0, height))
    axes.axis("off")
    return figure, axes


def arrow(axes: Any, start: tuple[float, float], end: tuple[float, float], **look: Any) -> None:
    style = {"arrowstyle": "-|>", "color": "black", "linewidth": 1.3, "shrinkA": 0, "shrinkB": 0} | look
    axes.annotate("", end, start, arrowprops=style)


def words(axes: Any, x: float, y: float, text: str, **look: Any) -> None:
    axes.text(x, y, text, **({"ha": "center", "va": "center"} | look))


KIB = {(0, 1): 4, (0, 2): 4, (1, 2): 4, (1, 3): 2, (2, 3): 4, (2, 0): 2, (3, 0): 4, (3, 1): 2}
PHASES = [[(0, 1), (1, 2), (2, 3), (3, 0)], [(0, 2), (1, 3), (2, 0), (3, 1)]]


def ports(axes: Any, left: float, bottom: float, title: str, messages: list[tuple[int, int]]) -> None:
    """Send ports on the left, receive ports on the right, an arrow for each message."""
    words(axes, left + 8, bottom + 18.5, title, weight="bold")
    received = [destination for _, destination in messages]
    for rank in range(4):
        y = bottom + 14 - 4 * rank
        crowded = received.count(rank) > 1
        for x, fill in ((left, PALE), (left + 13, LIGHT if not crowded else DARK)):
            axes.add_patch(Rectangle((x, y - 1.3), 3, 2.6, facecolor=fill, edgecolor="black"))
            words(axes, x + 1.5, y, str(rank), color="white" if fill == DARK else "black")
    for source, destination in messages:
        arrow(axes, (left + 3.1, bottom + 14 - 4 * source), (left + 12.9, bottom + 14 - 4 * destination))


def exchange() -> Any:
    figure, axes = canvas(54, 76)
    words(axes, 27, 73.5, "1. The matrix: KiB from each rank to each other", weight="bold")
    words(axes, 30, 70.3, "to rank")
    for rank in range(4):
        words(axes, 21 + 6 * rank, 67.8, str(rank))
        words(axes, 16, 64.5 - 4 * rank, f"from rank {rank}", ha="right")
        for other in range(4):
            size = KIB.get((rank, other))
            fill = {None: "white", 2: LIGHT, 4: DARK}[size]
            box = Rectangle((18 + 6 * other, 62.5 - 4 * rank), 6, 4, facecolor=fill, edgecolor="black")
            axes.add_patch(box)
            words(
                axes,
                21 + 6 * other,
                64.5 - 4 * rank,
                str(size or ""),
                color="white" if size == 4 else "black",
            )
    words(axes, 27, 47, "2. Everything at once: two messages meet at each port", weight="bold")
    ports(axes, 19, 26.5, "", [message for phase in PHASES for message in phase])
    words(axes, 18, 40.5, "send\nports", ha="right")
    words(axes, 36, 40.5, "receive\nports", ha="left")
    words(axes, 27, 23.5, "3. A schedule: in a phase each port has one message", weight="bold")
    ports(axes, 4, 2.5, "", PHASES[0])
    ports(axes, 34, 2.5, "", PHASES[1])
    words(axes, 12, 20.3, "phase 1")
    words(axes, 42, 20.3, "phase 2")
    arrow(axes, (23, 10.5), (31, 10.5), linewidth=2)
    words(axes, 27, 8, "time")
    return figure


def packets(axes: Any, left: float, bottom: float, count: int, fill: str, room: int = 0) -> None:
    for i in range(max(count, room)):
        look = {"facecolor": fill if i < count else "white", "edgecolor": "black"}
        axes.add_patch(Rectangle((left + 2.2 * i, bottom), 2, 3, **look))


def window_panel(axes: Any, bottom: float, title: str, has_window: bool) -> None:
    words(axes, 27, bottom + 27.5, title, weight="bold")
    for i in range(4):
        y = bottom + 20 - 5 * i
        words(axes, 5.2, y + 1.5, f"sender {i + 1}", size=10)
        packets(axes, 10.5, y, 1 if has_window else 3, LIGHT)
        arrow(axes, (13 if has_window else 17.5, y + 1.5), (22.5, bottom + 14), linewidth=0.9)
    packets(axes, 23, bottom + 12.5, 6 if has_window else 8, DARK, room=8)
    words(axes, 31.8, bottom + 17.7, "queue of the switch port")
    arrow(axes, (41, bottom + 14), (44.5, bottom + 14))
    axes.add_patch(Rectangle((44.7, bottom + 11), 8.6, 6, facecolor=PALE, edgecolor="black"))
    words(axes, 49, bottom + 14, "receiver", size=10)
    if has_window:
        arrow(axes, (49, bottom + 10.8), (49, bottom + 3.5), linestyle="--")
        arrow(axes, (49, bottom + 3.5), (14, bottom + 3.5), linestyle="--")
        words(axes, 34, bottom + 6, "grants, so that no more\nthan a window is in flight", size=10)
    else:
        for i in range(4):
            x = 25 + 3.4 * i
            axes.add_patch(
                Rectangle((x, bottom + 5), 2, 3, facecolor="white", edgecolor="black", hatch="xxx")
            )
        words(axes, 31, bottom + 2.5, "dropped, and retransmitted after up to 200 ms", size=10)


def windows() -> Any:
    figure, axes = canvas(54, 62)
    window_panel(axes, 32, "Without a window: packets overflow the queue", False)
    window_panel(axes, 0.5, "With a window: what is in flight fits the queue", True)
    return figure


QUESTIONS = [
    ("Does PETSc exchange\nits data?", "yes", "-sf_type nuice"),
    ("Can you change\nthe program?", "no", "nuice run\n(windows, recording)"),
    ("Does the same exchange\nrepeat?", "no", "Exchanger,\nsparse_alltoallv,\nactive messages"),
    ("Does it call\nMPI_Alltoallv or a\nneighbour form?", "yes", "nuice_alltoallv_init"),
    ("Are these ghost values\nby global index?", "yes", "Halo"),
]


def box(axes: Any, x: float, y: float, width: float, text: str, fill: str) -> None:
    shape = FancyBboxPatch((x, y - 3.6), width, 7.2, boxstyle="round,pad=0.2,rounding_size=1.2")
    shape.set(facecolor=fill, edgecolor="black", linewidth=1.2)
    axes.add_patch(shape)
    words(axes, x + width / 2, y, text, color="white" if fill == DARK else "black")


def which_way_in() -> Any:
    figure, axes = canvas(54, 73)
    for i, (question, leaves_by, answer) in enumerate(QUESTIONS):
        y = 67 - 12.5 * i
        box(axes, 1, y, 24, question, PALE)
        box(axes, 33, y, 20, answer, DARK)
        arrow(axes, (25.4, y), (32.6, y))
        words(axes, 29, y + 1.6, leaves_by)
        arrow(axes, (13, y - 4), (13, y - 8.4))
        words(axes, 16, y - 6.2, "yes" if leaves_by == "no" else "no")
    box(axes, 1, 67 - 12.5 * 5 + 0.3, 24, "Plan, bind, start, wait", DARK)
    return figure


PICTURES = {"exchange.svg": exchange, "windows.svg": windows, "which_way_in.svg": which_way_in}

if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for name, draw in PICTURES.items():
        draw().savefig(folder / name, metadata={"Date": None})
        print(folder / name)

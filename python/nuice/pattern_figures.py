# SPDX-License-Identifier: BSD-3-Clause
"""The figures by which paper 004 describes its airfoil samples, for a matrix of ours and as printed there."""

from __future__ import annotations

import csv
from importlib import resources

import numpy as np

from ._core import CommMatrix

PAPER_PARTS = 32


def airfoil_figures(matrix: CommMatrix, unit_bytes: int) -> dict[str, float]:
    """Messages sent by a part, and lengths of messages in units: max, min, average each."""
    degrees = np.bincount(matrix.src, minlength=matrix.num_ranks)
    lengths = matrix.bytes / unit_bytes if matrix.num_messages else np.zeros(1)
    return {
        "messages_max": int(degrees.max()),
        "messages_min": int(degrees.min()),
        "messages_avg": float(degrees.mean()),
        "length_max": int(lengths.max()),
        "length_min": int(lengths.min()),
        "length_avg": float(lengths.mean()),
    }


def paper_figures(num_points: int) -> dict[str, float] | None:
    """The same as printed in 004 section 5 for 32 parts, or None for other numbers of points."""
    text = resources.files("nuice").joinpath("data/airfoil_004.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    for row in rows:
        if int(row.pop("points")) == num_points:
            return {name: float(value) for name, value in row.items()}
    return None

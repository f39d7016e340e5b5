# SPDX-License-Identifier: BSD-3-Clause
"""The functions that the cases share."""

from .case import CannotRun, Case, Failed, Row
from .needs import NEEDS, missing
from .place import KIB, MBIT, Place, here, megabits, network, place, testbed
from .process import ROOT, call, objects, scratch
from .stamp import stamped
from .stats import (
    MEDIAN,
    by_method,
    in_turns,
    median_ratio,
    medians_of,
    middle,
    quantile,
    rows_by_method,
    timed,
)
from .table import LOAD, Column, Table, show

__all__ = [
    "KIB", "LOAD", "MBIT", "MEDIAN", "NEEDS", "ROOT", "CannotRun", "Case", "Column", "Failed", "Place",
    "Row", "Table", "by_method", "call", "here", "in_turns", "median_ratio", "medians_of", "megabits",
    "middle", "missing", "network", "objects", "place", "quantile", "rows_by_method", "scratch", "show",
    "stamped", "testbed", "timed",
]  # fmt: skip

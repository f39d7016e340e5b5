# SPDX-License-Identifier: BSD-3-Clause
"""The numbers that the papers print, as they are printed: CSV files in data/printed.

    for row in printed_tables.table("003_tables2_3"):
        row["degree"], row["bytes"], row["cgm"]

Lines with # at the head of a file name its source, units and doubtful values: `source` returns them. Numbers
are numbers, other words stay text, an empty field is None.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import Any

from nuice.errors import Error

_FOLDER = Path(__file__).parent / "data" / "printed"


def names() -> list[str]:
    """Returns the names of all files without their ending, sorted."""
    return sorted(path.stem for path in _FOLDER.glob("*.csv"))


def source(name: str) -> str:
    """Returns the head of the file as one text."""
    return " ".join(line[1:].strip() for line in _lines(_FOLDER / f"{name}.csv") if line.startswith("#"))


def table(name: str) -> list[dict[str, Any]]:
    """Returns one dictionary per row, in the order of the file."""
    if name not in names():
        raise Error(f"no printed table {name!r}; there are {', '.join(names())}")
    return rows(_FOLDER / f"{name}.csv")


def rows(path: Path) -> list[dict[str, Any]]:
    """Returns the rows of any file in this format."""
    table = csv.DictReader(line for line in _lines(path) if not line.startswith("#"))
    return [{key: _value(word) for key, word in row.items()} for row in table]


@cache
def _lines(path: Path) -> tuple[str, ...]:
    return tuple(path.read_text(encoding="utf-8").splitlines())


def _value(word: str) -> Any:
    if word == "":
        return None
    try:
        return int(word)
    except ValueError:
        pass
    try:
        return float(word)
    except ValueError:
        return word

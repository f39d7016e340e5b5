# SPDX-License-Identifier: BSD-3-Clause
"""Common parts of most tables: printed rows x columns, each with a number of NUICE."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from . import printed_tables
from .report import LARGEST_IN_BAR, Cell

Row = dict[str, Any]


def cells(
    rows: Iterable[Row],
    keys: Sequence[str],
    columns: Sequence[str],
    ours: Callable[[Row, str], float],
    *,
    largest: Callable[[Row], float] = lambda row: 0,
    fitted: Callable[[Row, str], bool] = lambda row, column: False,
) -> list[Cell]:
    """Returns one cell per printed number; `largest` is the largest message of a row in bytes."""
    return [
        Cell(
            row=tuple((key, row[key]) for key in keys),
            column=column,
            printed=float(row[column]),
            ours=ours(row, column),
            fitted=fitted(row, column),
            large=largest(row) > LARGEST_IN_BAR,
        )
        for row in rows
        for column in columns
        if row[column] is not None
    ]


def printed(name: str, quick: bool, key: str, few: Sequence[Any], **equal: Any) -> list[Row]:
    """Returns rows of a printed table; in a quick run only those whose `key` is one of `few`."""
    rows = [row for row in printed_tables.table(name) if all(row[k] == value for k, value in equal.items())]
    return [row for row in rows if row[key] in few] if quick else rows


def by_row(cells: Iterable[Cell]) -> dict[Any, dict[str, Cell]]:
    """Returns for each row its cells by column."""
    rows: dict[Any, dict[str, Cell]] = {}
    for cell in cells:
        rows.setdefault(cell.row, {})[cell.column] = cell
    return rows


def ours_by_row(cells: Iterable[Cell]) -> dict[Any, dict[str, float]]:
    return {row: {a: cell.ours for a, cell in of.items()} for row, of in by_row(cells).items()}


def renamed(row: Row, ending: str) -> Row:
    """Removes this ending from the names of the row's columns, for example lp_phases -> lp. Other columns
    stay unchanged."""
    return {key.removesuffix(ending): value for key, value in row.items()}

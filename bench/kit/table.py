# SPDX-License-Identifier: BSD-3-Clause
"""Tables for people, made of rows."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import rich.table
from rich.console import Console
from rich.markup import escape

Row = dict[str, Any]


class Column(NamedTuple):
    """value: a key of the row, or a function of the row. spec: for format(), applied to the value times
    scale. None is shown as "-"."""

    title: str
    value: str | Callable[[Row], Any]
    spec: str = ""
    scale: float = 1

    def of(self, row: Row) -> Any:
        value = self.value(row) if callable(self.value) else row[self.value]
        return value if value is None or isinstance(value, str) or not self.spec else self.scale * value

    def text(self, row: Row) -> str:
        value = self.of(row)
        return "-" if value is None else value if isinstance(value, str) else format(value, self.spec)


COLUMN = re.compile(r"(?:(?P<title>.+?) = )?(?P<key>\w+)(?:(?P<by>[*/])(?P<scale>\S+))?(?: (?P<spec>\S+))?")


def parsed(text: str) -> list[Column]:
    """Parses "KEY | TITLE = KEY*SCALE SPEC | TITLE = KEY/SCALE SPEC", in which only KEY is mandatory."""
    found = []
    for part in text.split(" | "):
        match = COLUMN.fullmatch(part)
        assert match, part
        title, key, by, number, spec = match.groups()
        scale = 1 if number is None else float(number) if by == "*" else 1 / float(number)
        found.append(Column(title or key, key, spec or "", scale))
    return found


LOAD = Column("load", lambda row: row["run"]["load_after"], ".1f")


class Table:
    """title: a format string of `o`, the options, and `row`, the first row. columns: columns, or strings
    that describe them.

    where: a function or a key that selects the rows to show. group: a column's title. Of equal consecutive
    values in it only the first is shown, and a line separates groups. each: a key; each of its values gets a
    table. across: a key whose values become columns; `cell` formats their cells.
    """

    def __init__(
        self,
        title: str,
        *columns: str | Column,
        where: str | Callable[[Row], bool] = "",
        group: str = "",
        each: str = "",
        across: str = "",
        cell: Callable[[Row], str] = str,
    ) -> None:
        self.title, self.group, self.each, self.across, self.cell = title, group, each, across, cell
        self.where = where if callable(where) else lambda row: not where or where in row
        parts = [parsed(each) if isinstance(each, str) else [each] for each in columns]
        self.columns = [column for part in parts for column in part]

    def of(self, rows: Iterable[Row], options: Any) -> Iterable[rich.table.Table]:
        chosen = [row for row in rows if self.where(row)]
        if not self.each:
            return [self._made(chosen, options)] if chosen else []
        parts = dict.fromkeys(row[self.each] for row in chosen)
        return [self._made([row for row in chosen if row[self.each] == part], options) for part in parts]

    def _made(self, rows: list[Row], options: Any) -> rich.table.Table:
        title = escape(self.title.format(o=options, row=rows[0]))
        made = rich.table.Table(title=title, title_justify="left")
        for column in self.columns:
            made.add_column(
                escape(column.title),
                justify="left" if column.text(rows[0]) == column.of(rows[0]) else "right",
            )
        if self.across:
            self._add_across(made, rows)
            return made
        last = None
        for row in rows:
            texts = {column.title: column.text(row) for column in self.columns}
            now = texts.get(self.group)
            if now != last and last is not None:
                made.add_section()
            if now == last and self.group:
                texts[self.group] = ""
            made.add_row(*map(escape, texts.values()))
            last = now
        return made

    def _add_across(self, made: rich.table.Table, rows: list[Row]) -> None:
        names = list(dict.fromkeys(row[self.across] for row in rows))
        lines: dict[tuple[str, ...], dict[Any, str]] = {}
        for row in rows:
            index = tuple(column.text(row) for column in self.columns)
            lines.setdefault(index, {})[row[self.across]] = self.cell(row)
        for name in names:
            made.add_column(escape(str(name)), justify="right")
        for index, cells in lines.items():
            made.add_row(*map(escape, index), *(escape(cells.get(name, "-")) for name in names))


def show(tables: Table | Sequence[Table], rows: list[Row], notes: Iterable[str], options: Any) -> None:
    console = Console(width=None if sys.stdout.isatty() else 160)
    for table in [tables] if isinstance(tables, Table) else tables:
        for made in table.of(rows, options):
            console.print(made)
    for note in notes:
        console.print(escape(note))

# SPDX-License-Identifier: BSD-3-Clause
"""Shows results: one JSON object for programs, or plain text and tables for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

WIDTH_WITHOUT_TERMINAL = 240  # enough for every table, so that nothing is folded or cut in a pipe


def report(as_json: bool, result: Mapping[str, Any], text: Callable[[Console], None]) -> None:
    """Prints `result` as JSON, or calls `text` to show it to a person."""
    if as_json:
        print(json.dumps(result))
    else:
        text(console())


def console(to_stderr: bool = False) -> Console:
    """Returns a console. It has no colours if there is no terminal, and no markup, because a file name could
    look like markup.
    """
    from rich.console import Console

    class Quiet(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # main() handles it; rich would exit with 1

    stream = sys.stderr if to_stderr else sys.stdout
    width = None if stream.isatty() else WIDTH_WITHOUT_TERMINAL
    return Quiet(file=stream, width=width, markup=False, emoji=False, highlight=False)


def table(
    columns: Iterable[str], rows: Iterable[Iterable[str]], left: int = 1, title: str | None = None
) -> Any:
    """Returns a table whose first `left` columns are text and whose other columns are numbers."""
    from rich import box
    from rich.table import Table

    result = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    for i, name in enumerate(columns):
        result.add_column(name, justify="left" if i < left else "right", overflow="fold", no_wrap=i == 0)
    for row in rows:
        result.add_row(*row)
    return result


def pairs(values: Mapping[str, str]) -> Any:
    """Returns names and values, aligned."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 3))
    for name, value in values.items():
        grid.add_row(name, value)
    return grid


def size_text(count: float) -> str:
    """Returns the size as text: 1536 -> "1.5 KiB"."""
    for unit in ("B", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if abs(count) < 1024:
            return f"{count:.4g} {unit}"
        count /= 1024
    return f"{count:.4g} EiB"


def time_text(seconds: float) -> str:
    """Returns the time as text: 0.00015 -> "150 us"."""
    for factor, unit in ((1e9, "ns"), (1e6, "us"), (1e3, "ms")):
        if seconds * factor < 999.5:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"


def ratio_text(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.2f}"


def link_lines(figures: Mapping[str, Any]) -> dict[str, str]:
    """Returns the statistics that a network adds to those of a plan; an empty result without a network."""
    if "topology" not in figures:
        return {}
    return {
        "network": figures["topology"],
        "bounds, routes": f"{figures['link_bound_phases']} phases, {figures['link_bound_bytes']} bytes",
        "rounds": f"{figures['link_rounds']}  (phases, if transfers that share a link wait for each other)",
        "rounds / bound": ratio_text(figures["rounds_to_bound"]),
    }


def verdict_text(verified: bool) -> str:
    return "yes" if verified else "NO"

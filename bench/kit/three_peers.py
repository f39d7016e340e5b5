# SPDX-License-Identifier: BSD-3-Clause
"""MPI's best results, from rows of the case `tuned`: as installed, tuned once, tuned for each case.

A cell is one job: an MPI, a network, a pattern and a setting. Its figure is the time of the fastest of MPI's
own methods in it. Tuned once: the single setting with the smallest geometric mean, over the network's
patterns, of its time relative to the best setting of each pattern. Tuned for each case: the best setting of
every pattern, an oracle.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from .case import Failed

PEERS = ("alltoallv", "neighbor", "neighbor_init", "isend", "nbx")
INSTALLED = "installed"
Cells = dict[str, dict[str, Mapping[str, Any]]]  # by pattern, by setting


def best_peer(cell: Mapping[str, Any]) -> tuple[float, str]:
    """Returns the seconds of MPI's fastest method, and its name."""
    return min((found["median_s"], method) for method, found in cell["methods"].items() if method in PEERS)


def best_nuice(cell: Mapping[str, Any]) -> tuple[float, str]:
    """Returns the seconds and name of `auto` if it was run, otherwise of NUICE's fastest method."""
    ours = {name: found["median_s"] for name, found in cell["methods"].items() if name not in PEERS}
    name = "auto" if "auto" in ours else min(ours, key=ours.__getitem__)
    return ours[name], name


def networks_of(rows: Iterable[Mapping]) -> dict[tuple[str, str], Cells]:
    """Returns the cells by MPI and network. If a cell was measured twice, the measurement with more
    repetitions counts, or the later one."""
    found: dict[tuple[str, str], Cells] = {}
    for row in rows:
        cells = found.setdefault((row["mpi"], row["network"]), {}).setdefault(row["pattern"], {})
        before = cells.get(row["setting"])
        if before is None or before["reps"] <= row["reps"]:
            cells[row["setting"]] = row
    return found


def measured(cells: Cells, reps: int) -> Cells:
    """Returns the cells with at least `reps` repetitions, of patterns that were measured as installed and
    with another setting."""
    chosen = {pattern: {s: r for s, r in row.items() if r["reps"] >= reps} for pattern, row in cells.items()}
    return {pattern: row for pattern, row in chosen.items() if INSTALLED in row and len(row) > 1}


def losses(cells: Cells) -> dict[str, float]:
    """Returns, for each setting that every pattern has, the geometric mean of its time relative to each
    pattern's best."""
    tuned = {
        pattern: {name: best_peer(row)[0] for name, row in settings.items() if not row["is_column"]}
        for pattern, settings in cells.items()
    }
    everywhere = [name for name in next(iter(tuned.values())) if all(name in row for row in tuned.values())]
    return {
        name: geometric_mean(row[name] / min(row.values()) for row in tuned.values()) for name in everywhere
    }


def three_peers(rows: Iterable[Mapping], reps: int = 0) -> Iterator[dict[str, Any]]:
    """Yields a row for each MPI, network and pattern, from cells with at least this many repetitions."""
    for (mpi, network), all_cells in networks_of(rows).items():
        cells = measured(all_cells, reps)
        if not cells:
            continue
        by_setting = losses(cells)
        once = min(by_setting, key=by_setting.__getitem__)
        for pattern, settings in cells.items():
            yield {"mpi": mpi, "network": network, "pattern": pattern} | _figures(settings, once)


def _figures(settings: Mapping[str, Mapping], once: str) -> dict[str, Any]:
    installed = settings[INSTALLED]
    seconds, method = best_peer(installed)
    each_s, each = min((best_peer(row)[0], name) for name, row in settings.items() if not row["is_column"])
    once_s = best_peer(settings[once])[0]
    nuice_s, nuice = best_nuice(installed)
    plain = installed["methods"].get("alltoallv")
    columns = {name: best_peer(row)[0] for name, row in settings.items() if row["is_column"]}
    return {
        "alltoallv_s": plain["median_s"] if plain else None,
        "installed_s": seconds,
        "installed_method": method,
        "once_s": once_s,
        "once": once,
        "each_s": each_s,
        "each": each,
        "nuice_s": nuice_s,
        "nuice": nuice,
        "columns": columns,
        "over_installed": seconds / nuice_s,
        "over_once": once_s / nuice_s,
        "over_each": each_s / nuice_s,
        "pressure": installed["pressure"],
        "bound_s": installed["bound_s"],
        "reps": installed["reps"],
    }


PATTERN_TITLES = {
    "d8": "8 partners, 64 KiB",
    "dense": "all to all, 32 KiB",
    "heavy": "8 partners, 2 to 256 KiB, heavy tail",
    "hot": "all to one, 64 KiB",
    "mixed": "8 partners, 8 to 256 KiB",
    "airfoil": "airfoil halo, 124 KiB",
    "one": "one partner, 512 KiB",
    "dense8k": "all to all, 8 KiB",
    "amg2013": "AMG2013 on 64 ranks, 1 MiB",
    "dense512k": "all to all, 512 KiB",
    "d8_1k": "8 partners, 1 KiB",
    "tiny": "all to all, 100 B",
    "near_far": "4 partners near, 4 far, 64 KiB",
}
NETWORK_TITLES = {
    "fast": "16 hosts, 50 Mbit/s, 32 KiB",
    "shallow": "16 hosts, 20 Mbit/s, 32 KiB",
    "deep": "16 hosts, 20 Mbit/s, 256 KiB",
    "fast:reno": "with reno",
    "fast:cubic": "with cubic",
    "fast:bbr:rto_min=5ms": "with rto_min 5 ms",
    "multi": "8 hosts x 4 ranks, 20 Mbit/s, 32 KiB",
    "fast:ranks=4": "16 hosts x 4 ranks, 50 Mbit/s, 32 KiB",
    "16x100/16k": "16 hosts, 100 Mbit/s, 16 KiB",
    "12x200/48k": "12 hosts, 200 Mbit/s, 48 KiB",
    "4x400/128k": "4 hosts, 400 Mbit/s, 128 KiB",
    "4x4000/4096k": "4 hosts, 4 Gbit/s, 4 MiB",
    "8x1000/256k": "8 hosts, 1 Gbit/s, 256 KiB",
}
PEER_KEYS = ("installed", "once", "each")
HEADINGS = ("network, queue of a port; pattern", "MPI_Alltoallv as installed", "MPI as installed")
HEADINGS += ("MPI tuned once", "MPI tuned for each case", "NUICE", "times as fast as these three")
TUNED_TABLE = re.compile(r"(<!-- (\w+\.jsonl): (.*?) -->\n)(?:\|.*\n)*")
REPS = 5  # at least, of a figure in the documents


def milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.0f}" if seconds > 0.02 else f"{1e3 * seconds:.2g}"


def markdown(rows: Iterable[Mapping], cells: Iterable[str]) -> str:
    """Returns the three peers as a table for documents. cells: NETWORK:PATTERN."""
    known = {f"{row['network']}:{row['pattern']}": row for row in three_peers(rows, REPS)}
    lines = ["| " + " | ".join(HEADINGS) + " |", "|" + "---|" * len(HEADINGS)]
    for name in cells:
        if name not in known:
            raise Failed(f"no row of {name} with {REPS} repetitions, as installed and otherwise")
        row = known[name]
        times = [row[f"{peer}_s"] for peer in ("alltoallv", *PEER_KEYS, "nuice")]
        title = f"{NETWORK_TITLES[row['network']]}; {PATTERN_TITLES[row['pattern']]}"
        factors = ", ".join(f"{row[f'over_{peer}']:.2f}" for peer in PEER_KEYS)
        lines.append("| " + " | ".join([title, *map(milliseconds, times), factors]) + " |")
    return "\n".join(lines)


def filled(page: str, folder: Path) -> str:
    """Returns the page with its tables after <!-- FILE.jsonl: CELL, CELL --> made from that file's rows."""

    def table(found: re.Match) -> str:
        rows = [json.loads(line) for line in (folder / found[2]).read_text().splitlines()]
        return f"{found[1]}{markdown(rows, found[3].split(', '))}\n"

    return TUNED_TABLE.sub(table, page)

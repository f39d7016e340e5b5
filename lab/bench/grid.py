#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `auto` finds on networks that it knows nothing of: a grid of test networks (docs/how-to/testbed.md).

No machine, no wisdom, no option. Every cell is one network and one pattern, all methods in turns in one
start; the first exchanges of `auto`, in which it tries windows, are timed too. For every cell:
  late   median of exchanges 21 to 40 of auto
  peer   late over the best median of MPI's own ways
  hand   late over the best of coloring:credit with a window set by hand: --windows, 7/8 of the queue
  first  exchanges 1 to 20 of auto together, over 20 medians of the best peer
  tail   95th percentile over the median, exchanges 21 to the last
  bound  late over the time that the busiest port needs for its bytes

usage: grid.py [--rates 20,50,100] [--queues 16,48,256] [--ccs bbr,reno] [--patterns d8,dense,heavy]
       [--hosts 8] [--exchanges 40] [--peers nbx,alltoallv] [--windows 28,56] [--json]    (as root)
"""

import argparse
import json
import os
import statistics
import tempfile
from pathlib import Path

from common import bench_on_testbed, testbed
from rich.console import Console
from rich.table import Table

import nuice

MBIT = 125_000  # bytes per second
KIB = 1024
FIGURES = ("late_ms", "peer", "hand", "first", "tail", "bound")
SKIPPED = 20


def halo(n):
    """A ring of two neighbours on either side."""
    return nuice.CommMatrix.from_messages(
        n, [(r, (r + s) % n, 64 * KIB) for r in range(n) for s in {1, 2, n - 1, n - 2} if s % n]
    )


PATTERNS = {
    "d8": lambda n: nuice.random_regular(n, min(8, n - 1), unit_bytes=64 * KIB, seed=1),
    "dense": lambda n: nuice.random_regular(n, n - 1, unit_bytes=32 * KIB, seed=1),
    "heavy": lambda n: nuice.random_regular(n, min(8, n - 1), unit_bytes=8 * KIB, max_units=32, seed=1),
    "halo": halo,
    "hot": lambda n: nuice.CommMatrix.from_messages(n, [(r, 0, 64 * KIB) for r in range(1, n)]),
    "tiny": lambda n: nuice.random_regular(n, n - 1, unit_bytes=100, seed=1),
}


def by_hand(window_kib):
    """coloring:credit with this window and an eighth of it as chunk, whatever happens."""
    window = window_kib * KIB
    return f"coloring:credit@credit.adapt=false+credit.window={window}+credit.chunk={window // 8}"


def figures(cell, records, matrix):
    """The cell's figures, from what nuice-bench printed."""
    series = {record["method"]: record["exchange_seconds_all"] for record in records}
    auto = series.pop("auto")
    medians = {method: statistics.median(times[SKIPPED:]) for method, times in series.items()}
    peer = min((m, method) for method, m in medians.items() if "@" not in method)
    hand = min((m, method) for method, m in medians.items() if "@" in method)
    late = sorted(auto[SKIPPED:])
    median = statistics.median(auto[SKIPPED:40])
    p95 = late[(len(late) * 95 + 99) // 100 - 1]
    bound = nuice.lower_bounds(matrix).max_port_bytes / (cell["rate"] * MBIT)
    learnt = next(record["learnt"] for record in records if record["method"] == "auto")
    return cell | {
        "choice": next(record["choice"] for record in records if record["method"] == "auto"),
        "window_kib": learnt["window_bytes"] // KIB if learnt["trials"] else None,
        "late_ms": 1e3 * median,
        "peer": median / peer[0],
        "best_peer": peer[1],
        "hand": median / hand[0],
        "best_hand": hand[1],
        "first": sum(auto[:SKIPPED]) / (SKIPPED * peer[0]),
        "tail": p95 / statistics.median(late),
        "bound": median / bound,
        "auto_s": auto,
        "trials": learnt["trials"],
    }


def measure(cell, options, folder):
    matrix = PATTERNS[cell["pattern"]](cell["hosts"])
    path = Path(folder) / "matrix.mtx"
    nuice.save_matrix_market(path, matrix)
    windows = sorted({*map(int, options.windows.split(",")), cell["queue_kib"] * 7 // 8})
    methods = ["auto", *options.peers.split(","), *map(by_hand, windows)]
    settings = ["--warmup", "0", "--wisdom", "none"]
    start = ["run", "--timeout", str(options.timeout), options.bench]
    records = bench_on_testbed(path, methods, options.exchanges, settings, start)
    return figures(cell | {"load": os.getloadavg()[0]}, records, matrix)


def cells(options):
    """One network after the other, and its patterns."""
    for rate in map(int, options.rates.split(",")):
        for queue in map(int, options.queues.split(",")):
            for cc in options.ccs.split(","):
                network = {"rate": rate, "queue_kib": queue, "cc": cc, "hosts": options.hosts}
                yield network, options.patterns.split(",")


def print_table(rows):
    table = Table(title="auto, nothing known; ratios below 1 are better", title_justify="left")
    for column in ("Mbit/s", "queue", "cc", "pattern", "load", "KiB found", *FIGURES):
        table.add_column(column, justify="right")
    for row in rows:
        network = (f"{row['rate']}", f"{row['queue_kib']}", row["cc"], row["pattern"])
        found = (f"{row['load']:.0f}", str(row["window_kib"]))
        table.add_row(*network, *found, *(f"{row[name]:.2f}" for name in FIGURES))
    Console(width=130).print(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rates", default="20,50,100", help="of a port, Mbit/s")
    parser.add_argument("--queues", default="16,48,256", help="of a switch port, KiB")
    parser.add_argument("--ccs", default="bbr,reno", help="TCP congestion control")
    parser.add_argument("--patterns", default="d8,dense,heavy", help=", ".join(PATTERNS))
    parser.add_argument("--hosts", type=int, default=8)
    parser.add_argument("--exchanges", type=int, default=40, help="of every method, 21 at least")
    parser.add_argument("--peers", default="nbx,alltoallv", help="MPI's own ways, as nuice-bench calls them")
    parser.add_argument("--windows", default="28,56", help="set by hand, KiB")
    parser.add_argument("--bench", default="nuice-bench", help="the nuice-bench of another build")
    parser.add_argument("--timeout", type=int, default=550, help="seconds for a cell")
    parser.add_argument("--json", action="store_true", help="one JSON object per cell and nothing else")
    options = parser.parse_args()
    rows = []
    for network, patterns in cells(options):
        shape = ["--rate", f"{network['rate']}mbit", "--queue", f"{network['queue_kib']}k"]
        shape += ["--cc", network["cc"], "--hosts", str(network["hosts"])]
        testbed("up", *shape)
        try:
            for pattern in patterns:
                with tempfile.TemporaryDirectory() as folder:
                    rows.append(measure(network | {"pattern": pattern}, options, folder))
                if options.json:
                    print(json.dumps(rows[-1]), flush=True)
        finally:
            testbed("down")
    if not options.json:
        print_table(rows)


if __name__ == "__main__":
    main()

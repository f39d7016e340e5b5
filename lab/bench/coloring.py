#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How fast, and in how much memory, exactly max-degree phases are found: beside cgm and a public peer.

The peer is rustworkx's graph_bipartite_edge_color (Rust; N. Alon, Information Processing Letters 85, 2003),
which gets its graph ready made; ours includes writing the schedule. Memory is the growth of the process's
peak while planning, the schedule itself included, per message and per piece of a message in the schedule.

usage: coloring.py [--runs 5] [--huge] [--quick] [--json]
"""

import argparse
import ctypes
import json
import time
from pathlib import Path
from statistics import median

import rustworkx
from rich.console import Console
from rich.progress import track
from rich.table import Table

import nuice

MOST_MESSAGES_FOR_PEER = 300_000


def cases(options):
    """(name, function that makes the matrix)."""
    yield "64 x 63, complete", lambda: nuice.random_regular(64, 63)
    yield "256 x 64", lambda: nuice.random_regular(256, 64)
    if options.quick:
        return
    yield "1,024 x 1,023, complete", lambda: nuice.random_regular(1024, 1023)
    yield "1,024 x 512", lambda: nuice.random_regular(1024, 512)
    yield "1,024, density 0.1", lambda: nuice.random_density(1024, 0.1)
    yield "4,096 x 63", lambda: nuice.random_regular(4096, 63)
    yield "4,096 x 64", lambda: nuice.random_regular(4096, 64)
    yield "16,384 x 64", lambda: nuice.random_regular(16384, 64)
    yield "65,536 x 31", lambda: nuice.random_regular(65536, 31)
    yield "65,536 x 32", lambda: nuice.random_regular(65536, 32)
    if options.huge:
        yield "1,048,576 x 64", lambda: nuice.random_regular(1 << 20, 64)


def seconds_to_plan(matrix, scheduler, runs):
    return median(nuice.make_schedule(matrix, scheduler, seed)[1] for seed in range(runs))


def seconds_of_peer(matrix, runs):
    if matrix.num_messages > MOST_MESSAGES_FOR_PEER:
        return None
    graph = rustworkx.PyGraph()
    graph.add_nodes_from(range(2 * matrix.num_ranks))
    receivers = matrix.dst + matrix.num_ranks
    graph.add_edges_from([(s, r, None) for s, r in zip(matrix.src.tolist(), receivers.tolist(), strict=True)])
    taken = []
    for _ in range(min(runs, 3)):
        begin = time.perf_counter()
        colors = rustworkx.graph_bipartite_edge_color(graph)
        taken.append(time.perf_counter() - begin)
    if max(colors.values()) + 1 != nuice.lower_bounds(matrix).max_degree:
        raise SystemExit("the peer needs more colours than the maximum degree")
    return median(taken)


def kib_of(field):
    """A line of /proc/self/status."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    raise SystemExit(f"no {field} in /proc/self/status: memory is measured on Linux only")


def memory_for(matrix, scheduler):
    # Large blocks go back to the system when freed: none waits in the heap before, none stays in it.
    libc = ctypes.CDLL(None)
    libc.mallopt(-3, 1 << 17)  # M_MMAP_THRESHOLD
    libc.malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = kib_of("VmRSS")
    schedule, _ = nuice.make_schedule(matrix, scheduler, 0)
    growth = (kib_of("VmHWM") - before) * 1024
    return {
        "peak_bytes_per_message": growth / matrix.num_messages,
        "pieces_per_message": schedule.num_pieces / matrix.num_messages,
        "peak_bytes_per_piece": growth / schedule.num_pieces,
    }


def measure(name, make, options):
    matrix = make()
    runs = 1 if matrix.num_messages > 5_000_000 else options.runs
    plan = nuice.plan(matrix, "coloring")
    if not plan.verified:
        raise SystemExit(f"{name}: {plan.violation.text}")
    peak = memory_for(matrix, "coloring")["peak_bytes_per_message"]
    ours = seconds_to_plan(matrix, "coloring", runs)
    cgm = seconds_to_plan(matrix, "cgm", runs)
    peer = seconds_of_peer(matrix, runs)
    return {
        "matrix": name,
        "messages": matrix.num_messages,
        "max_degree": plan.bounds.max_degree,
        "phases": plan.phases,
        "plan_seconds": ours,
        "cgm_seconds": cgm,
        "to_cgm": ours / cgm,
        "peer_seconds": peer,
        "peer_to_ours": None if peer is None else peer / ours,
        "peak_bytes_per_message": peak,
    }


def memory_of_all(options):
    """Peak bytes per message, and per piece, of every row; for unequal sizes too, which some rows split."""
    degree = 16 if options.quick else 64
    figures = []
    for sizes, units in (("equal", 1), ("unequal", 32)):
        matrix = nuice.random_regular(16384, degree, max_units=units)
        for row in nuice.schedulers():
            if not row.why_not(matrix):
                figures.append({"scheduler": row.name, "sizes": sizes} | memory_for(matrix, row.name))
    return figures


def print_tables(figures, memory):
    console = Console(width=120)
    table = Table(title="exactly max-degree phases: time to plan (medians)")
    columns = "matrix messages phases ms cgm:ms /cgm rustworkx:ms rustworkx/ours peak:B/message"
    for column in columns.split():
        table.add_column(column.replace(":", ", "), justify="left" if column == "matrix" else "right")
    for f in figures:
        peer = "-" if f["peer_seconds"] is None else f"{f['peer_seconds'] * 1e3:.1f}"
        ratio = "-" if f["peer_to_ours"] is None else f"{f['peer_to_ours']:.0f}"
        table.add_row(
            f["matrix"],
            f"{f['messages']:,}",
            f"{f['phases']} = D" if f["phases"] == f["max_degree"] else f"{f['phases']}",
            f"{f['plan_seconds'] * 1e3:.2f}",
            f"{f['cgm_seconds'] * 1e3:.2f}",
            f"{f['to_cgm']:.2f}",
            peer,
            ratio,
            f"{f['peak_bytes_per_message']:.0f}",
        )
    console.print(table)
    table = Table(title="peak bytes while planning for 16,384 ranks, the schedule included")
    for column in ["scheduler", "sizes", "per message", "pieces per message", "per piece"]:
        table.add_column(column, justify="left" if column in ("scheduler", "sizes") else "right")
    for m in memory:
        figures = [m["peak_bytes_per_message"], m["pieces_per_message"], m["peak_bytes_per_piece"]]
        table.add_row(m["scheduler"], m["sizes"], *[f"{figure:.2f}" for figure in figures])
    console.print(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument(
        "--huge", action="store_true", help="also 1 M ranks with 64 partners: 6 GiB, a minute"
    )
    parser.add_argument("--quick", action="store_true", help="two small matrices: does it work?")
    parser.add_argument("--json", action="store_true", help="one JSON object per line and nothing else")
    options = parser.parse_args()
    console = Console(stderr=True)
    steps = track(list(cases(options)), "colouring", console=console, transient=True)
    figures = [measure(name, make, options) for name, make in steps]
    memory = memory_of_all(options)
    if options.json:
        for figure in figures + memory:
            print(json.dumps(figure))
    else:
        print_tables(figures, memory)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: BSD-3-Clause
"""How fast, and in how much memory, the minimum number of phases is found, compared with cgm and a peer.

The peer is rustworkx's graph_bipartite_edge_color (Rust; N. Alon, Information Processing Letters 85, 2003),
which receives a finished graph; NUICE's time includes writing the schedule. Memory is the growth of the
process's peak during planning, including the schedule, per message and per piece of a message in the
schedule.
"""

import ctypes
from pathlib import Path
from statistics import median

import nuice
from kit import CannotRun, Case, Column, Failed, Table, timed
from kit.patterns import planned

MOST_MESSAGES_FOR_PEER = 300_000
SMALL = ((64, 63), (256, 64))
LARGE = (
    (1024, 1023),
    (1024, 512),
    (1024, 0.1),
    (4096, 63),
    (4096, 64),
    (16384, 64),
    (65536, 31),
    (65536, 32),
)
HUGE = (1 << 20, 64)


def matrix_of(ranks, degree):
    """Returns (name, matrix); a degree below 1 is a density."""
    if degree < 1:
        return f"{ranks:,}, density {degree}", nuice.random_density(ranks, degree)
    complete = ", complete" if degree == ranks - 1 else ""
    return f"{ranks:,} x {degree:,}{complete}", nuice.random_regular(ranks, degree)


def seconds_to_plan(matrix, scheduler, runs):
    return median(nuice.make_schedule(matrix, scheduler, seed)[1] for seed in range(runs))


def seconds_of_peer(matrix, runs):
    if matrix.num_messages > MOST_MESSAGES_FOR_PEER:
        return None
    import rustworkx

    graph = rustworkx.PyGraph()
    graph.add_nodes_from(range(2 * matrix.num_ranks))
    receivers = matrix.dst + matrix.num_ranks
    graph.add_edges_from([(s, r, None) for s, r in zip(matrix.src.tolist(), receivers.tolist(), strict=True)])
    taken = [timed(lambda: rustworkx.graph_bipartite_edge_color(graph)) for _ in range(min(runs, 3))]
    if max(taken[0][1].values()) + 1 != nuice.lower_bounds(matrix).max_degree:
        raise Failed("the peer needs more colours than the maximum degree")
    return median(seconds for seconds, _ in taken)


def kib_of(field):
    """Returns a line of /proc/self/status in KiB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    raise CannotRun(f"no {field} in /proc/self/status: memory is measured on Linux only")


def memory_for(matrix, scheduler):
    # Large freed blocks return to the system, so that the heap neither starts nor ends with them.
    libc = ctypes.CDLL(None)
    libc.mallopt(-3, 1 << 17)  # M_MMAP_THRESHOLD
    libc.malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = kib_of("VmRSS")
    schedule, _ = nuice.make_schedule(matrix, scheduler, 0)
    growth = (kib_of("VmHWM") - before) * 1024
    return {
        "peak_bytes_per_message": growth / matrix.num_messages,
        "pieces_per_message": schedule.num_pieces / matrix.num_messages,
        "peak_bytes_per_piece": growth / schedule.num_pieces,
    }


def measure(ranks, degree, runs):
    name, matrix = matrix_of(ranks, degree)
    runs = 1 if matrix.num_messages > 5_000_000 else runs
    plan = planned(matrix, "coloring")
    peak = memory_for(matrix, "coloring")["peak_bytes_per_message"]
    ours, cgm = (seconds_to_plan(matrix, scheduler, runs) for scheduler in ("coloring", "cgm"))
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


def rows(options):
    """Yields the rows of `coloring`, and then the peak bytes of every scheduler. The latter also with unequal
    sizes, for which some schedulers split messages."""
    for ranks, degree in (*SMALL, *(() if options.quick else LARGE), *([HUGE] if options.huge else ())):
        yield measure(ranks, degree, options.runs)
    for sizes, units in (("equal", 1), ("unequal", 32)):
        matrix = nuice.random_regular(16384, 16 if options.quick else 64, max_units=units)
        for row in nuice.schedulers():
            if not row.why_not(matrix):
                yield {"scheduler": row.name, "sizes": sizes} | memory_for(matrix, row.name)


CASE = Case(
    rows,
    needs=["rustworkx"],
    options=dict(runs=5, huge=(False, "also 1 M ranks with 64 partners: 6 GiB, a minute")),
    minutes=4,
    tables=[
        Table(
            "exactly max-degree phases: time to plan (medians)",
            "matrix | messages ,",
            Column("phases", lambda r: f"{r['phases']}{' = D' if r['phases'] == r['max_degree'] else ''}"),
            "ms = plan_seconds*1e3 .2f | cgm, ms = cgm_seconds*1e3 .2f | / cgm = to_cgm .2f",
            "rustworkx, ms = peer_seconds*1e3 .1f | rustworkx / ours = peer_to_ours .0f",
            "peak, B/message = peak_bytes_per_message .0f",
            where="matrix",
        ),
        Table(
            "peak bytes while planning for 16,384 ranks, the schedule included",
            "scheduler | sizes | per message = peak_bytes_per_message .2f",
            "pieces per message = pieces_per_message .2f | per piece = peak_bytes_per_piece .2f",
            where="scheduler",
        ),
    ],
)

# SPDX-License-Identifier: BSD-3-Clause
"""Exchange time of every method on this machine's MPI, compared with MPI's own methods in the same run.

All methods are interleaved, and every byte is verified, on halos of the papers' meshes and on random
matrices with small to large messages. Figures are medians over the runs of each method's median, and its
ratios to MPI_Alltoallv and MPI_Neighbor_alltoallv.
"""

import nuice
from kit import MEDIAN, Case, Table, here, rows_by_method
from kit.patterns import airfoil, everybody, uniform

METHODS = ["ac", "lp", "gm", "cgm", "rs_n", "coloring", "coloring:async", "rex"]
METHODS += ["auto", "alltoallv", "neighbor", "isend"]


def patterns(ranks, quick):
    """Yields (name, matrix)."""
    yield "random d=4, 64 B", uniform(ranks, 4, 64)
    yield "random d=4, 16 KiB", uniform(ranks, 4, 16384)
    if quick:
        return
    yield "random d=4, 512 KiB", uniform(ranks, 4, 524288)
    yield "dense, 1..32 x 1 KiB", everybody(ranks, 1024, 32)
    yield "hot receiver, 64 KiB", hot_receiver(ranks, 65536)
    for points in (2800, 9428, 53961):
        for unit in (8, 1024):
            yield f"airfoil {points}, {unit} B a point", airfoil(points, ranks, unit)


def hot_receiver(ranks, num_bytes):
    """Returns a matrix in which all other ranks send to rank 0, and a tenth of these bytes to its
    neighbour."""
    entries = [(rank, 0, num_bytes) for rank in range(1, ranks)]
    entries += [(rank, rank + 1, num_bytes // 10) for rank in range(1, ranks - 1)]
    return nuice.CommMatrix.from_messages(ranks, entries)


def rows(options):
    for name, matrix in patterns(options.ranks, options.quick):
        found = here(options.ranks).several(options.runs, matrix, METHODS, options.reps)
        for row, records in rows_by_method(found, "alltoallv", "neighbor"):
            times = [record[MEDIAN] for record in records]
            yield {"pattern": name} | row | {"lowest_run_s": min(times), "highest_run_s": max(times)}


CASE = Case(
    rows,
    needs=["mpi"],
    options=dict(ranks=8, runs=5, reps=50),
    quick=dict(runs=1, reps=3),
    minutes=10,
    tables=Table(
        "{o.ranks} ranks, medians of {o.runs} runs of {o.reps}; {row[mpi]}",
        "pattern | method | phases | us = exchange_s*1e6 .1f | from = lowest_run_s*1e6 .1f",
        "to = highest_run_s*1e6 .1f | / alltoallv = to_alltoallv .2f",
        "/ neighbor = to_neighbor .2f",
        group="pattern",
    ),
)

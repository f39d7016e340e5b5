# SPDX-License-Identifier: BSD-3-Clause
"""Two ranks that send each other one message: nuice's executors beside the same by hand, in the same run.

By hand means MPI_Irecv and MPI_Isend (isend), and the same as persistent requests (persistent). Several runs
for every size, methods in turns, batches of about two milliseconds. Microseconds, and the median over the
runs of the ratio to each peer in the same run.
"""

import nuice
from kit import MEDIAN, Case, Table, here, median_ratio, middle

OURS = ["coloring:async", "coloring:phased"]
PEERS = ["isend", "persistent"]
SIZES = [8 * 2**k for k in range(0, 21, 2)]  # 8 B to 8 MiB
SIZES += [160, 256, 512, 4096]  # the halo of a small mesh; about the limits of an MPI's protocols


def batch_size(num_bytes):
    """Of about two milliseconds, at a microsecond and 5 GB/s."""
    return max(1, min(1000, round(2e-3 / (1e-6 + num_bytes / 5e9))))


def rows(options):
    for size in options.sizes:
        matrix = nuice.CommMatrix.from_messages(2, [(0, 1, size), (1, 0, size)])
        more = ["--batch", batch_size(size)]
        found = here(2).several(options.runs, matrix, [*OURS, *PEERS], options.reps, *more)
        seconds = {method: [record[MEDIAN] for record in records] for method, records in found.items()}
        for method, records in found.items():
            ratios = {f"to_{peer}": median_ratio(seconds[method], seconds[peer]) for peer in PEERS}
            yield {"bytes": size, "method": method, "exchange_s": middle(records)} | ratios


CASE = Case(
    rows,
    needs=["mpi"],
    options=dict(sizes=sorted(SIZES), runs=5, reps=31),
    quick=dict(runs=1, reps=3, sizes=[8, 4096]),
    minutes=3,
    tables=Table(
        "2 ranks, medians of {o.runs} runs of {o.reps} batches",
        "bytes | method | us = exchange_s*1e6 .3f",
        *(f"/ {peer} = to_{peer} .3f" for peer in PEERS),
        group="bytes",
    ),
)

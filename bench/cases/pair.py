# SPDX-License-Identifier: BSD-3-Clause
"""Two ranks and one message, in one direction or both: NUICE's methods compared with MPI's own, in the same
run.

NUICE's methods are auto, which uses the ranks' shared memory up to 64 KiB, and executors that use MPI. MPI's
are MPI_Irecv and MPI_Isend by hand (isend), the same as persistent requests (persistent), MPI_Alltoallv and
MPI_Neighbor_alltoallv. Each size has several runs with interleaved methods, in batches of about two
milliseconds. Figures are microseconds, and the median over the runs of the ratio to isend and to the best of
MPI in the same run.
"""

import nuice
from kit import Case, Table, here, median_ratio, medians_of, middle

OURS = ["auto", "coloring:async", "coloring:phased"]
PEERS = ["isend", "persistent", "alltoallv", "neighbor"]
WAYS = {"one way": [(0, 1)], "both ways": [(0, 1), (1, 0)]}
SIZES = [8 * 2**k for k in range(0, 21, 2)]  # 8 B to 8 MiB
SIZES += [160, 256, 512, 4096]  # the halo of a small mesh; sizes near the limits of MPI's protocols


def batch_size(num_bytes):
    """Returns the size of a batch of about two milliseconds, at a microsecond per message and 5 GB/s."""
    return max(1, min(1000, round(2e-3 / (1e-6 + num_bytes / 5e9))))


def rows(options):
    for way, pairs in WAYS.items():
        for size in options.sizes:
            matrix = nuice.CommMatrix.from_messages(2, [(*pair, size) for pair in pairs])
            more = ["--batch", batch_size(size)]
            found = here(2).several(options.runs, matrix, [*OURS, *PEERS], options.reps, *more)
            seconds = medians_of(found)
            best = [min(times) for times in zip(*(seconds[peer] for peer in PEERS), strict=True)]
            for method, records in found.items():
                yield {
                    "way": way,
                    "bytes": size,
                    "method": method,
                    "exchange_s": middle(records),
                    "to_isend": median_ratio(seconds[method], seconds["isend"]),
                    "to_best": median_ratio(seconds[method], best),
                }


CASE = Case(
    rows,
    needs=["mpi"],
    options=dict(sizes=sorted(SIZES), runs=5, reps=31),
    quick=dict(runs=1, reps=3, sizes=[8, 4096]),
    minutes=6,
    tables=Table(
        "2 ranks, medians of {o.runs} runs of {o.reps} batches",
        "way | bytes | method | us = exchange_s*1e6 .3f | / isend = to_isend .2f",
        "/ best of MPI = to_best .2f",
        group="bytes",
    ),
)

# SPDX-License-Identifier: BSD-3-Clause
"""Two ranks that send each other a message of four fields, compared with the same bytes in one contiguous
message.

The fields are apart in memory. Messages up to 2 KiB are copied into one buffer. MPI sends longer ones with a
derived datatype, and fields of 8 KiB or more are sent separately. Each size has several runs with
interleaved methods. Figures are microseconds, and the median over the runs of the ratio to the contiguous
message in the same run.
"""

import nuice
from cases.pair import batch_size
from kit import Case, Table, here, median_ratio, medians_of, middle

EXECUTORS = ["async", "phased"]
SIZES = [32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 65536, 262144]


def rows(options):
    for size in options.sizes:
        matrix = nuice.CommMatrix.from_messages(2, [(0, 1, size), (1, 0, size)])
        methods = [f"coloring:{executor}{form}" for executor in EXECUTORS for form in ("", "@fields")]
        found = here(2).several(options.runs, matrix, methods, options.reps, "--batch", batch_size(size))
        seconds = medians_of(found)
        for executor in EXECUTORS:
            whole, fields = f"coloring:{executor}", f"coloring:{executor}@fields"
            yield {
                "bytes": size,
                "executor": executor,
                "whole_s": middle(found[whole]),
                "fields_s": middle(found[fields]),
                "ratio": median_ratio(seconds[fields], seconds[whole]),
            }


CASE = Case(
    rows,
    needs=["mpi"],
    options=dict(sizes=SIZES, runs=5, reps=31),
    quick=dict(runs=1, reps=3, sizes=[64, 4096]),
    minutes=3,
    tables=Table(
        "2 ranks, 4 fields a message, medians of {o.runs} runs of {o.reps} batches",
        "bytes | executor | whole us = whole_s*1e6 .3f | fields us = fields_s*1e6 .3f | ratio .2f",
        group="bytes",
    ),
)

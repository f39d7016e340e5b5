# SPDX-License-Identifier: BSD-3-Clause
"""The cost of recording for an unmodified program: nuice-bench's MPI_Alltoallv and MPI_Isend with and
without it.

Starts the same program alternately with and without `nuice run --record`, in batches of 200 exchanges.
Figures are microseconds per exchange and the time that recording adds, medians over the rounds.
"""

from statistics import median

from kit import LOAD, MEDIAN, Case, Table, here, in_turns, median_ratio, scratch
from kit.patterns import everybody
from nuice.cli.bench import find_program

METHODS = ["alltoallv", "isend"]


def rows(options):
    for size in options.sizes:
        matrix = everybody(options.ranks, size)

        def plain(prefix=(), matrix=matrix):
            more = ["--batch", 200]
            records = here(options.ranks).bench(matrix, METHODS, options.reps, *more, prefix=prefix)
            return {record["method"]: record[MEDIAN] for record in records}

        def recorded(plain=plain):
            with scratch() as folder:
                return plain([find_program("nuice"), "run", "--record", str(folder / "record"), "--"])

        without, beside = in_turns(options.rounds, plain, recorded)
        for method in METHODS:
            a, b = ([run[method] for run in runs] for runs in (without, beside))
            yield {
                "bytes": size,
                "method": method,
                "without_s": median(a),
                "added_s": median(y - x for x, y in zip(a, b, strict=True)),
                "ratio": median_ratio(b, a),
            }


CASE = Case(
    rows,
    needs=["mpi"],
    options=dict(ranks=2, sizes=[8, 1024, 65536], rounds=7, reps=31),
    quick=dict(sizes=[8], rounds=1, reps=3),
    minutes=2,
    tables=Table(
        "{o.ranks} ranks, medians of {o.rounds} rounds",
        "bytes | method | us without = without_s*1e6 .2f | us added = added_s*1e6 .2f",
        "ratio .2f",
        LOAD,
    ),
)

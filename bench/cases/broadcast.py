# SPDX-License-Identifier: BSD-3-Clause
"""Planned broadcasts compared with MPI_Bcast in the same run: to all ranks, and to every second one.

Methods are interleaved, every byte is verified, and there are several message sizes. Figures are medians over
the runs of each method's median, and its ratio to MPI_Bcast. For a group, MPI_Bcast runs on a communicator of
the group's members.
"""

from kit import Case, Table, here, rows_by_method

METHODS = ["lib", "reb", "reb:async", "bcast"]


def rows(options):
    for group in (None, range(1, options.ranks, 2)):
        for size in options.sizes:
            problem = ["--broadcast", size, "--root", 0]
            problem += ["--group", ",".join(map(str, group))] if group else []
            found = here(options.ranks).several(options.runs, problem, METHODS, options.reps)
            for row, records in rows_by_method(found, "bcast"):
                yield {"bytes": size, "members": records[0]["members"]} | row


CASE = Case(
    rows,
    needs=["mpi"],
    options=dict(ranks=8, sizes=[64, 1024, 16384, 262144, 4194304], runs=5, reps=50),
    quick=dict(runs=1, reps=3, sizes=[64, 1024]),
    minutes=4,
    tables=Table(
        "broadcast, {o.ranks} ranks, us (over MPI_Bcast), medians of {o.runs} of {o.reps}; {row[mpi]}",
        "members | bytes",
        across="method",
        cell=lambda row: f"{row['exchange_s'] * 1e6:.1f} ({row['to_bcast']:.2f})",
    ),
)

# SPDX-License-Identifier: BSD-3-Clause
"""Scheduling on the fly (paper 004) on this machine's MPI, compared with MPI's own methods in the same run.

There are two parts. Exchange: every form of DRS_N on the patterns of 004 tables 4 to 6, as ratios to
MPI_Alltoallv, with inquiries and refusals per message. Lists: 004 table 3, which compares gathering the
matrix with Generate_Recv, for several n and d. Figures are medians over the runs of nuice-bench's medians;
its methods are interleaved and verify every byte.

With --testbed PRESET (as root) the exchanges run on a network with contention that is made for them
(docs/how-to/testbed.md), with one rank per host.
"""

import nuice
from kit import Case, Table, here, middle, place, rows_by_method
from kit.patterns import airfoil, uniform

METHODS = ["alltoallv", "isend", "ac", "rs_n", "drs_n", "drs_n:rma", "drs_n:list", "drs_n:early"]
# With contention, a plan is the peer. Between hosts there is no other transport than MPI.
TESTBED_METHODS = ["alltoallv", "ac", "rs_n", "coloring:async"]
TESTBED_METHODS += ["drs_n:refuse:mpi", "drs_n:rma", "drs_n:list:mpi", "drs_n:early:mpi"]
LISTS = [(4, 1), (4, 3), (8, 1), (8, 4), (8, 7), (16, 1), (16, 4), (16, 8), (16, 15)]  # n and d
LISTS += [(32, 1), (32, 4), (32, 16), (32, 31)]


def patterns(options, ranks):
    """Yields (table of 004, name, matrix)."""
    small = min(4, ranks - 1)
    if options.quick:
        yield 4, f"d={small}", uniform(ranks, small, 16384)
        return
    degrees, largest = ([4, 8, ranks - 1], 65536) if options.testbed else ([small, ranks - 1], 131072)
    for degree in degrees:
        for size in (512, 16384, largest):
            yield 4, f"d={degree}, {size} B", uniform(ranks, degree, size)
    for unit in (256, 4096):
        yield 5, f"d={degrees[0]}, 1..32 x {unit} B", uniform(ranks, degrees[0], unit, 32)
    for points in (2800, 53961):
        for unit in (64, 1024):
            yield 6, f"airfoil {points}, {unit} B a point", airfoil(points, ranks, unit)


def exchanges(options, where):
    methods = TESTBED_METHODS if options.testbed else METHODS
    for table, name, matrix in patterns(options, where.ranks):
        if options.cases not in name:
            continue
        found = where.several(options.runs, matrix, methods, options.reps)
        for row, records in rows_by_method(found, "alltoallv"):
            yield row | {
                "part": "exchange",
                "testbed": options.testbed,
                "table": table,
                "pattern": name,
                "ranks": where.ranks,
                "plan_s": middle(records, "plan_seconds"),
                "inquiries": mean_of(records, "inquiries_per_message"),
                "refusals": mean_of(records, "refusals_per_message"),
            }


def mean_of(records, key):
    values = [record[key] for record in records if record[key] is not None]
    return sum(values) / len(values) if values else None


def lists(options):
    for n, d in LISTS[:2] if options.quick else LISTS:
        matrix = nuice.random_regular(n, d, unit_bytes=1000, seed=1)
        runs = [here(n).bench(matrix, [], options.reps, "--receive-lists") for _ in range(options.runs)]
        for records in zip(*runs, strict=True):
            way, seconds = records[0]["receive_list"], middle(records, "seconds_median")
            yield {"part": "lists", "n": n, "d": d, "way": way, "seconds": seconds}


def rows(options):
    if options.part != "lists":
        with place(options.testbed, options.ranks, cc="bbr", hosts=4 if options.quick else 0) as where:
            yield from exchanges(options, where)
    if options.part != "exchange" and not options.testbed:
        yield from lists(options)


def gathering(rows):
    """Returns the time of gathering the matrix divided by that of counting by active messages, by n and d."""
    seconds = {(r["n"], r["d"], r["way"]): r["seconds"] for r in rows if r["part"] == "lists"}
    cases = [(n, d) for n, d, way in seconds if way == "gather"]
    if cases:
        ratios = (f"{n}, {d}: {seconds[n, d, 'gather'] / seconds[n, d, 'am_count']:.2f}" for n, d in cases)
        yield "gather / am_count: " + "; ".join(ratios)


CASE = Case(
    rows,
    needs=["mpi"],
    options=dict(
        ranks=8, runs=3, reps=20, part=("all", "which", ("exchange", "lists", "all")), cases="", testbed=""
    ),
    quick=dict(runs=1, reps=3),
    minutes=8,
    tables=[
        Table(
            "{row[ranks]} ranks {o.testbed}, medians of {o.runs} runs of {o.reps}; {row[mpi]}",
            "004 table = table | pattern | method | us = exchange_s*1e6 .0f",
            "/ alltoallv = to_alltoallv .2f | ready us = plan_s*1e6 .0f | inquiries .2f",
            "refusals .2f",
            where=lambda row: row["part"] == "exchange",
            group="pattern",
        ),
        Table(
            "learning the sources, us (004 table 3)",
            "n | d",
            where=lambda row: row["part"] == "lists",
            across="way",
            cell=lambda row: f"{row['seconds'] * 1e6:.0f}",
        ),
    ],
    notes=gathering,
)

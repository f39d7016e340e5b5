# SPDX-License-Identifier: BSD-3-Clause
"""Planning in which no rank knows the matrix, compared with planning with a gather, on this machine.

The same matrix is planned alternately with planning=distributed, which gathers matrices as small as these;
in pairs (distributed.gather=0); and with planning=everywhere. All give the same plan (distributed_coloring).
rs_n is planned everywhere too. Planning time is the slowest rank's: gather, schedule and check. Figures are
medians over the rounds, and medians of the ratios within a round. All ranks share the cores of this machine,
so a round of control messages costs the time until its processes are scheduled.
"""

from statistics import median

from kit import Case, Table, here, in_turns, median_ratio
from kit.patterns import uniform

SCHEDULER = "distributed_coloring"
PLANNINGS = ("distributed", "distributed distributed.gather=0")
WAYS = [(SCHEDULER, p) for p in (*PLANNINGS, "everywhere")] + [("rs_n", "everywhere")]


def plan(where, matrix, scheduler, planning):
    settings = {"NUICE_OPTIONS": f"planning={planning}"}
    return where.bench(matrix, [scheduler], 1, settings=settings)[0]


def rows(options):
    for ranks in options.ranks:
        where, matrix = here(ranks), uniform(ranks, options.degree, 1)
        starts = [lambda way=way: plan(where, matrix, *way) for way in WAYS]  # noqa: B023
        found = dict(zip(WAYS, in_turns(options.rounds, *starts), strict=True))
        seconds = {way: [record["plan_seconds"] for record in records] for way, records in found.items()}
        for planning in PLANNINGS:
            own = seconds[SCHEDULER, planning]
            yield {
                "ranks": ranks,
                "degree": options.degree,
                "planning": planning,
                "phases": found[SCHEDULER, planning][0]["phases"],
                "phases_everywhere": found[SCHEDULER, "everywhere"][0]["phases"],
                "plan_seconds": median(own),
                "to_everywhere": median_ratio(own, seconds[SCHEDULER, "everywhere"]),
                "to_rs_n": median_ratio(own, seconds["rs_n", "everywhere"]),
            }


CASE = Case(
    rows,
    needs=["mpi"],
    options=dict(ranks=[8, 16, 32, 64], degree=(8, "messages of a rank"), rounds=5),
    quick=dict(ranks=[4], degree=3, rounds=1),
    minutes=4,
    tables=Table(
        "planning time, medians of {o.rounds} rounds",
        "ranks | planning",
        "ms = plan_seconds*1e3 .3g | over everywhere = to_everywhere .2f | over rs_n = to_rs_n .2f",
    ),
)

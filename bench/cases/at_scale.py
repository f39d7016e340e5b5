# SPDX-License-Identifier: BSD-3-Clause
"""Planning by ranks none of which knows the matrix, compared with planning with a gather, on this machine.

The same matrix alternately with planning=distributed, which gathers matrices as small as these after all,
with the same made in pairs (distributed.gather=0), and with planning=everywhere. All give the same plan
(distributed_coloring, ac, lp). And everywhere with rs_n. Planning time is the slowest rank's: gather,
schedule and check. Medians over the rounds, and the medians of the ratios within a round. All ranks
share the cores of this machine, so a round of letters costs what its processes take to get their turns.
"""

from statistics import median

from kit import Case, Column, Table, here, in_turns, median_ratio
from kit.patterns import uniform

SCHEDULERS = ("distributed_coloring", "ac", "lp")
PAIRS = "distributed distributed.gather=0"
PLANNINGS = ("distributed", PAIRS, "everywhere")
WAYS = [(s, p) for s in SCHEDULERS for p in PLANNINGS] + [("rs_n", "everywhere")]


def plan(where, matrix, scheduler, planning):
    settings = {"NUICE_OPTIONS": f"planning={planning}"}
    return where.bench(matrix, [scheduler], 1, settings=settings)[0]


def rows(options):
    for ranks in options.ranks:
        where, matrix = here(ranks), uniform(ranks, options.degree, 1)
        starts = [lambda way=way: plan(where, matrix, *way) for way in WAYS]  # noqa: B023
        found = dict(zip(WAYS, in_turns(options.rounds, *starts), strict=True))
        seconds = {way: [record["plan_seconds"] for record in records] for way, records in found.items()}
        for planning in PLANNINGS[:-1]:
            own = {s: seconds[s, planning] for s in SCHEDULERS}
            yield {
                "ranks": ranks,
                "degree": options.degree,
                "planning": planning,
                "phases": {s: found[s, planning][0]["phases"] for s in SCHEDULERS},
                "phases_everywhere": {s: found[s, "everywhere"][0]["phases"] for s in SCHEDULERS},
                "plan_seconds": {s: median(own[s]) for s in SCHEDULERS},
                "to_everywhere": {s: median_ratio(own[s], seconds[s, "everywhere"]) for s in SCHEDULERS},
                "to_rs_n": {s: median_ratio(own[s], seconds["rs_n", "everywhere"]) for s in SCHEDULERS},
            }


def of(scheduler):
    def text(row):
        ratios = (row[key][scheduler] for key in ("to_everywhere", "to_rs_n"))
        return f"{1e3 * row['plan_seconds'][scheduler]:.3g} " + " ".join(f"({r:.2f})" for r in ratios)

    return Column(scheduler, text)


CASE = Case(
    rows,
    needs=["mpi"],
    options=dict(ranks=[8, 16, 32, 64], degree=(8, "messages of a rank"), rounds=5),
    quick=dict(ranks=[4], degree=3, rounds=1),
    minutes=4,
    tables=Table(
        "planning time, ms (over everywhere) (over rs_n), medians of {o.rounds} rounds",
        "ranks | planning",
        *map(of, SCHEDULERS),
    ),
)

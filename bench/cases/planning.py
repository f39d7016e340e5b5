# SPDX-License-Identifier: BSD-3-Clause
"""Phases and planning time of every scheduler compared with 003 tables 2, 3 and 4, and the growth of the
cost.

Every rank sends and receives d messages (003 fig. 7). Planning time is that of `make` alone on one core of
this machine. The papers' is that of a CM-5 node of 1993, so only phases and growth are comparable: 003 s.4
claims that cgm costs d n ln d.
"""

import math
from statistics import mean, median

import nuice
from kit import Case, Table
from nuice_papers import printed_tables

DEGREES = [1, 2, 4, 8, 16, 24, 31, 32, 64, 96, 127, 128, 256, 384, 511, 1023]


def degrees_for(num_ranks):
    """Returns the degrees of table 4 for its numbers of ranks, and similar degrees for others."""
    of_paper = [row["degree"] for row in printed_tables.table("003_table4") if row["ranks"] == num_ranks]
    return of_paper or [d for d in DEGREES if d < num_ranks and (d & (d - 1) == 0 or d == num_ranks - 1)]


def measure(num_ranks, degree, samples, names):
    """Returns one figure per scheduler: mean phases and median seconds over `samples` matrices."""
    made = {}
    for seed in range(samples):
        matrix = nuice.random_regular(num_ranks, degree, seed=seed)
        for name in names:
            if not nuice.find_scheduler(name).why_not(matrix):
                made.setdefault(name, []).append(nuice.make_schedule(matrix, name, seed))
    for name, plans in made.items():
        seconds = median(took for _, took in plans)
        yield {
            "ranks": num_ranks,
            "degree": degree,
            "scheduler": name,
            "samples": samples,
            "phases": mean(schedule.num_phases for schedule, _ in plans),
            "plan_seconds": seconds,
            "ns_per_message": seconds * 1e9 / (num_ranks * degree),
            "counted_to_measured": nuice.planning_cost_s(matrix, name) / seconds,
        }


def rows(options):
    table4 = {(row["ranks"], row["degree"]): row["phases"] for row in printed_tables.table("003_table4")}
    table23 = {row["degree"]: row for row in printed_tables.table("003_tables2_3_plans")}
    names = options.schedulers
    if names == ["all"]:
        names = [row.name for row in nuice.schedulers()]
    for num_ranks, degree in [(n, d) for n in options.ranks for d in degrees_for(n)]:
        # Large cases need few samples, because in 003 all samples were within 10 % of the mean.
        few = max(1, min(options.samples, 200_000 // (num_ranks * degree)))
        for figure in measure(num_ranks, degree, few, names):
            name = figure["scheduler"]
            paper = table4.get((num_ranks, degree)) if name in ("cgm", "rs_n") else None
            if num_ranks == 32 and degree in table23 and name in ("lp", "gm", "cgm"):
                paper = table23[degree][f"{name}_phases"]
            yield figure | {"paper_phases": paper}


def growth(rows):
    """Returns cgm's cost over d n ln d, which is the same everywhere if the claim holds."""
    cgm = [row for row in rows if row["scheduler"] == "cgm" and row["degree"] >= 4]
    costs = [1e9 * r["plan_seconds"] / (r["degree"] * r["ranks"] * math.log(r["degree"])) for r in cgm]
    if costs:
        spread = f"{min(costs):.2f} to {max(costs):.2f} ns per d n ln d, median {median(costs):.2f}"
        yield f"cgm, d >= 4: {spread}"
    ratios = sorted(row["counted_to_measured"] for row in rows)
    middle = ratios[len(ratios) // 20 : len(ratios) - len(ratios) // 20]
    yield (
        f"the adviser's S, counted, over make alone: {middle[0]:.2f} to {middle[-1]:.2f}, nine of ten; "
        f"median {median(ratios):.2f}"
    )


def phases_cell(row):
    paper = row["paper_phases"]
    return f"{row['phases']:.1f}" + ("" if paper is None else f" [{paper:g}]")


INDEX = "ranks | d = degree"
CASE = Case(
    rows,
    options=dict(
        samples=20, ranks=[32, 128, 512, 1024], schedulers=["ac", "lp", "gm", "cgm", "rs_n", "coloring"]
    ),
    quick=dict(ranks=[32], samples=2),
    minutes=2,
    tables=[
        Table("mean phases [printed in 003 tables 2-4]", INDEX, across="scheduler", cell=phases_cell),
        Table(
            "planning, milliseconds (nanoseconds per message)",
            INDEX,
            across="scheduler",
            cell=lambda row: f"{row['plan_seconds'] * 1e3:.3f} ({row['ns_per_message']:.0f})",
        ),
    ],
    notes=growth,
)

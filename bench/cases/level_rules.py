# SPDX-License-Identifier: BSD-3-Clause
"""Which level rule of RS_NH gives the phases that 004 prints? Tables 5 and 6 against many readings.

The papers say that each phase has a cutoff size and that larger messages send a part (000 s.3.3, 004 s.3.3),
but not how the size is chosen. Three families are tried. "of the sizes": the level is a function of the
sizes in the phase. "global": one level for all phases, a number of units or a function of all sizes. "room":
a message may be split only if its ranks have `margin` fewer messages left than the busiest rank; the level
is the largest message that may not be split. The table shows by how many percent the phases grow over
RS_N's, and in brackets the phase bytes over RS_N's. The matrices have 32 ranks: every rank has d messages of
1 to 32 units (table 5), or points in a square exchange more with nearer neighbours, up to 36, 99 and 276
units (as table 6: 3 to 15 messages per rank, 9 on average).
"""

from statistics import mean

import nuice
from kit import Case, Table
from nuice_papers.experiments.level_rules import PRINTED, RULES, cases, rs_nh


def measure(make, rule, samples):
    plain, ours = [], []
    for seed in range(samples):
        matrix = make(seed)
        schedule, _ = nuice.make_schedule(matrix, "rs_n", seed)
        plain.append((schedule.num_phases, nuice.phase_bytes(schedule)))
        level_of = rule(matrix) if getattr(rule, "is_global", False) else rule
        ours.append(rs_nh(matrix, level_of, seed))
    columns = zip(zip(*ours, strict=True), zip(*plain, strict=True), strict=True)
    phases, phase_bytes = (mean(o) / mean(p) for o, p in columns)
    return {"more_percent": 100 * (phases - 1), "bytes_of_rs_n": phase_bytes}


def rows(options):
    for rule in RULES:
        for case, make in cases():
            figure = {"rule": rule, "case": case, "printed_percent": PRINTED[case]}
            yield figure | measure(make, RULES[rule], options.samples)


def printed(rows):
    yield "printed in 004: " + ", ".join(f"{case} {percent}" for case, percent in PRINTED.items())


CASE = Case(
    rows,
    options=dict(samples=40),
    quick=dict(samples=2),
    minutes=3,
    tables=Table(
        "phases beyond those of rs_n, percent (phase bytes over those of rs_n)",
        "level = rule",
        across="case",
        cell=lambda row: f"{row['more_percent']:.0f} ({row['bytes_of_rs_n']:.2f})",
    ),
    notes=printed,
)

# SPDX-License-Identifier: BSD-3-Clause
"""Messages of unequal size: rs_n and rs_nh compared with 004 tables 5 and 6, and their phase bytes.

32 ranks. Table 5: random matrices, every rank sends d messages of 1 to 32 units. Table 6: airfoil meshes;
NUICE's are not the papers', so only the ratios of rs_nh to rs_n compare there. Planning times are of one core
of this machine, the papers' of a CM-5 node of 1993.
"""

from statistics import mean, median

import nuice
from kit import Case, Column, Table
from kit.patterns import airfoil
from nuice_papers import printed_tables

NUM_RANKS = 32
SCHEDULERS = ("rs_n", "rs_nh")


def random_matrix(degree, seed):
    return nuice.random_regular(NUM_RANKS, degree, unit_bytes=1024, max_units=32, seed=seed)


def mesh_matrix(points, seed):
    """Returns the matrix of a mesh, with another partition for every seed."""
    return airfoil(points, NUM_RANKS, seed=seed)


def measure(case, make, samples):
    """Returns one figure per scheduler: means over the matrices, and the median planning time."""
    plans = {name: [] for name in SCHEDULERS}
    for seed in range(samples):
        matrix = make(case, seed)
        for name in SCHEDULERS:
            plans[name].append(nuice.plan(matrix, name, seed, repeat=3))
    paper = next(row for row in printed_tables.table("004_tables5_6_plans") if row["case"] == case)
    base = median(p.plan_seconds for p in plans["rs_n"])
    for name, made in plans.items():
        seconds = median(p.plan_seconds for p in made)
        yield {
            "case": case,
            "scheduler": name,
            "samples": samples,
            "phases": mean(p.phases for p in made),
            "plan_seconds": seconds,
            "to_rs_n": seconds / base,
            "bytes_of_bound": mean(p.phase_bytes / p.bounds.max_port_bytes for p in made),
            "paper_phases": float(paper[f"{name}_phases"]),
            "paper_ms": float(paper[f"{name}_ms"]),
            "paper_to_rs_n": paper[f"{name}_ms"] / paper["rs_n_ms"],
        }


def rows(options):
    for degree in (4, 16, 31):
        yield from measure(degree, random_matrix, options.samples)
    for points in () if options.quick else (2800, 9428, 53961):
        yield from measure(points, mesh_matrix, options.samples)


CASE = Case(
    rows,
    options=dict(samples=50),
    quick=dict(samples=2),
    minutes=2,
    tables=Table(
        "unequal sizes, 32 ranks [004 tables 5, 6]",
        "d or points = case | scheduler",
        Column("phases", lambda row: f"{row['phases']:.2f} [{row['paper_phases']:g}]"),
        "planning, ms = plan_seconds*1e3 .4f",
        Column("times rs_n", lambda row: f"{row['to_rs_n']:.1f} [{row['paper_to_rs_n']:.1f}]"),
        "phase bytes / bound = bytes_of_bound .2f",
    ),
)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Phases and planning time of every scheduler beside what 003 tables 2, 3 and 4 print, and the cost's growth.

Every rank sends d messages and receives d (003 fig. 7). Planning time is that of `make` alone, on one core of
this machine; the papers' is of a CM-5 node of 1993, so only phases and growth compare.

usage: planning.py [--samples 20] [--ranks 32,128,512,1024] [--schedulers ac,lp,...] [--quick] [--json]
"""

import argparse
import csv
import json
import math
from pathlib import Path
from statistics import mean, median

from rich.console import Console
from rich.progress import track
from rich.table import Table

import nuice
import nuice_papers

DATA = Path(nuice_papers.__file__).parent / "data/printed"
DEGREES = [1, 2, 4, 8, 16, 24, 31, 32, 64, 96, 127, 128, 256, 384, 511, 1023]


def printed(name):
    """Rows of a CSV file of printed figures, as numbers; lines with # are its source."""
    lines = [line for line in (DATA / name).read_text().splitlines() if not line.startswith("#")]
    return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(lines)]


def degrees_for(num_ranks):
    """Those of table 4 for its numbers of ranks, and the like for others."""
    of_paper = [int(row["degree"]) for row in printed("003_table4.csv") if row["ranks"] == num_ranks]
    return of_paper or [d for d in DEGREES if d < num_ranks and (d & (d - 1) == 0 or d == num_ranks - 1)]


def measure(num_ranks, degree, samples, names):
    """One figure per scheduler: mean phases and median seconds over `samples` matrices."""
    phases = {}
    seconds = {}
    refused = {}
    for seed in range(samples):
        matrix = nuice.random_regular(num_ranks, degree, seed=seed)
        for scheduler in map(nuice.find_scheduler, names):
            if reason := scheduler.why_not(matrix):
                refused[scheduler.name] = reason
                continue
            schedule, took = nuice.make_schedule(matrix, scheduler.name, seed)
            phases.setdefault(scheduler.name, []).append(schedule.num_phases)
            seconds.setdefault(scheduler.name, []).append(took)
    messages = num_ranks * degree
    return [
        {
            "ranks": num_ranks,
            "degree": degree,
            "scheduler": name,
            "samples": samples,
            "phases": mean(phases[name]),
            "plan_seconds": median(seconds[name]),
            "ns_per_message": median(seconds[name]) * 1e9 / messages,
        }
        for name in phases
    ]


def all_figures(ranks, samples, names):
    table4 = {(row["ranks"], row["degree"]): row["phases"] for row in printed("003_table4.csv")}
    table23 = {row["degree"]: row for row in printed("003_tables2_3_plans.csv")}
    cases = [(n, d) for n in ranks for d in degrees_for(n)]
    figures = []
    for num_ranks, degree in track(cases, "planning", console=Console(stderr=True), transient=True):
        # Large cases are stable from few samples: 003 found all within 10 % of the mean.
        few = max(1, min(samples, 200_000 // (num_ranks * degree)))
        for figure in measure(num_ranks, degree, few, names):
            name = figure["scheduler"]
            paper = table4.get((num_ranks, degree)) if name in ("cgm", "rs_n") else None
            if num_ranks == 32 and degree in table23 and name in ("lp", "gm", "cgm"):
                paper = table23[degree][f"{name}_phases"]
            figures.append(figure | {"paper_phases": paper})
    return figures


def growth(figures):
    """cgm's cost against d n ln d (003 s.4): if the claim holds, the quotient is the same everywhere."""
    return [
        {
            "ranks": f["ranks"],
            "degree": f["degree"],
            "ns_per_dn_ln_d": f["plan_seconds"] * 1e9 / (f["degree"] * f["ranks"] * math.log(f["degree"])),
        }
        for f in figures
        if f["scheduler"] == "cgm" and f["degree"] >= 4
    ]


def print_tables(figures):
    console = Console(width=120)
    names = list(dict.fromkeys(f["scheduler"] for f in figures))
    by_case = {}
    for figure in figures:
        by_case.setdefault((figure["ranks"], figure["degree"]), {})[figure["scheduler"]] = figure
    phases = Table(title="mean phases (printed in 003 tables 2-4 in brackets)")
    times = Table(title="planning, milliseconds (nanoseconds per message)")
    for table in (phases, times):
        for column in ["ranks", "d", *names]:
            table.add_column(column, justify="right")
    for (num_ranks, degree), row in by_case.items():
        cells = [row.get(name) for name in names]
        phases.add_row(str(num_ranks), str(degree), *[phases_cell(cell) for cell in cells])
        times.add_row(str(num_ranks), str(degree), *[time_cell(cell) for cell in cells])
    console.print(phases)
    console.print(times)
    quotients = [g["ns_per_dn_ln_d"] for g in growth(figures)]
    if quotients:
        console.print(
            f"cgm, d >= 4: {min(quotients):.2f} to {max(quotients):.2f} ns per d n ln d, "
            f"median {median(quotients):.2f}"
        )


def phases_cell(figure):
    if figure is None:
        return "-"
    paper = figure["paper_phases"]
    return f"{figure['phases']:.1f}" + (f" [{paper:g}]" if paper is not None else "").replace("[", "\\[")


def time_cell(figure):
    return "-" if figure is None else f"{figure['plan_seconds'] * 1e3:.3f} ({figure['ns_per_message']:.0f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--samples", type=int, default=20, help="matrices per case (fewer for very large ones)"
    )
    parser.add_argument("--ranks", default="32,128,512,1024", help="comma-separated numbers of ranks")
    parser.add_argument("--schedulers", default="ac,lp,gm,cgm,rs_n,coloring", help="comma-separated; or all")
    parser.add_argument("--quick", action="store_true", help="two samples of 32 ranks: only whether it works")
    parser.add_argument("--json", action="store_true", help="one JSON object per line and nothing else")
    options = parser.parse_args()
    ranks = [32] if options.quick else [int(word) for word in options.ranks.split(",")]
    every = [row.name for row in nuice.schedulers()]
    names = every if options.schedulers == "all" else options.schedulers.split(",")
    figures = all_figures(ranks, 2 if options.quick else options.samples, names)
    if options.json:
        for figure in figures:
            print(json.dumps(figure))
    else:
        print_tables(figures)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Messages of unequal size: rs_n and rs_nh beside what 004 tables 5 and 6 print, and their phase bytes.

32 ranks. Table 5: random matrices, every rank sends d messages of 1 to 32 units. Table 6: airfoil meshes;
ours are not the papers', so only the ratios of rs_nh to rs_n compare there. Planning times are of one core of
this machine, the papers' of a CM-5 node of 1993.

usage: unequal_sizes.py [--samples 50] [--quick] [--json]
"""

import argparse
import csv
import json
from pathlib import Path
from statistics import mean, median

from rich.console import Console
from rich.table import Table

import nuice
import nuice_papers

DATA = Path(nuice_papers.__file__).parent / "data/printed/004_tables5_6_plans.csv"
NUM_RANKS = 32
DEGREES = (4, 16, 31)
MESHES = (2800, 9428, 53961)
SCHEDULERS = ("rs_n", "rs_nh")


def printed():
    """Rows of the printed tables by case."""
    lines = [line for line in DATA.read_text().splitlines() if not line.startswith("#")]
    return {int(row["case"]): row for row in csv.DictReader(lines)}


def random_matrices(degree, samples):
    for seed in range(samples):
        yield nuice.random_regular(NUM_RANKS, degree, unit_bytes=1024, max_units=32, seed=seed)


def mesh_matrices(points, samples):
    """Other partitions of one mesh."""
    from nuice import airfoil

    mesh = airfoil.airfoil_mesh(points)
    for seed in range(samples):
        yield airfoil.halo_matrix(mesh, airfoil.partition(mesh, NUM_RANKS, seed), NUM_RANKS)


def measure(case, matrices):
    """One figure per scheduler: means over the matrices, and the median planning time."""
    plans = {name: [] for name in SCHEDULERS}
    for seed, matrix in enumerate(matrices):
        for name in SCHEDULERS:
            plans[name].append(nuice.plan(matrix, name, seed, repeat=3))
    paper = printed()[case]
    for name in SCHEDULERS:
        yield {
            "case": case,
            "scheduler": name,
            "samples": len(plans[name]),
            "phases": mean(p.phases for p in plans[name]),
            "plan_seconds": median(p.plan_seconds for p in plans[name]),
            "bytes_of_bound": mean(p.phase_bytes / p.bounds.max_port_bytes for p in plans[name]),
            "paper_phases": float(paper[f"{name}_phases"]),
            "paper_ms": float(paper[f"{name}_ms"]),
        }


def print_table(figures):
    table = Table(title="unequal sizes, 32 ranks (004 tables 5, 6 in brackets)")
    for column in ("d or points", "scheduler", "phases", "planning, ms", "times rs_n", "phase bytes / bound"):
        table.add_column(column, justify="right")
    base = {f["case"]: f for f in figures if f["scheduler"] == "rs_n"}
    for f in figures:
        rs_n = base[f["case"]]
        table.add_row(
            str(f["case"]),
            f["scheduler"],
            f"{f['phases']:.2f} \\[{f['paper_phases']:g}]",
            f"{f['plan_seconds'] * 1e3:.4f}",
            f"{f['plan_seconds'] / rs_n['plan_seconds']:.1f} \\[{f['paper_ms'] / rs_n['paper_ms']:.1f}]",
            f"{f['bytes_of_bound']:.2f}",
        )
    Console(width=100).print(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=50, help="matrices per case")
    parser.add_argument("--quick", action="store_true", help="two random matrices per case")
    parser.add_argument("--json", action="store_true", help="one JSON object per line and nothing else")
    options = parser.parse_args()
    samples = 2 if options.quick else options.samples
    figures = [f for d in DEGREES for f in measure(d, random_matrices(d, samples))]
    if not options.quick:
        figures += [f for points in MESHES for f in measure(points, mesh_matrices(points, samples))]
    if options.json:
        for figure in figures:
            print(json.dumps(figure))
    else:
        print_table(figures)


if __name__ == "__main__":
    main()

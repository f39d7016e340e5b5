#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How many phases it takes to keep links free: rs_nl, link_coloring, the bound, and not looking at links.

Random matrices in which every rank sends and receives d messages (003 fig. 7), on three networks of 64 ranks;
then large ones, for the time to plan. coloring and rs_n do not look at links: their figure is rounds, that is
phases, if transfers that share a link wait for each other. The bound is the larger one of ports and busiest
link. Counts are means over the matrices, times medians; every schedule is checked.

usage: link_free.py [--samples 10] [--quick] [--json]
"""

import argparse
import json
from statistics import mean, median

from rich.console import Console
from rich.progress import track
from rich.table import Table

import nuice

NETWORKS = ("hypercube:6", "torus:8x8", "fattree:8x8/2")
DEGREES = (4, 8, 16, 24, 32, 48)
LARGE = (
    ("hypercube:10", 32),
    ("torus:32x32", 32),
    ("fattree:32x32/2", 32),
    ("cm5:1024", 32),
    ("dragonfly:a=8,h=4,p=4", 32),
    ("hypercube:10", 1023),
)
NAMES = ("coloring", "rs_n", "rs_nl", "rs_nlh", "link_coloring")


def measure(spec, degree, samples):
    net = nuice.make_topology(spec)
    plans = {name: [] for name in NAMES}
    bounds = []
    for seed in range(samples):
        matrix = nuice.random_regular(net.num_ranks, degree, seed=seed)
        ports, links = nuice.lower_bounds(matrix), nuice.link_bounds(matrix, net)
        bounds.append(max(ports.max_degree, links.phases))
        for name in NAMES:
            plan = nuice.plan(matrix, name, seed, topology=net)
            if not plan.verified:
                raise SystemExit(f"{spec}, d = {degree}: {name} is wrong: {plan.violation.text}")
            plans[name].append(plan)
    return {
        "network": spec,
        "ranks": net.num_ranks,
        "degree": degree,
        "samples": samples,
        "bound": mean(bounds),
        **{f"{name}_rounds": mean(p.link_rounds for p in plans[name]) for name in NAMES},
        **{f"{name}_seconds": median(p.plan_seconds for p in plans[name]) for name in NAMES},
        "at_bound": mean(
            plan.phases == bound for plan, bound in zip(plans["link_coloring"], bounds, strict=True)
        ),
    }


def all_figures(options):
    if options.quick:
        cases = [("hypercube:4", 8, 2), ("torus:4x4", 8, 2), ("fattree:4x4/2", 8, 2)]
    else:
        cases = [(spec, d, options.samples) for spec in NETWORKS for d in DEGREES]
        cases += [(spec, d, max(1, min(3, options.samples))) for spec, d in LARGE]
    for case in track(cases, "planning", console=Console(stderr=True), transient=True):
        yield measure(*case)


def print_tables(figures):
    console = Console(width=150)
    table = Table(title="rounds; in brackets: / bound")
    for column in ("network", "d", "bound", *NAMES, "at the bound"):
        table.add_column(column, justify="left" if column == "network" else "right")
    for f in figures:
        counts = [f"{f[f'{name}_rounds']:.1f} ({f[f'{name}_rounds'] / f['bound']:.2f})" for name in NAMES]
        table.add_row(
            f["network"], str(f["degree"]), f"{f['bound']:.1f}", *counts, f"{100 * f['at_bound']:.0f} %"
        )
    console.print(table)
    table = Table(title="milliseconds to plan")
    for column in ("network", "d", *NAMES):
        table.add_column(column, justify="left" if column == "network" else "right")
    for f in figures:
        times = [f"{1e3 * f[f'{name}_seconds']:.3f}" for name in NAMES]
        table.add_row(f["network"], str(f["degree"]), *times)
    console.print(table)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=10, help="matrices per case (3 for large ones)")
    parser.add_argument("--quick", action="store_true", help="small networks: only whether it works")
    parser.add_argument("--json", action="store_true", help="one JSON object per line and nothing else")
    options = parser.parse_args()
    figures = list(all_figures(options))
    if options.json:
        for figure in figures:
            print(json.dumps(figure))
    else:
        print_tables(figures)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: BSD-3-Clause
"""The number of phases that keep links free: rs_nl, link_coloring, the bound, and schedulers that ignore
links.

Random matrices in which every rank sends and receives d messages (003 fig. 7), on three networks of 64
ranks; then large matrices, for the time to plan. coloring and rs_n ignore links: their figure is rounds,
that is, phases if transfers that share a link wait for each other. The bound is the larger one of ports and
busiest link. Counts are means over the matrices, times medians; every schedule is checked.
"""

from statistics import mean, median

import nuice
from kit import Case, Column, Table
from kit.patterns import planned

NETWORKS = ("hypercube:6", "torus:8x8", "fattree:8x8/2")
DEGREES = (4, 8, 16, 24, 32, 48)
LARGE = [(name, 32) for name in ("hypercube:10", "torus:32x32", "fattree:32x32/2", "cm5:1024")]
LARGE += [("dragonfly:a=8,h=4,p=4", 32), ("hypercube:10", 1023)]
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
            plans[name].append(planned(matrix, name, seed, topology=net))
    reached = [plan.phases == bound for plan, bound in zip(plans["link_coloring"], bounds, strict=True)]
    return {
        "network": spec,
        "ranks": net.num_ranks,
        "degree": degree,
        "samples": samples,
        "bound": mean(bounds),
        **{f"{name}_rounds": mean(p.link_rounds for p in plans[name]) for name in NAMES},
        **{f"{name}_seconds": median(p.plan_seconds for p in plans[name]) for name in NAMES},
        "at_bound": mean(reached),
    }


def rows(options):
    if options.quick:
        cases = [("hypercube:4", 8, 2), ("torus:4x4", 8, 2), ("fattree:4x4/2", 8, 2)]
    else:
        cases = [(spec, d, options.samples) for spec in NETWORKS for d in DEGREES]
        cases += [(spec, d, max(1, min(3, options.samples))) for spec, d in LARGE]
    for case in cases:
        yield measure(*case)


def rounds(name):
    key = f"{name}_rounds"
    return Column(name, lambda row: f"{row[key]:.1f} ({row[key] / row['bound']:.2f})")


INDEX = "network | d = degree | bound .1f"
TIMES = " | ".join(f"{name} = {name}_seconds*1e3 .3f" for name in NAMES)
CASE = Case(
    rows,
    options=dict(samples=10),
    minutes=3,
    tables=[
        Table("rounds; in brackets: / bound", INDEX, *map(rounds, NAMES), "at the bound = at_bound .0%"),
        Table("milliseconds to plan", INDEX, TIMES),
    ],
)

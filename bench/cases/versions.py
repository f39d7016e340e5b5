# SPDX-License-Identifier: BSD-3-Clause
"""Two builds of nuice-bench on the same exchanges, alternately, to see whether a change costs time.

Each round starts both builds on this machine (8 ranks, shared memory) and on the requested test networks.
MPI's own sends (isend), which are the same in both, show the machine's state. For each case and method the
table has the median of both builds, the median over the rounds of their ratio, and this ratio over that of
isend in the same round. Below 1 the new build is faster.
"""

from statistics import median

from kit import LOAD, MEDIAN, CannotRun, Case, Table, in_turns, median_ratio, middle, place
from kit.patterns import of_network

CONTROL = "isend"
METHODS = [CONTROL, "ac", "coloring:phased", "coloring:async"]
HERE = {"hosts": 8, "ranks_per_host": 1, "uplink": None}


def ratios(old, new, method):
    return [n[method][MEDIAN] / o[method][MEDIAN] for o, n in zip(old, new, strict=True)]


def measure(where, options):
    more = ["--settle", 1, "--warmup", 1] if where.settings else []
    for name, matrix in of_network(where.settings or HERE, options.quick):
        if name not in ("d=8, 64 KiB", "airfoil 9428"):
            continue

        def start(program, matrix=matrix):
            records = where.bench(matrix, METHODS, options.reps, *more, program=program)
            return {record["method"]: record for record in records}

        old, new = in_turns(options.rounds, lambda: start(options.old), lambda: start(options.new))
        control = ratios(old, new, CONTROL)
        for method in METHODS:
            changed = ratios(old, new, method)
            yield {
                "where": where.name,
                "case": name,
                "method": method,
                "old_s": middle(record[method] for record in old),
                "new_s": middle(record[method] for record in new),
                "new_to_old": median(changed),
                "to_control": median_ratio(changed, control),
            }


def rows(options):
    if not options.old:
        raise CannotRun("name the nuice-bench of the build before: --old PROGRAM")
    for preset in ["", *options.presets]:
        with place(preset, HERE["hosts"]) as where:
            yield from measure(where, options)


CASE = Case(
    rows,
    needs=["mpi", "build"],
    options=dict(
        old=("", "nuice-bench of the build before"),
        new=("", "of the build after, by default the one of this tree"),
        presets=[],
        rounds=7,
        reps=9,
    ),
    quick=dict(rounds=1, reps=1),
    minutes=5,
    tables=Table(
        "new over old, medians of {o.rounds} rounds of {o.reps} repetitions",
        "where | case | method | old ms = old_s*1e3 .2f | new ms = new_s*1e3 .2f",
        "new / old = new_to_old .2f | over isend's = to_control .2f",
        LOAD,
    ),
)

# SPDX-License-Identifier: BSD-3-Clause
"""Chosen paths on real contention: eight leaves of two hosts, two spines (docs/how-to/testbed.md, fabric2).

Turn by turn the same program, with new connections each: once the leaves spread connections by a hash, once
every pair of hosts takes the spine that clos_coloring chose for its message. Real TCP; medians of the turns.
`faster` is the median of each turn's hash over chosen, `bound` what the busiest port needs for its bytes.
"""

from statistics import median

import nuice
from kit import KIB, MEDIAN, Case, Table, network, scratch, testbed
from kit.patterns import uniform

TOPOLOGY = "fattree:2x8"
METHODS = ["isend", "alltoallv", "coloring:async@blind", "clos_coloring:async", "clos_coloring:barrier"]
PATTERNS = {
    "d = 8, 64 KiB": lambda n: uniform(n, 8, 64 * KIB),
    "d = 8, 8 to 256 KiB": lambda n: uniform(n, 8, 8 * KIB, 32),
}


def turn(where, matrix, ways, options):
    testbed("ways", *ways)
    more = ["--topology", TOPOLOGY, "--settle", 1, "--warmup", 1]
    records = where.bench(matrix, METHODS, options.reps, *more, program=options.bench)
    for record in records:
        assert record["verified"] is not False, record
    return {r["method"]: (r[MEDIAN], r["tcp_segments_sent_again"]) for r in records}


def measure(where, name, matrix, options, folder):
    plan = nuice.plan(matrix, "clos_coloring", topology=nuice.make_topology(TOPOLOGY))
    file = folder / "paths.plan"
    plan.save(file)
    turns = []
    for number in range(options.turns):
        kinds = [("hash", []), ("chosen", [str(file)])]
        turns.append(
            {kind: turn(where, matrix, ways, options) for kind, ways in kinds[:: -1 if number % 2 else 1]}
        )
    bound_s = nuice.lower_bounds(matrix).max_port_bytes / where.host_bytes_per_s
    for method in METHODS:
        hashed, chosen = ([t[kind][method] for t in turns] for kind in ("hash", "chosen"))
        yield {
            "pattern": name,
            "method": method,
            "phases": plan.phases,
            "bound_s": bound_s,
            "hash_s": median(h[0] for h in hashed),
            "chosen_s": median(c[0] for c in chosen),
            "hash_to_bound": median(h[0] for h in hashed) / bound_s,
            "chosen_to_bound": median(c[0] for c in chosen) / bound_s,
            "faster": median(h[0] / c[0] for h, c in zip(hashed, chosen, strict=True)),
            "hash_sent_again": median(h[1] for h in hashed),
            "chosen_sent_again": median(c[1] for c in chosen),
            "hash_all_s": [h[0] for h in hashed],
            "chosen_all_s": [c[0] for c in chosen],
        }


def rows(options):
    with network("--preset", "fabric2", name="fabric2") as where, scratch() as folder:
        for name, make in PATTERNS.items():
            yield from measure(where, name, make(where.ranks), options, folder)


CASE = Case(
    rows,
    needs=["mpi", "testbed"],
    options=dict(turns=(7, "of both, each with new connections"), reps=5, bench=""),
    quick=dict(turns=1, reps=2),
    minutes=12,
    tables=Table(
        "{row[pattern]}: bound {row[bound_s]:.3f} s, {row[phases]} phases; {o.turns} turns of {o.reps}",
        "method | hash ms = hash_s*1e3 .0f | hash / bound = hash_to_bound .2f",
        "chosen ms = chosen_s*1e3 .0f | chosen / bound = chosen_to_bound .2f | faster .2f",
        "retransmitted, hash = hash_sent_again .0f | chosen = chosen_sent_again .0f",
        each="pattern",
    ),
)

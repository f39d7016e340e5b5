# SPDX-License-Identifier: BSD-3-Clause
"""004, tables 1 to 6 (figures 7 to 9 draw tables 4 to 6): RS_N, RS_NH and DRS_N on a 32-node CM-5."""

from __future__ import annotations

from collections.abc import Callable

from .. import _core, papers
from .._core import CommMatrix
from . import patterns
from .paper003 import MACHINE, planning_ms
from .report import Claim, Part, Reproduction
from .runs import Lab
from .tables import Row, cells, printed, renamed

RAW = "cm5-32/raw"  # messages without the package
Make = Callable[[Row, int], CommMatrix]


def table1(lab: Lab, quick: bool) -> Reproduction:
    """The example matrix: its schedules have the degree as a bound."""
    pairs = [(row["src"], row["dst"]) for row in papers.table("004_table1")]
    matrix = patterns.from_pairs(8, pairs, 1024)
    sent = [len(matrix.sent_by(rank)) for rank in range(8)]
    phases = {a: _core.make_schedule(matrix, a, 0)[0].num_phases for a in ("lp", "rs_n", "coloring")}
    return Reproduction(
        "004-table1",
        "the example of 8 processors",
        claims=[
            Claim("P0 sends three messages, P4 five", (sent[0], sent[4]) == (3, 5), f"all: {sent}"),
            Claim(
                "processors 0, 1, 3, 4 and 6 all have a message for P2",
                all(matrix.find(src, 2) is not None for src in (0, 1, 3, 4, 6)),
                f"senders to P2: {[matrix.message(i)[0] for i in matrix.received_by(2)]}",
            ),
            Claim(
                "it decomposes into partial permutations",
                phases["coloring"] == max(*sent, *(len(matrix.received_by(r)) for r in range(8))),
                ", ".join(f"{name} {count} phases" for name, count in phases.items()),
            ),
        ],
    )


def table2(lab: Lab, quick: bool) -> Reproduction:
    """Node contention: many senders, one receiver."""
    rows = printed("004_table2", quick, "senders", (1, 8, 31))

    def ours(row: Row, column: str) -> float:
        return lab.run(RAW, "ac", patterns.to_one(row["senders"], row["bytes"]), 0)

    found = cells(rows, ("bytes", "senders"), ("recv_ms",), ours, fitted=lambda *_: True)
    return Reproduction(
        "004-table2",
        "node contention on a 32-node CM-5: several senders, one receiver",
        [Part("until the receiver has everything", "ms", found)],
    )


def table3(lab: Lab, quick: bool) -> Reproduction:
    """Making the receiving vectors: only printed numbers; the control network is not modelled."""
    rows = papers.table("004_table3")
    return Reproduction(
        "004-table3",
        "making the receiving vectors",
        claims=[
            Claim(
                "active messages beat the global concatenation on all machines and densities",
                all(row["am_ms"] < row["concat_ms"] for row in rows),
                f"printed: {min(r['concat_ms'] / r['am_ms'] for r in rows):.1f} to "
                f"{max(r['concat_ms'] / r['am_ms'] for r in rows):.0f} times",
            )
        ],
        notes=["not simulated: both run on the CM-5's control network, which no machine description has"],
    )


def table4(lab: Lab, quick: bool) -> Reproduction:
    """Messages of one size."""
    return _exchange(
        lab,
        "004-table4",
        "messages of one size on a 32-node CM-5",
        printed("004_table4", quick, "bytes", (16, 16384, 1024)),
        ("degree", "bytes"),
        ("ac", "lp", "rs_n", "drs_n"),
        lambda row, seed: patterns.uniform(row["degree"], row["bytes"], seed),
        lambda row: row["bytes"],
        _plans("004_table4_plans", "degree", lambda row, seed: patterns.uniform(row["degree"], 1024, seed)),
        lab.seeds,
    )


def table5(lab: Lab, quick: bool) -> Reproduction:
    """Messages of 1 to 32 units."""
    plans = [r | {"degree": r["case"]} for r in papers.table("004_tables5_6_plans") if r["case"] < 32]
    return _exchange(
        lab,
        "004-table5",
        "messages of 1 to 32 units on a 32-node CM-5",
        printed("004_table5", quick, "unit_bytes", (32, 64, 1024)),
        ("degree", "unit_bytes"),
        ("ac", "lp", "rs_n", "drs_n", "rs_nh"),
        lambda row, seed: patterns.non_uniform(row["degree"], row["unit_bytes"], seed),
        lambda row: 32 * row["unit_bytes"],
        (plans, "degree", ("rs_n", "rs_nh"), lambda row, s: patterns.non_uniform(row["degree"], 1024, s)),
        lab.seeds,
    )


def table6(lab: Lab, quick: bool) -> Reproduction:
    """Airfoil meshes."""
    plans = [r | {"points": r["case"]} for r in papers.table("004_tables5_6_plans") if r["case"] > 32]
    result = _exchange(
        lab,
        "004-table6",
        "airfoil meshes on a 32-node CM-5",
        printed("004_table6", quick, "unit_bytes", (16, 256)),
        ("points", "unit_bytes"),
        ("ac", "lp", "rs_n", "drs_n", "rs_nh"),
        lambda row, seed: patterns.like_mesh(row["points"], row["unit_bytes"], seed),
        lambda row: patterns.mesh_numbers(row["points"])["length_max"] * row["unit_bytes"],
        (plans, "points", ("rs_n", "rs_nh"), lambda row, s: patterns.like_mesh(row["points"], 1024, s)),
        lab.seeds,
    )
    note = "patterns with the printed numbers and lengths of messages; the papers' meshes are not available"
    return Reproduction(result.name, result.title, result.parts, result.claims, [note])


def _plans(name: str, key: str, make: Make):
    return papers.table(name), key, ("lp", "rs_n"), make


def _exchange(lab, name, title, rows, keys, algorithms, make: Make, largest, plans, samples) -> Reproduction:
    """Times of every row and algorithm; phases and planning time per pattern."""
    times = cells(
        rows,
        keys,
        algorithms,
        lambda row, a: lab.mean_ms(MACHINE, a, lambda seed: make(row, seed)),
        largest=largest,
    )
    planned, key, scheduled, make_planned = plans
    phases = cells(
        [renamed(row, "_phases") for row in planned],
        (key,),
        scheduled,
        lambda row, a: lab.mean_phases(a, lambda seed: make_planned(row, seed)),
    )
    milliseconds = cells(
        [renamed(row, "_ms") for row in planned],
        (key,),
        scheduled,
        lambda row, a: planning_ms(a, [make_planned(row, seed) for seed in range(samples)]),
    )
    return Reproduction(
        name,
        title,
        [
            Part("cost of the exchange", "ms", times),
            Part("phases", "phases", phases),
            Part("cost of scheduling", "ms", milliseconds, timed_here=True),
        ],
    )

# SPDX-License-Identifier: BSD-3-Clause
"""004, tables 1 to 6 (figures 7 to 9 draw tables 4 to 6): RS_N, RS_NH and DRS_N on a 32-node CM-5."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median

from .. import _core, papers
from .._core import CommMatrix
from . import patterns
from .paper003 import MACHINE, planning_ms
from .report import Claim, Part, Reproduction
from .runs import EARLY_BYTES, Lab
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
    """Making the receiving vectors: the matrix gathered everywhere beside Generate_Recv (fig. 1)."""
    rows = printed("004_table3", quick, "ranks", (32,))

    def ours(row: Row, column: str) -> float:
        ranks = row["ranks"]
        if column == "concat_ms":
            return _rounds_ms(lab, ranks, [WORD * ranks * 2**k for k in range(_levels(ranks))])
        halves = [WORD * ranks // 2 ** (k + 1) for k in range(_levels(ranks))]
        return _rounds_ms(lab, ranks, halves) + _entries_ms(lab, ranks, row["degree"])

    found = cells(rows, ("ranks", "degree"), ("concat_ms", "am_ms"), ours)
    pairs = [(found[i], found[i + 1]) for i in range(0, len(found), 2)]
    printed_ratio = [concat.printed / am.printed for concat, am in pairs]
    our_ratio = [concat.ours / am.ours for concat, am in pairs]
    return Reproduction(
        "004-table3",
        "making the receiving vectors (simulated on the data network)",
        [Part("until every node has its vector", "ms", found)],
        [
            Claim(
                "active messages beat the global concatenation on all machines and densities",
                min(our_ratio) > 1,
                f"concatenation / active messages {min(our_ratio):.1f} to {max(our_ratio):.0f}, printed "
                f"{min(printed_ratio):.1f} to {max(printed_ratio):.0f}",
            )
        ],
        [
            "nothing fitted. Concatenation: recursive doubling, rows of 4-byte entries; vector sum: "
            "recursive halving; both by raw messages of the data network (004 table 2), as no machine "
            "description has the CM-5's control network; entries: one active message each (004 s.2.3)"
        ],
    )


WORD = 4  # bytes of an entry


def _levels(ranks: int) -> int:
    return (ranks - 1).bit_length()


def _rounds_ms(lab: Lab, ranks: int, sizes: list[int]) -> float:
    """Rounds one after the other: in round k everybody exchanges sizes[k] bytes with the rank that differs in
    bit k. All ranks do the same, so a round begins when the one before has ended."""
    total = 0.0
    for k, num_bytes in enumerate(sizes):
        pairs = [(rank, rank ^ 1 << k) for rank in range(ranks)]
        total += lab.run(_raw(ranks), "lp", patterns.from_pairs(ranks, pairs, num_bytes), 0)
    return total


def _entries_ms(lab: Lab, ranks: int, degree: int) -> float:
    """Everybody sends d active messages and takes d: their processor times and the way, nothing else."""
    machine = lab.machine(_raw(ranks))
    packets = machine.replace(
        topology=f"crossbar:{ranks}",
        send_overhead_s=machine.am_send_s,
        receive_overhead_s=machine.am_handler_s,
        latency_s=machine.am_latency_s,
        processor_moves_bytes=False,
        loss_per_sender=0.0,
        loss_per_sender_sending=0.0,
        byte_s=1e-12,  # moving its bytes is in the processor times
    )
    matrix = patterns.uniform(min(degree, ranks - 1), 16, 0, ranks)
    schedule = lab.schedule(RAW, "ac", matrix, 0)
    return 1e3 * _core.simulate_schedule(matrix, schedule, packets, "async", False).seconds


def _raw(ranks: int) -> str:
    return RAW if ranks == 32 else "cm5-256/raw"


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
    return Reproduction(result.name, result.title, result.parts, result.claims, [note, *result.notes])


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
        notes=[_forms_of_drs_n(lab, rows, make)],
    )


def _forms_of_drs_n(lab: Lab, rows, make: Make) -> str:
    """Beyond the paper: what DRS_N takes when the receiver keeps the refused in a list."""
    asked = []
    ratios: dict[str, list[float]] = {"drs_n:list": [], "drs_n:early": []}
    for row in rows:
        matrix = make(row, 0)
        refuse = lab.run_drs_n(MACHINE, "drs_n", matrix, 0)
        asked.append(refuse.inquiries / matrix.num_messages)
        for form, found in ratios.items():
            found.append(lab.run_drs_n(MACHINE, form, matrix, 0).seconds / refuse.seconds)
    words = [f"{median(found):.2f} ({min(found):.2f} to {max(found):.2f})" for found in ratios.values()]
    return (
        f"beyond the paper, one matrix a row: a list at the receiver takes {words[0]} of DRS_N's time, "
        f"granting when {EARLY_BYTES} bytes are to come {words[1]}; inquiries for a message: refusing "
        f"{median(asked):.1f} (up to {max(asked):.1f}), with a list 1"
    )

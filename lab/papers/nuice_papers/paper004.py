# SPDX-License-Identifier: BSD-3-Clause
"""004, tables 1 to 6 (figures 7 to 9 draw tables 4 to 6): RS_N, RS_NH and DRS_N on a 32-node CM-5."""

from __future__ import annotations

from collections.abc import Callable
from statistics import mean, median

from nuice._core import CommMatrix

from nuice import _core
from nuice.pattern_figures import like_mesh, mesh_numbers

from . import patterns, printed_tables
from .paper003 import MACHINE, planning_ms
from .paper004_winners import used_often, used_once
from .report import Claim, Part, Reproduction
from .runs import EARLY_BYTES, Lab
from .tables import Row, cells, printed, renamed

RAW = "cm5-32/raw"  # messages without the package
SPLITTING = ("lp", "rs_n", "rs_nh")
Make = Callable[[Row, int], CommMatrix]


def table1(lab: Lab, quick: bool) -> Reproduction:
    """The example matrix: its schedules have the degree as a bound."""
    pairs = [(row["src"], row["dst"]) for row in printed_tables.table("004_table1")]
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


IN_THE_NETWORK = (
    10 * 20
)  # bytes: it takes ten packets of a sender (002, note to s.6) before the receiver has any


def table2(lab: Lab, quick: bool) -> Reproduction:
    """Node contention: many senders, one receiver."""
    rows = printed("004_table2", quick, "senders", (1, 8, 31))

    def ours(row: Row, column: str) -> float:
        matrix = patterns.to_one(row["senders"], row["bytes"])
        received = lab.run(RAW, "ac", matrix, 0)
        if column == "recv_ms":
            return received
        machine = lab.machine(RAW)
        before = 1e3 * machine.send_overhead_s
        wire = row["bytes"] // machine.packet_payload * (machine.packet_payload + machine.packet_header)
        taken = max(0.0, 1 - IN_THE_NETWORK / wire)
        return before + taken * (received - before)

    columns = ("recv_ms", "send_max_ms", "send_min_ms", "send_average_ms")
    found = cells(rows, ("bytes", "senders"), columns, ours, fitted=lambda row, column: column == "recv_ms")
    parts = [
        Part("until the receiver has everything", "ms", [c for c in found if c.column == "recv_ms"]),
    ]
    for column, word in zip(columns[1:], ("last", "first", "average"), strict=True):
        of_column = [c for c in found if c.column == column]
        parts.append(Part(f"until the {word} sender is done", "ms", of_column))
    times = {c.row: c.ours for c in parts[0].cells}
    claims = []
    for num_bytes in (256, 4096):
        of_size = [t for row, t in times.items() if dict(row)["bytes"] == num_bytes]
        claims.append(
            Claim(
                f"{num_bytes} bytes: the more senders, the longer each of them takes",
                of_size == sorted(of_size),
                ", ".join(f"{t:.3g}" for t in of_size) + " ms",
            )
        )
    note = (
        "ours serve all senders alike, so they end together; a sender is done when its last ten packets are "
        "in the network. Printed senders of 256 bytes differ by a factor of two, and with 31 senders those "
        "in the receiver's cluster are done early"
    )
    return Reproduction(
        "004-table2",
        "node contention on a 32-node CM-5: several senders, one receiver",
        parts,
        claims,
        [note],
    )


def table3(lab: Lab, quick: bool) -> Reproduction:
    """Making the receiving vectors: the matrix gathered everywhere beside Generate_Recv (fig. 1)."""
    rows = printed("004_table3", quick, "ranks", (32,))
    machine = lab.machine(MACHINE)

    def ours(row: Row, column: str) -> float:
        if column == "concat_ms":
            return 1e3 * _core.concatenation_s(machine, row["ranks"])
        return 1e3 * _core.discovery_s(machine, row["ranks"], row["degree"])

    found = cells(rows, ("ranks", "degree"), ("concat_ms", "am_ms"), ours, fitted=lambda *_: True)
    pairs = [(found[i], found[i + 1]) for i in range(0, len(found), 2)]
    printed_ratio = [concat.printed / am.printed for concat, am in pairs]
    our_ratio = [concat.ours / am.ours for concat, am in pairs]
    return Reproduction(
        "004-table3",
        "making the receiving vectors",
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
            "three numbers are fitted: a word and a sum of the control network, an active message by "
            "interrupt; 001 figs 10 and 11 are predicted with the first"
        ],
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
    )


def table5(lab: Lab, quick: bool) -> Reproduction:
    """Messages of 1 to 32 units."""
    plans = [r | {"degree": r["case"]} for r in printed_tables.table("004_tables5_6_plans") if r["case"] < 32]
    return _exchange(
        lab,
        "004-table5",
        "messages of 1 to 32 units on a 32-node CM-5",
        printed("004_table5", quick, "unit_bytes", (32, 64, 1024)),
        ("degree", "unit_bytes"),
        ("ac", "lp", "rs_n", "drs_n", "rs_nh"),
        lambda row, seed: patterns.non_uniform(row["degree"], row["unit_bytes"], seed),
        lambda row: 32 * row["unit_bytes"],
        (plans, "degree", SPLITTING, lambda row, s: patterns.non_uniform(row["degree"], 1024, s)),
    )


def table6(lab: Lab, quick: bool) -> Reproduction:
    """Airfoil halos."""
    plans = [r | {"points": r["case"]} for r in printed_tables.table("004_tables5_6_plans") if r["case"] > 32]
    result = _exchange(
        lab,
        "004-table6",
        "airfoil meshes on a 32-node CM-5",
        printed("004_table6", quick, "unit_bytes", (16, 256)),
        ("points", "unit_bytes"),
        ("ac", "lp", "rs_n", "drs_n", "rs_nh"),
        lambda row, seed: like_mesh(row["points"], row["unit_bytes"], seed),
        lambda row: mesh_numbers(row["points"])["length_max"] * row["unit_bytes"],
        (plans, "points", SPLITTING, lambda row, s: like_mesh(row["points"], 1024, s)),
    )
    note = "patterns with the printed numbers and lengths of messages; the papers' meshes are not available"
    return Reproduction(result.name, result.title, result.parts, result.claims, [note, *result.notes])


def _plans(name: str, key: str, make: Make):
    return printed_tables.table(name), key, ("lp", "rs_n"), make


def _exchange(lab, name, title, rows, keys, algorithms, make: Make, largest, plans) -> Reproduction:
    """Times of every row and algorithm; phases and planning time per pattern."""
    times = cells(
        rows,
        keys,
        algorithms,
        lambda row, a: lab.mean_ms(MACHINE, a, lambda seed: make(row, seed)),
        largest=largest,
    )
    planned, key, scheduled, make_planned = plans

    def planning(row: Row, algorithm: str) -> float:
        made = [make_planned(row, seed) for seed in range(lab.with_few().seeds)]
        return mean(lab.planning_ms(MACHINE, algorithm, matrix) for matrix in made)

    phases = cells(
        [renamed(row, "_phases") for row in planned],
        (key,),
        scheduled,
        lambda row, a: lab.mean_phases(a, lambda seed: make_planned(row, seed)),
    )
    in_ms = [renamed(row, "_ms") for row in planned]
    scheduling = cells(in_ms, (key,), ("lp", "rs_n"), planning)
    here = cells(
        in_ms,
        (key,),
        scheduled,
        lambda row, a: planning_ms(a, [make_planned(row, seed) for seed in range(lab.seeds)]),
    )
    costs = {c.row[0][1]: {} for c in scheduling}
    for cell in scheduling:
        costs[cell.row[0][1]][cell.column] = (cell.printed, cell.ours)
    return Reproduction(
        name,
        title,
        [
            Part("cost of the exchange", "ms", times),
            Part("phases", "phases", phases),
            Part("cost of scheduling on the CM-5 (ours: cm5-32's planning speed)", "ms", scheduling),
            Part("cost of scheduling here", "ms", here, timed_here=True),
        ],
        [*used_once(times, costs), *used_often(name, times)],
        notes=[_forms_of_drs_n(lab, rows, make), NOT_RS_NH]
        if "rs_nh" in algorithms
        else [_forms_of_drs_n(lab, rows, make)],
    )


NOT_RS_NH = "the scheduling cost of RS_NH does not compare: the paper's keeps heaps, ours sorted rows"


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

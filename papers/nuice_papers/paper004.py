# SPDX-License-Identifier: BSD-3-Clause
"""004, tables 1 to 6 (figures 7 to 9 draw tables 4 to 6): RS_N, RS_NH and DRS_N on a 32-node CM-5."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nuice._core import CommMatrix

from nuice import _core
from nuice.pattern_figures import like_mesh, mesh_numbers

from . import patterns, printed_tables
from .paper003 import MACHINE, with_planning
from .paper004_winners import claim_used_often, claim_used_once
from .report import Part, Reproduction, reproduces
from .runs import Lab
from .tables import Row, cells, printed

RAW = "cm5-32/raw"  # messages without the package
Make = Callable[[int, int, int], CommMatrix]  # of a degree or number of points, a unit in bytes, a seed


@reproduces("004-table1", "the example of 8 processors")
def table1(found: Reproduction, lab: Lab, quick: bool) -> None:
    """Schedules of the example matrix have the degree as a bound."""
    pairs = [(row["src"], row["dst"]) for row in printed_tables.table("004_table1")]
    matrix = patterns.from_pairs(8, pairs, 1024)
    sent = [len(matrix.sent_by(rank)) for rank in range(8)]
    phases = {a: _core.make_schedule(matrix, a, 0)[0].num_phases for a in ("lp", "rs_n", "coloring")}
    found.claim("P0 sends three messages, P4 five", (sent[0], sent[4]) == (3, 5), f"all: {sent}")
    found.claim(
        "processors 0, 1, 3, 4 and 6 all have a message for P2",
        all(matrix.find(src, 2) is not None for src in (0, 1, 3, 4, 6)),
        f"senders to P2: {[matrix.message(i)[0] for i in matrix.received_by(2)]}",
    )
    degree = max(*sent, *(len(matrix.received_by(r)) for r in range(8)))
    seen = ", ".join(f"{name} {count} phases" for name, count in phases.items())
    found.claim("it decomposes into partial permutations", phases["coloring"] == degree, seen)


IN_THE_NETWORK = (
    10 * 20
)  # bytes: it takes ten packets of a sender (002, note to s.6) before the receiver has any


@reproduces("004-table2", "node contention on a 32-node CM-5: several senders, one receiver")
def table2(found: Reproduction, lab: Lab, quick: bool) -> None:
    rows, machine = printed("004_table2", quick, "senders", (1, 8, 31)), lab.machine(RAW)

    def ours(row: Row, column: str) -> float:
        received = lab.run(RAW, "ac", patterns.to_one(row["senders"], row["bytes"]), 0)
        if column == "recv_ms":
            return received
        before = 1e3 * machine.send_overhead_s
        wire = row["bytes"] // machine.packet_payload * (machine.packet_payload + machine.packet_header)
        return before + max(0.0, 1 - IN_THE_NETWORK / wire) * (received - before)

    for column, title in (
        ("recv_ms", "until the receiver has everything"),
        ("send_max_ms", "until the last sender is done"),
        ("send_min_ms", "until the first sender is done"),
        ("send_average_ms", "until the average sender is done"),
    ):
        times = cells(rows, ("bytes", "senders"), (column,), ours, fitted=lambda _, name: name == "recv_ms")
        found.parts.append(Part(title, "ms", times))
    for num_bytes in (256, 4096):
        of_size = [c.ours for c in found.parts[0].cells if dict(c.row)["bytes"] == num_bytes]
        text = f"{num_bytes} bytes: the more senders, the longer each of them takes"
        found.claim(text, of_size == sorted(of_size), ", ".join(f"{t:.3g}" for t in of_size) + " ms")
    found.notes = [
        "ours serve all senders alike, so they end together; a sender is done when its last ten packets are "
        "in the network. Printed senders of 256 bytes differ by a factor of two, and with 31 senders those "
        "in the receiver's cluster are done early"
    ]


@reproduces("004-table3", "making the receiving vectors")
def table3(found: Reproduction, lab: Lab, quick: bool) -> None:
    """Compares gathering the matrix on all ranks with Generate_Recv (fig. 1)."""
    rows, machine = printed("004_table3", quick, "ranks", (32,)), lab.machine(MACHINE)

    def ours(row: Row, column: str) -> float:
        if column == "concat_ms":
            return 1e3 * _core.concatenation_s(machine, row["ranks"])
        return 1e3 * _core.discovery_s(machine, row["ranks"], row["degree"])

    times = cells(rows, ("ranks", "degree"), ("concat_ms", "am_ms"), ours, fitted=lambda *_: True)
    pairs = list(zip(times[::2], times[1::2], strict=True))
    in_print = [concat.printed / am.printed for concat, am in pairs]
    here = [concat.ours / am.ours for concat, am in pairs]
    found.parts = [Part("until every node has its vector", "ms", times)]
    found.claim(
        "active messages beat the global concatenation on all machines and densities",
        min(here) > 1,
        f"concatenation / active messages {min(here):.1f} to {max(here):.0f}, printed "
        f"{min(in_print):.1f} to {max(in_print):.0f}",
    )
    found.notes = [
        "three numbers are fitted: a word and a sum of the control network, an active message by interrupt; "
        "001 figs 10 and 11 are predicted with the first"
    ]


@reproduces("004-table4", "messages of one size on a 32-node CM-5")
def table4(found: Reproduction, lab: Lab, quick: bool) -> None:
    rows = printed("004_table4", quick, "bytes", (16, 16384, 1024))
    plans = printed_tables.table("004_table4_plans")
    algorithms = ("ac", "lp", "rs_n", "drs_n")
    _exchange(found, lab, rows, plans, ("degree", "bytes"), algorithms, patterns.uniform, lambda _: 1)


UNEQUAL = ("ac", "lp", "rs_n", "drs_n", "rs_nh")


@reproduces("004-table5", "messages of 1 to 32 units on a 32-node CM-5")
def table5(found: Reproduction, lab: Lab, quick: bool) -> None:
    rows = printed("004_table5", quick, "unit_bytes", (32, 64, 1024))
    plans = [r | {"degree": r["case"]} for r in printed_tables.table("004_tables5_6_plans") if r["case"] < 32]
    _exchange(found, lab, rows, plans, ("degree", "unit_bytes"), UNEQUAL, patterns.non_uniform, lambda _: 32)


@reproduces("004-table6", "airfoil meshes on a 32-node CM-5")
def table6(found: Reproduction, lab: Lab, quick: bool) -> None:
    rows = printed("004_table6", quick, "unit_bytes", (16, 256))
    plans = [r | {"points": r["case"]} for r in printed_tables.table("004_tables5_6_plans") if r["case"] > 32]
    found.notes = [
        "patterns with the printed numbers and lengths of messages; the papers' meshes are not available"
    ]
    keys = ("points", "unit_bytes")
    _exchange(found, lab, rows, plans, keys, UNEQUAL, like_mesh, lambda p: mesh_numbers(p)["length_max"])


NOT_RS_NH = "the scheduling cost of RS_NH does not compare: the paper's keeps heaps, ours sorted rows"


def _exchange(
    found: Reproduction,
    lab: Lab,
    rows: Sequence[Row],
    plans: Sequence[Row],
    keys: tuple[str, str],
    algorithms: Sequence[str],
    make: Make,
    most_units: Callable[[int], int],
) -> None:
    """Adds times of every row and algorithm, and phases and planning time per pattern. keys: the arguments
    of `make`.

    most_units: units of the largest message.
    """
    case, unit = keys

    def ours(row: Row, algorithm: str) -> float:
        return lab.mean_ms(MACHINE, algorithm, lambda seed: make(row[case], row[unit], seed))

    costs = cells(rows, keys, algorithms, ours, largest=lambda row: most_units(row[case]) * row[unit])
    found.parts = with_planning(
        lab,
        costs,
        plans,
        case,
        lambda row, seed: make(row[case], 1024, seed),
        scheduled=[name for name in ("lp", "rs_n", "rs_nh") if name in algorithms],
        on_cm5=("lp", "rs_n"),
    )
    claim_used_once(found, costs, found.parts[2].cells)
    claim_used_often(found, costs)
    if "rs_nh" in algorithms:
        found.notes.append(NOT_RS_NH)

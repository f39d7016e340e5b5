# SPDX-License-Identifier: BSD-3-Clause
"""A CM-5 on which nuice-lee and nuice-wolff run as in 002, figs 31 and 32: `bench/run.py irregular_smpi`.

The real programs run under SimGrid's SMPI, which simulates every message and every poll for one. The times in
which a processor is busy are charged to its clock (papers/irregular/simulated.hpp):

  a cell or site   the printed sequential time over the cells that ours reaches in our mazes; Wolff: the
                   printed scale time over N^2, 32.4 to 33.7 us. A cell is four looks at a neighbour; a look
                   that an item carries to another rank is that rank's work (002 figs 20, 23, 25).
                   * 1.33 in the parallel programs: FITTED, to AM-NC-O of Wolff, 256 x 256, 16 ranks
  send/receive     88 us for an empty message (001 s.2), which block both the sender and the receiver
                   (002 s.4.2). Asynchronous: 53 us more at each end, the interrupt: FITTED, to ASR-C-O of
                   Lee, 25 % walls, 256 x 256
  active messages  1.6 us to send, 1.7 us to receive a packet of four words (004 s.2.3)
  a look at the network interfaces   1 us, assumed
  put              as 1.6 and 1.7 us for a packet, and 7.5 us at each end to start: in 002 fig. 17 single
                   messages, which need a look each, cost as much as a put at 60 words, 15 packets
  Strata           0.2 us less at each end: there it meets put at 100 words, 25 packets: 0.4 of the 1 us
                   less for each. Its place before CMAML follows from that directly
  coalesced        one packet for each item, as with active messages. 002 puts two sites into a packet, but
                   sends every look over a border; ours sends active bonds, and cells not known yet
  network          1 us, no contention; barriers and reductions take their latency only, 2 to 10 us (the
                   control network of the CM-5: 2 to 5 us, 001 s.2)

Cycles end as in 002: AM-NC-O locally in Wolff (two messages each way, fig. 27), globally in Lee (fig. 26),
AMP-C-NO with two barriers (fig. 22). Nets of Lee are so long that they take about the printed number of
cycles (fig. 36). Clusters of Wolff are of a seed that gives about the exact mean size, and about as many
cycles as fifty seeds do on average. Every run takes the best of a few widths, as 002 did.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from .. import printed_tables

PARALLEL_CELL = 1.33
TIE = 1.001  # printed are 8.641 and 8.639


@dataclass(frozen=True)
class Scheme:
    """The costs in microseconds: at either end of a message, of a packet sent and received, and of ends of
    cycles."""

    message: float
    sent: float = 1.6
    received: float = 1.7
    wolff: str = "local"
    lee: str = "local"


SCHEMES = {
    "SSR-C-NO": Scheme(88),
    "AMP-C-NO": Scheme(7.5, wolff="global", lee="global"),
    "ASR-C-O": Scheme(88 + 53),
    "AM-NC-O": Scheme(0, lee="global"),
    "ST-NC-O": Scheme(0, 1.4, 1.5, lee="global"),
}
# How far apart the ends of nets are, in sides, for the cycles of fig. 36.
ENDS = {
    ("25", 256): (0.6, 0.8),
    ("25", 512): (0.45, 0.6),
    ("25", 1024): (0.35, 0.5),
    ("50", 256): (0.3, 0.4),
    ("50", 512): (0.5, 0.55),
    ("50", 1024): (0.5, 0.7),
}
# Clusters, of which seed.
CLUSTERS = {256: (6, 48), 512: (4, 46), 1024: (3, 18)}
NETS = 2  # 002: 10
PROGRAMS = (("wolff", "", 16), ("wolff", "", 32), ("lee", "25", 32), ("lee", "50", 32))
LAYER = {"ST-NC-O": "AM-NC-O"}  # one layer, other costs


@dataclass(frozen=True)
class Problem:
    program: str
    walls: str
    ranks: int
    size: int

    @property
    def row(self) -> dict:
        """What is printed: sequential milliseconds, and speed-ups by scheme."""
        if self.program == "wolff":
            return next(
                r
                for r in printed_tables.table("002_fig31")
                if (r["ranks"], r["size"]) == (self.ranks, self.size)
            )
        key = (int(self.walls), self.size)
        return next(r for r in printed_tables.table("002_fig32") if (r["walls"], r["size"]) == key)

    def words(self) -> list[str]:
        if self.program == "wolff":
            clusters, seed = CLUSTERS[self.size]
            words = ["--samples", "0", "--thermalise", "20", "--no-check", "--no-item-costs"]
            words += ["--clusters", str(clusters), "--seed", str(seed)]
            return ["--size", str(self.size), "--delta", str(self.size // 20), *words]
        nearest, farthest = ENDS[self.walls, self.size]
        layout = ["--walls", "0.25"] if self.walls == "25" else ["--walls", "0.5", "--layout", "blocks"]
        # delta = 0.2 M, and M is 0.5 N on average
        words = ["--size", str(self.size), *layout, "--nets", str(NETS), "--delta", str(self.size // 10)]
        return [*words, "--no-alone", "--nearest", str(nearest), "--farthest", str(farthest)]


def as_printed(problem: Problem, name: str) -> str:
    """How 002 ended the cycles of that scheme."""
    return getattr(SCHEMES[name], problem.program)


def syncs(problem: Problem, name: str, both: bool) -> list[str]:
    """As 002 ended them first."""
    printed = as_printed(problem, name)
    other = {"local": "global", "global": "local"}[printed]
    return [printed, other] if both and name in ("AM-NC-O", "ST-NC-O") else [printed]


KEY = ("program", "walls", "ranks", "size", "scheme", "sync")
RECORDED = (*KEY, "width", "simulated", "cycles", "left", "right")


class Record:
    """A file with a line for each run. Runs that it contains are not run again."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.rows: dict[tuple[str, ...], dict] = {}
        if path is not None and path.exists():
            lines = path.read_text(encoding="utf-8").splitlines()
            rows = csv.DictReader(line for line in lines if not line.startswith("#"))
            self.rows = {tuple(row[key] for key in KEY): row for row in rows}

    def find(self, problem: Problem, scheme: str, sync: str) -> dict | None:
        key = (problem.program, problem.walls, str(problem.ranks), str(problem.size), scheme, sync)
        row = self.rows.get(key)
        if row is None:
            return None
        printed = problem.row[scheme] if sync == as_printed(problem, scheme) else None
        numbers = {name: float(row[name]) for name in ("simulated", "cycles", "left", "right") if row[name]}
        known = {"ranks": problem.ranks, "size": problem.size, "width": int(row["width"]), "printed": printed}
        return {**row, **numbers, **known, "ratio": numbers["simulated"] / printed if printed else None}

    def add(self, row: dict) -> None:
        if self.path is None:
            return
        values = [row[name] for name in RECORDED]
        texts = [f"{v:.6g}" if isinstance(v, float) else "" if v is None else str(v) for v in values]
        with self.path.open("a", encoding="utf-8") as file:
            if file.tell() == 0:
                file.write(",".join(RECORDED) + "\n")
            file.write(",".join(texts) + "\n")


def order(rows: list[dict]) -> dict:
    """Returns the row of a case, with the schemes by ascending speed-up. same_order: no pair of schemes is
    reversed that the printed figures distinguish."""
    record = {key: rows[0][key] for key in ("program", "walls", "ranks", "size")}
    for key in ("simulated", "printed"):
        record[f"{key}_order"] = [row["scheme"] for row in sorted(rows, key=lambda row: row[key])]
    apart = [(a, b) for a in rows for b in rows if a["printed"] > TIE * b["printed"]]
    record["same_order"] = all(a["simulated"] > b["simulated"] for a, b in apart)
    ratios = [row["ratio"] for row in rows]
    return {**record, "worst_ratio": max(ratios + [1 / ratio for ratio in ratios])}

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""nuice-lee and nuice-wolff on a simulated CM-5, beside the printed speed-ups of paper 002 (figs 31 and 32).

usage: irregular_smpi.py [--quick | --full] [--programs lee,wolff] [--jobs 1] [--both-syncs]
                               [--sizes 256,512] [--widths 1,2] [--schemes AM-NC-O,...] [--ranks 16,32]
                               [--record FILE] [--build FOLDER] [--json]

The real programs run under SimGrid's SMPI: every message is simulated, and so is every look for one. What
keeps a processor busy is told to the clock (lab/papers/irregular/simulated.hpp):

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
cycles as fifty seeds do on average. Every run takes the best of a few widths, as 002 did. Needs Debian's
libsimgrid-dev, else it is skipped.
--quick: 256 x 256, width 1, Lee with 25 % walls. --full: N = 1024 too. Otherwise 256 and 512.
--both-syncs: AM-NC-O and ST-NC-O with the other end of cycles as well (figs 37 and 38).
--record FILE: appends a line for each run and leaves out those that are there already, so a long series can
be taken up again; `nuice reproduce 002` reads such a file, lab/papers/nuice_papers/data/002_simulated.csv.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from common import has_smpi, print_rows, smpirun

ROOT = Path(__file__).resolve().parents[2]
PARALLEL_CELL = 1.33
TIE = 1.001  # printed are 8.641 and 8.639
NETWORK = {"bytes_per_s": 1e9, "latency_s": 1e-6}  # packets are paid for at the ends
LOOK = ("smpi/iprobe:1e-6", "smpi/test:1e-6", "smpi/grow-injected-times:no")


@dataclass(frozen=True)
class Scheme:
    """Microseconds at either end of a message, of a packet sent and received; ends of cycles."""

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
# Printed sequential milliseconds and speed-ups in the order of SCHEMES; by (program, walls, ranks), N.
PRINTED = {
    ("wolff", "", 16): {
        256: (2124.664, (2.988, 5.004, 2.256, 6.270, 6.481)),
        512: (8620.074, (4.261, 6.281, 3.512, 7.655, 7.978)),
        1024: (35314.967, (5.607, 7.568, 4.875, 8.659, 9.290)),
    },
    ("wolff", "", 32): {
        256: (2124.664, (3.398, 6.226, 2.635, 8.494, 8.680)),
        512: (8620.074, (5.252, 8.414, 3.990, 10.806, 11.282)),
        1024: (35314.967, (7.388, 10.438, 5.880, 13.721, 14.680)),
    },
    ("lee", "25", 32): {
        256: (178.607, (2.610, 4.452, 1.377, 5.861, 5.940)),
        512: (753.025, (4.875, 7.358, 2.872, 8.641, 8.639)),
        1024: (2532.771, (8.624, 12.188, 5.350, 13.093, 13.699)),
    },
    ("lee", "50", 32): {
        256: (131.068, (2.242, 4.198, 1.248, 5.720, 5.948)),
        512: (470.749, (3.978, 6.457, 2.368, 7.945, 8.403)),
        1024: (2018.324, (5.754, 8.611, 3.491, 10.371, 10.480)),
    },
}
# How far apart the ends of nets are, in sides, for the cycles of fig. 36.
ENDS = {
    ("25", 256): (0.6, 0.8),
    ("25", 512): (0.5, 0.7),
    ("25", 1024): (0.4, 0.6),
    ("50", 256): (0.3, 0.4),
    ("50", 512): (0.4, 0.65),
    ("50", 1024): (0.5, 0.7),
}
# Clusters, of which seed.
CLUSTERS = {256: (6, 48), 512: (4, 46), 1024: (3, 18)}
NETS = 2  # 002: 10
LAYER = {"ST-NC-O": "AM-NC-O"}  # one layer of ours, other costs


@dataclass(frozen=True)
class Case:
    program: str
    walls: str
    ranks: int
    size: int

    @property
    def printed_ms(self) -> float:
        return PRINTED[self.program, self.walls, self.ranks][self.size][0]

    def printed(self, scheme: str) -> float:
        return PRINTED[self.program, self.walls, self.ranks][self.size][1][list(SCHEMES).index(scheme)]

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


def build(folder: Path) -> None:
    """Both programs with SimGrid's compiler; again only what changed."""
    configure = ["cmake", "-S", str(ROOT), "-B", str(folder), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
    configure += ["-DCMAKE_CXX_COMPILER=smpicxx", "-DNUICE_BUILD_MPI=ON", "-DNUICE_BUILD_TESTS=OFF"]
    configure += ["-DCMAKE_DISABLE_FIND_PACKAGE_ucx=ON"]
    targets = ["cmake", "--build", str(folder), "--target", "nuice-lee", "nuice-wolff"]
    for command in (configure, targets):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} failed:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")


def run(folder: Path, case: Case, ranks: int, costs: tuple[float, ...], more: list[str]) -> dict:
    """costs: seconds of a cell, of a message at an end, of a packet sent and received."""
    with tempfile.TemporaryDirectory() as name:
        command = smpirun(Path(name), ranks, **NETWORK, settings=LOOK)
        program = folder / "lab" / "papers" / case.program / f"nuice-{case.program}"
        command += [str(program), *case.words(), *more]
        command += ["--reps", "1", "--json", "--log=root.thres:error"]
        environment = {**os.environ, "NUICE_SMPI_COSTS": ",".join(map(repr, costs))}
        done = subprocess.run(
            command, cwd=name, env=environment, capture_output=True, text=True, timeout=7200
        )
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return json.loads(lines[-1])


def cell_seconds(folder: Path, case: Case) -> float:
    if case.program == "wolff":
        return case.printed_ms * 1e-3 / case.size**2
    nets = run(folder, case, 1, (1e-9, 0, 0, 0), ["--schemes", "SSR-C-NO", "--widths", "1"])["mazes"][0][
        "nets"
    ]
    return case.printed_ms * 1e-3 * len(nets) / sum(net["visited"] for net in nets)


def as_printed(case: Case, name: str) -> str:
    """How 002 ended the cycles of that scheme."""
    return getattr(SCHEMES[name], case.program)


def simulate(folder: Path, case: Case, name: str, sync: str, widths: tuple[int, ...]) -> dict:
    """The best width, as in 002."""
    scheme = SCHEMES[name]
    costs = tuple(1e-6 * cost for cost in (scheme.message, scheme.sent, scheme.received))
    ways = ["--schemes", LAYER.get(name, name), "--sync", sync]
    ways += ["--widths", ",".join(str(width) for width in widths if width <= case.size // case.ranks)]
    report = run(folder, case, case.ranks, (cell_seconds(folder, case) * PARALLEL_CELL, *costs), ways)
    # The sequential program beside it was given the same cell.
    found = {r["width"]: r.get("speed_up", r.get("speedup")) / PARALLEL_CELL for r in report["results"]}
    width = max(found, key=found.get)
    best = next(r for r in report["results"] if r["width"] == width)
    row = {"program": case.program, "walls": case.walls, "ranks": case.ranks, "size": case.size}
    row |= {"scheme": name, "sync": sync, "width": width, "simulated": found[width]}
    row |= {"cycles": best.get("cycles_per_cluster", best.get("levels", 0) / NETS)}
    row |= {"left": best.get("items_left_per_cycle"), "right": best.get("items_right_per_cycle")}
    printed = case.printed(name) if sync == as_printed(case, name) else None
    return {**row, "printed": printed, "ratio": row["simulated"] / printed if printed else None}


KEY = ("program", "walls", "ranks", "size", "scheme", "sync")
RECORDED = (*KEY, "width", "simulated", "cycles", "left", "right")


class Record:
    """A file with a line for each run: what is there is not run again."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.rows: dict[tuple[str, ...], dict] = {}
        if path is not None and path.exists():
            lines = path.read_text(encoding="utf-8").splitlines()
            rows = csv.DictReader(line for line in lines if not line.startswith("#"))
            self.rows = {tuple(row[key] for key in KEY): row for row in rows}

    def find(self, case: Case, scheme: str, sync: str) -> dict | None:
        key = (case.program, case.walls, str(case.ranks), str(case.size), scheme, sync)
        row = self.rows.get(key)
        if row is None:
            return None
        printed = case.printed(scheme) if sync == as_printed(case, scheme) else None
        numbers = {name: float(row[name]) for name in ("simulated", "cycles", "left", "right") if row[name]}
        known = {"ranks": case.ranks, "size": case.size, "width": int(row["width"]), "printed": printed}
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
    """Ascending by speed-up; same where no pair is turned round that the printed figures tell apart."""
    record = {key: rows[0][key] for key in ("program", "walls", "ranks", "size")}
    for key in ("simulated", "printed"):
        record[f"{key}_order"] = [row["scheme"] for row in sorted(rows, key=lambda row: row[key])]
    apart = [(a, b) for a in rows for b in rows if a["printed"] > TIE * b["printed"]]
    record["same_order"] = all(a["simulated"] > b["simulated"] for a, b in apart)
    ratios = [row["ratio"] for row in rows]
    return {**record, "worst_ratio": max(ratios + [1 / ratio for ratio in ratios])}


def line(row: dict) -> str:
    walls = f" {row['walls']} % walls" if row["walls"] else ""
    case = f"{row['program']}{walls} {row['size']} x {row['size']}, {row['ranks']} ranks"
    if "scheme" in row and row["printed"] is None:
        found = f"{row['scheme']:10} w = {row['width']:<3} simulated {row['simulated']:7.3f}"
        return f"{case:38} {found}   {row['sync']}"
    if "scheme" in row:
        return (f"{case:38} {row['scheme']:10} w = {row['width']:<3} simulated {row['simulated']:7.3f}"
                f"   printed {row['printed']:7.3f}   ratio {row['ratio']:.2f}")  # fmt: skip
    found = f"{'as' if row['same_order'] else 'NOT as'} printed: {' < '.join(row['simulated_order'])}"
    return f"{case:38} order {found}; within a factor of {row['worst_ratio']:.2f}\n"


def syncs(case: Case, name: str, both: bool) -> list[str]:
    """As 002 ended them first."""
    printed = as_printed(case, name)
    other = {"local": "global", "global": "local"}[printed]
    return [printed, other] if both and name in ("AM-NC-O", "ST-NC-O") else [printed]


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object per line and nothing else")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--both-syncs", action="store_true")
    parser.add_argument("--record", type=Path, help="append to this file what is not there yet")
    parser.add_argument("--programs", default="lee,wolff", help="which (default both)")
    parser.add_argument("--schemes", default=",".join(SCHEMES), help="which (default all)")
    parser.add_argument("--ranks", default="16,32", help="which (default 16,32)")
    parser.add_argument("--sizes", help="separated by commas, instead of what the case says")
    parser.add_argument("--widths", default="1,2", help="of stripes (default 1,2)")
    parser.add_argument("--jobs", type=int, default=1, help="simulations at a time")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "smpi", help="folder to build in")
    return parser.parse_args()


def main() -> int:
    options = parse()
    if not has_smpi("irregular_smpi", "smpirun", "smpicxx", quiet=options.json):
        return 0
    folder = options.build.resolve()
    build(folder)
    sizes = (256, 512, 1024) if options.full else (256,) if options.quick else (256, 512)
    if options.sizes:
        sizes = tuple(int(size) for size in options.sizes.split(","))
    widths = (1,) if options.quick else tuple(int(width) for width in options.widths.split(","))
    cases = [
        Case(*key, size)
        for key in PRINTED
        for size in sizes
        if key[0] in options.programs.split(",") and str(key[2]) in options.ranks.split(",")
        if not (options.quick and key[1] == "50")
    ]
    record = Record(options.record)
    chosen = [name for name in SCHEMES if name in options.schemes.split(",")]

    def one(case: Case, name: str, sync: str) -> dict:
        known = record.find(case, name, sync)
        if known is not None:
            return known
        row = simulate(folder, case, name, sync, widths)
        record.add(row)
        return row

    with ThreadPoolExecutor(options.jobs) as pool:
        wanted = [
            [(name, sync) for name in chosen for sync in syncs(case, name, options.both_syncs)]
            for case in cases
        ]
        of_case = [
            [pool.submit(one, case, *way) for way in ways] for case, ways in zip(cases, wanted, strict=True)
        ]
        for futures in of_case:
            rows = []
            for future in futures:
                rows.append(future.result())
                print_rows(rows[-1:], options.json, line)
            print_rows([order([row for row in rows if row["printed"]])], options.json, line)
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The simulator beside an independent one: the same schedules replayed by SimGrid's SMPI.

usage: simgrid_check.py [--quick] [--json]

A crossbar of hosts with a link of their own each way, no contention inside phases: permutations, and a
coloring of a random matrix run phase by phase. SMPI replays a trace of irecv, send and waitall per rank and
phase; our simulator runs the same schedule. Exit code 1 if a pair of times differs by more than 10 %.
Needs Debian's libsimgrid-dev (smpirun); without it the check says so and is skipped.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from common import has_smpi, print_rows, smpirun

import nuice

LATENCY_S, BYTE_S = 20e-6, 1 / 125e6  # of a message end to end; 1 Gbit/s
TOLERANCE = 0.10

# Nothing leaves before the receiver is ready.
UNBUFFERED = ("smpi/async-small-thresh:0", "smpi/send-is-detached-thresh:0")


def machine(ranks: int) -> nuice.Machine:
    text = f'topology = "crossbar:{ranks}"\n[port]\nbandwidth = "1 Gbit/s"\n'
    return nuice.parse_machine(text, "plain").replace(start_up_s=LATENCY_S, byte_s=BYTE_S)


def trace_of(schedule: nuice.Schedule, rank: int) -> list[str]:
    """What the rank does, in SMPI's time-independent traces; tags are phases."""
    lines = [f"{rank} init"]
    table = schedule.transfer_table()
    for phase in range(schedule.num_phases):
        mine = table[table[:, 0] == phase]
        for _, src, _, size in mine[mine[:, 2] == rank]:
            lines.append(f"{rank} irecv {src} {phase} {size}")
        for _, _, dst, size in mine[mine[:, 1] == rank]:
            lines.append(f"{rank} send {dst} {phase} {size}")
        lines.append(f"{rank} waitall")
    return [*lines, f"{rank} finalize"]


def simgrid_seconds(schedule: nuice.Schedule) -> float:
    ranks = schedule.num_ranks
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = []
        for rank in range(ranks):
            files.append(folder / f"trace{rank}")
            files[-1].write_text("\n".join(trace_of(schedule, rank)) + "\n")
        (folder / "traces").write_text("".join(f"{file}\n" for file in files))
        command = smpirun(folder, ranks, 1 / BYTE_S, LATENCY_S, UNBUFFERED)
        command += ["-replay", str(folder / "traces")]
        run = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=folder, check=False)
    found = re.findall(r"Simulation time ([0-9.]+)", run.stdout + run.stderr)
    if run.returncode != 0 or not found:
        sys.exit(f"smpirun failed:\n{run.stdout}{run.stderr}")
    return float(found[-1])


def cases() -> list[tuple[str, nuice.CommMatrix, str]]:
    def shift(ranks: int, by: int, size: int) -> nuice.CommMatrix:
        entries = [(rank, (rank + by) % ranks, size) for rank in range(ranks)]
        src, dst, sizes = zip(*entries, strict=True)
        import numpy as np
        from scipy.sparse import coo_array

        return nuice.from_scipy(coo_array((np.array(sizes), (src, dst)), shape=(ranks, ranks)))

    sizes = (1 << 10, 1 << 16, 1 << 22)
    permutations = [(f"permutation of 16, {size} B", shift(16, 5, size), "coloring") for size in sizes]
    random = nuice.random_regular(32, 8, unit_bytes=65536, seed=1)
    return [
        *permutations,
        ("random d = 8 of 32, 64 KiB", random, "coloring"),
        ("complete exchange of 16, 64 KiB", nuice.random_regular(16, 15, unit_bytes=65536, seed=1), "pex"),
    ]


def line(row: dict) -> str:
    return (f"{row['case']:34} {row['phases']:3} phases  ours {row['nuice_s'] * 1e3:9.4f} ms"
            f"  SimGrid {row['simgrid_s'] * 1e3:9.4f} ms  ratio {row['ratio']:.4f}")  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="the first case only")
    options = parser.parse_args()
    if not has_smpi("simgrid_check", "smpirun", quiet=options.json):
        return 0
    rows = []

    def compared():
        for name, matrix, scheduler in cases()[: 1 if options.quick else None]:
            schedule = nuice.plan(matrix, scheduler).schedule
            ours = nuice.simulate(matrix, schedule, machine(matrix.num_ranks), "phased").seconds
            theirs = simgrid_seconds(schedule)
            row = {"case": name, "phases": schedule.num_phases, "nuice_s": ours, "simgrid_s": theirs}
            rows.append({**row, "ratio": ours / theirs})
            yield rows[-1]

    print_rows(compared(), options.json, line)
    return 0 if all(abs(row["ratio"] - 1) <= TOLERANCE for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

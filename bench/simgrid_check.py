#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The simulator beside an independent one: the same schedules replayed by SimGrid's SMPI.

usage: bench/simgrid_check.py [--quick] [--json]

A crossbar of hosts with a link of their own each way, no contention inside phases: permutations, and a
coloring of a random matrix run phase by phase. SMPI replays a trace of irecv, send and waitall per rank and
phase; our simulator runs the same schedule. Exit code 1 if a pair of times differs by more than 10 %.
Needs Debian's libsimgrid-dev (smpirun); without it the check says so and is skipped.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import nuice

LATENCY_S, BYTE_S = 20e-6, 1 / 125e6  # of a message end to end; 1 Gbit/s
TOLERANCE = 0.10

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="h" suffix="" radical="0-{last}" speed="1Gf" bw="{rate}Bps" lat="{latency}s"
           sharing_policy="SPLITDUPLEX"/>
</platform>
"""
# No factors fitted to some cluster, no crosstraffic, no eager threshold, no overheads: bandwidth and latency.
CONFIG = (
    "network/model:CM02",
    "network/crosstraffic:0",
    "network/TCP-gamma:0",
    "network/bandwidth-factor:1",
    "network/latency-factor:1",
    "smpi/bw-factor:0:1",
    "smpi/lat-factor:0:1",
    "smpi/os:0:0:0",
    "smpi/or:0:0:0",
    "smpi/ois:0:0:0",
    "smpi/async-small-thresh:0",
    "smpi/send-is-detached-thresh:0",
    "smpi/simulate-computation:no",
)


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
        half = LATENCY_S / 2  # a route has two links
        platform = PLATFORM.format(last=ranks - 1, rate=1 / BYTE_S, latency=half)
        (folder / "platform.xml").write_text(platform)
        (folder / "hosts").write_text("".join(f"h{rank}\n" for rank in range(ranks)))
        files = []
        for rank in range(ranks):
            files.append(folder / f"trace{rank}")
            files[-1].write_text("\n".join(trace_of(schedule, rank)) + "\n")
        (folder / "traces").write_text("".join(f"{file}\n" for file in files))
        command = ["smpirun", "-np", str(ranks), "-platform", str(folder / "platform.xml")]
        command += ["-hostfile", str(folder / "hosts"), "-replay", str(folder / "traces")]
        command += [f"--cfg={setting}" for setting in CONFIG]
        run = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=folder)
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="the first case only")
    options = parser.parse_args()
    if shutil.which("smpirun") is None:
        if not options.json:
            print("simgrid_check skipped: no smpirun (Debian: apt-get install libsimgrid-dev)")
        return 0
    worst = 0.0
    for name, matrix, scheduler in cases()[: 1 if options.quick else None]:
        schedule = nuice.plan(matrix, scheduler).schedule
        ours = nuice.simulate(matrix, schedule, machine(matrix.num_ranks), "phased").seconds
        theirs = simgrid_seconds(schedule)
        worst = max(worst, abs(ours / theirs - 1))
        row = {"case": name, "phases": schedule.num_phases, "nuice_s": ours, "simgrid_s": theirs}
        if options.json:
            print(json.dumps({**row, "ratio": ours / theirs}))
        else:
            print(f"{name:34} {schedule.num_phases:3} phases  ours {ours * 1e3:9.4f} ms"
                  f"  SimGrid {theirs * 1e3:9.4f} ms  ratio {ours / theirs:.4f}")  # fmt: skip
    return 0 if worst <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())

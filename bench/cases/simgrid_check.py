# SPDX-License-Identifier: BSD-3-Clause
"""The simulator compared with an independent simulator: the same schedules replayed by SimGrid's SMPI.

A crossbar of hosts that have one link in each direction, without contention inside phases: permutations, and
a coloring of a random matrix run phase by phase. SMPI replays a trace of irecv, send and waitall per rank
and phase; NUICE's simulator runs the same schedule. A pair of times that differ by more than 10 % is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import nuice
from kit import Case, Failed, Table, call, scratch
from kit.patterns import everybody, uniform
from kit.smpi import PLAIN, smpirun

LATENCY_S, BYTE_S = 20e-6, 1 / 125e6  # per message, end to end; 1 Gbit/s
TOLERANCE = 0.10
# No message leaves before its receiver is ready.
UNBUFFERED = ("smpi/async-small-thresh:0", "smpi/send-is-detached-thresh:0")


def machine(ranks: int) -> nuice.Machine:
    text = f'topology = "crossbar:{ranks}"\n[port]\nbandwidth = "1 Gbit/s"\n'
    return nuice.parse_machine(text, "plain").replace(start_up_s=LATENCY_S, byte_s=BYTE_S)


def trace_of(schedule: nuice.Schedule, rank: int) -> list[str]:
    """Returns the rank's actions as SMPI's time-independent trace; tags are phases."""
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
    with scratch() as folder:
        files = [folder / f"trace{rank}" for rank in range(ranks)]
        for rank, file in enumerate(files):
            file.write_text("\n".join(trace_of(schedule, rank)) + "\n")
        (folder / "traces").write_text("".join(f"{file}\n" for file in files))
        command = smpirun(folder, ranks, ranks, 1 / BYTE_S, LATENCY_S, (*PLAIN, *UNBUFFERED))
        done = call([*command, "-replay", folder / "traces"], timeout_s=120, cwd=folder)
    found = re.findall(r"Simulation time ([0-9.]+)", done.stdout + done.stderr)
    if not found:
        raise Failed(f"smpirun failed:\n{done.stdout}{done.stderr}")
    return float(found[-1])


def patterns() -> Iterator[tuple[str, nuice.CommMatrix, str]]:
    for size in (1 << 10, 1 << 16, 1 << 22):
        entries = [(rank, (rank + 5) % 16, size) for rank in range(16)]
        yield f"permutation of 16, {size} B", nuice.CommMatrix.from_messages(16, entries), "coloring"
    yield "random d = 8 of 32, 64 KiB", uniform(32, 8, 65536), "coloring"
    yield "complete exchange of 16, 64 KiB", everybody(16, 65536), "pex"


def rows(options) -> Iterator[dict]:
    for name, matrix, scheduler in list(patterns())[: 1 if options.quick else None]:
        schedule = nuice.plan(matrix, scheduler).schedule
        ours = nuice.simulate(matrix, schedule, machine(matrix.num_ranks), "phased").seconds
        theirs = simgrid_seconds(schedule)
        row = {"case": name, "phases": schedule.num_phases, "nuice_s": ours, "simgrid_s": theirs}
        yield row | {"ratio": ours / theirs}


def apart(rows: list[dict], options) -> str:
    worst = max(rows, key=lambda row: abs(row["ratio"] - 1))
    return f"{worst['case']}: ratio {worst['ratio']:.3f}" if abs(worst["ratio"] - 1) > TOLERANCE else ""


CASE = Case(
    rows,
    needs=["smpirun"],
    minutes=1,
    tables=Table(
        "both simulated",
        "case | phases | ours, ms = nuice_s*1e3 .4f | SimGrid, ms = simgrid_s*1e3 .4f",
        "ratio .4f",
    ),
    wrong=apart,
)

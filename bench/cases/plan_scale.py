# SPDX-License-Identifier: BSD-3-Clause
"""Planning with thousands of ranks, simulated by SimGrid's SMPI: seconds, and bytes per rank at the peak.

All ranks run in one process, and every allocation is charged to the rank that makes it. The bytes include
SMPI's own allocations for a rank; NUICE's are also counted separately. wall_s are the seconds of this
machine for all ranks one after the other, mostly SMPI's own, which grow with the square of the number of
ranks. simulated_s is the time of the messages on 16 simulated hosts with 10 Gbit/s, without computing.
`gather`, `count` and `consensus` only learn by that method which rank sends to which. `local` is the
measured time of one rank's computation: matrix, schedule, check, slices of all. `everywhere`, whole plans,
no longer ends under SimGrid 3.32, which lacks MPI_Comm_idup.
"""

import os
import time
from pathlib import Path

from kit import ROOT, Case, Failed, Table, call, objects, scratch, smpi

SOURCES = ROOT / "bench" / "plan_scale"
WAYS = ("everywhere", "gather", "count", "consensus", "local")
HOSTS = 16
NETWORK = {"bytes_per_s": 1.25e9, "latency_s": 4e-6}
MEMORY = ("smpi/privatization:no", "contexts/stack-size:256", "smpi/simulate-computation:no")
PARTS = ("matrix", "schedule", "check", "slices")


def measure(what, ranks, partners, build, folder):
    is_local = what == "local"
    command = smpi.smpirun(
        folder, 1 if is_local else ranks, HOSTS, **NETWORK, settings=(*MEMORY, *smpi.LOOKS)
    )
    program = build / "bench" / "plan_scale" / "plan_scale"
    command += ["--log=root.thres:error", str(program), what, str(partners), str(ranks)]
    env = dict(os.environ) if is_local else os.environ | {"LD_PRELOAD": str(folder / "libmemory.so")}
    begin_s = time.monotonic()
    done = call(command, timeout_s=3600, cwd=folder, env=env, status=None)
    found = objects(done.stdout)
    if not found:
        raise Failed(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return found[-1] | {"wall_s": time.monotonic() - begin_s}


def rows(options):
    build = Path(options.build).resolve()
    smpi.build(build, "plan_scale")
    with scratch() as folder:
        library = folder / "libmemory.so"
        words = ["-shared", "-fPIC", "-std=c++20", "-O2", SOURCES / "plan_scale_memory.cpp", "-o", library]
        call(["c++", *words, "-lsimgrid"])
        for what in options.what:
            for ranks in options.ranks:
                yield measure(what, ranks, options.partners, build, folder)


INDEX = "what | ranks | partners"
CASE = Case(
    rows,
    needs=["smpirun"],
    options=dict(
        ranks=[256, 1024, 4096],
        partners=64,
        what=(["consensus", "count", "local"], f"some of {', '.join(WAYS)}", WAYS),
        build=(str(smpi.BUILD), "folder to build in"),
    ),
    quick=dict(ranks=[64], partners=8, what=["consensus", "local"]),
    minutes=15,
    tables=[
        Table(
            "simulated by SMPI",
            INDEX,
            "s in all = wall_s .1f | s on the network = simulated_s .3f",
            "peak on rank 0, MiB = bytes_rank_0/1048576 .2f | any other, KiB = bytes_others_max/1024 .1f",
            "of them not MPI's = own_bytes_others_max/1024 .1f",
            where=lambda row: row["what"] != "local",
        ),
        Table(
            "what one rank computes",
            INDEX,
            *(f"{part}, ms = {part}_s*1e3 .1f" for part in PARTS),
            where=lambda row: row["what"] == "local",
        ),
    ],
)

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Planning with thousands of ranks, simulated by SimGrid's SMPI: seconds, and bytes per rank at the peak.

usage: plan_scale.py [--ranks 256 1024 4096] [--partners 64] [--what root consensus local] [--json]

Compiles the MPI layer and lab/bench/plan_scale.cpp with smpicxx into build/plan_scale, links the layers below
from a build of this tree, and runs all ranks in one process; every allocation is charged to the rank that
makes it. The bytes contain what SMPI itself allocates for a rank meanwhile; those that nuice asked for are
told apart. "In all" are the seconds of this machine for all ranks one after the other, mostly SMPI's own,
which grow with the square of the ranks; "on the network" is what the messages take on 16 simulated hosts with
10 Gbit/s, computing not counted. `gather`, `count` and `consensus` only learn who sends to whom, that way.
`local` is what rank 0 computes by itself, by the clock: matrix, schedule, check, slices.
Needs Debian's libsimgrid-dev; without it the bench says so and is skipped.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "plan_scale"
LAYERS = ("core", "topology", "machine", "schedulers", "advise", "exchange")
HOSTS = 16
PLATFORM = f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="h" suffix="" radical="0-{HOSTS - 1}" speed="10Gf" bw="1250MBps" lat="2us"
           sharing_policy="SPLITDUPLEX"/>
</platform>
"""
FLAGS = ["-std=c++20", "-O2", f"-I{ROOT / 'include'}", f"-I{ROOT / 'src'}"]


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")


def compile_one(source):
    target = BUILD / (str(source.relative_to(ROOT)).replace("/", "_") + ".o")
    if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
        run(["smpicxx", *FLAGS, "-c", source, "-o", target])
    return target


def build(tree):
    """Objects are only as new as their own source: after changes to headers remove build/plan_scale."""
    BUILD.mkdir(parents=True, exist_ok=True)
    here = Path(__file__).parent / "plan_scale"
    sources = [*sorted((ROOT / "src" / "exchange" / "mpi").glob("*.cpp")), here / "plan_scale.cpp"]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compile_one, sources))
    libraries = [library for layer in LAYERS for library in (tree / "src" / layer).glob("libnuice_*.a")]
    if len(libraries) < len(LAYERS):
        sys.exit(f"plan_scale: {tree} is no build of nuice; name one with --build")
    group = ["-Wl,--start-group", *libraries, "-Wl,--end-group"]
    run(["smpicxx", "-o", BUILD / "plan_scale", *objects, *group, "-ltomlplusplus"])
    memory = here / "plan_scale_memory.cpp"
    run(["c++", "-shared", "-fPIC", *FLAGS, memory, "-o", BUILD / "libmemory.so", "-lsimgrid"])
    (BUILD / "platform.xml").write_text(PLATFORM)
    (BUILD / "hosts").write_text("".join(f"h{host}\n" for host in range(HOSTS)))


def measure(what, ranks, partners):
    is_local = what == "local"
    command = [
        "smpirun",
        "-np",
        "1" if is_local else str(ranks),
        "-platform",
        "platform.xml",
        "-hostfile",
        "hosts",
    ]
    command += ["--cfg=smpi/privatization:no", "--cfg=contexts/stack-size:256"]
    command += ["--cfg=smpi/simulate-computation:no", "--log=root.thres:error"]
    # SMPI charges 100 us for every poll, and more for each that finds nothing, so that programs that poll are
    # simulated faster; nonblocking consensus with 1,024 ranks then takes 7 s.
    command += [f"--cfg=smpi/{call}:1e-6" for call in ("iprobe", "test")]
    command += ["--cfg=smpi/grow-injected-times:no"]
    command += ["./plan_scale", what, str(partners), str(ranks)]
    environment = dict(os.environ)
    if not is_local:
        environment["LD_PRELOAD"] = str(BUILD / "libmemory.so")
    begin_s = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, cwd=BUILD, env=environment, timeout=3600)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return {**json.loads(lines[-1]), "wall_s": time.monotonic() - begin_s}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--ranks", type=int, nargs="+", default=[256, 1024, 4096])
    parser.add_argument("--partners", type=int, default=64)
    parser.add_argument(
        "--what",
        nargs="+",
        default=["root"],
        choices=["root", "everywhere", "gather", "count", "consensus", "local"],
    )
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release", help="a build of this tree")
    parser.add_argument("--json", action="store_true", help="one JSON object per line and nothing else")
    options = parser.parse_args()
    if shutil.which("smpicxx") is None:
        if not options.json:
            print("plan_scale skipped: no smpicxx (Debian: apt-get install libsimgrid-dev)")
        return
    build(options.build)
    for what in options.what:
        for ranks in options.ranks:
            row = measure(what, ranks, options.partners)
            if options.json:
                print(json.dumps(row), flush=True)
            elif what == "local":
                parts = [
                    f"{part} {1e3 * row[part + '_s']:.1f}"
                    for part in ("matrix", "schedule", "check", "slices")
                ]
                print(
                    f"{what:10} {ranks:5} ranks, {row['partners']} partners: ms: {', '.join(parts)}",
                    flush=True,
                )
            else:
                print(
                    f"{what:10} {ranks:5} ranks, {row['partners']} partners: {row['wall_s']:6.1f} s in all, "
                    f"{row['simulated_s']:.3f} s on the network, "
                    f"peak {row['bytes_rank_0'] / 2**20:7.2f} MiB on rank 0, "
                    f"{row['bytes_others_max'] / 2**10:8.1f} KiB on any other, "
                    f"{row['own_bytes_others_max'] / 2**10:6.1f} of them not MPI's",
                    flush=True,
                )


if __name__ == "__main__":
    main()

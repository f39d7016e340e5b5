#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `nuice run` gains real programs that nobody has changed: whole runs with and without it, in turns.

The programs are Debian's, with Debian's Open MPI; `make bench-programs` installs them. Whether both print
the same results is checked in every pair. Prints medians over the rounds.

usage: programs.py [--presets fast] [--hosts 16] [--programs lammps,spectral] [--rounds 5] [--check]
       [--json]     (as root, on the test network)
       lab/bench/programs.py --one-host: ranks of this machine, shared memory
"""

import argparse
import dataclasses
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from common import TESTBED, testbed
from rich.console import Console
from rich.table import Table

from nuice.cli.bench import environment
from nuice.cli.recording import find_library

INPUTS = Path(__file__).parent / "programs"
PSEUDOPOTENTIAL = Path("/usr/share/doc/quantum-espresso/examples/EPW/sic/pp/Si.pz-vbc.UPF.gz")
MPIEXEC = "/usr/bin/mpiexec.openmpi"


def lammps(folder):
    return ["lmp", "-in", str(INPUTS / "lammps.in"), "-log", "none"]


def spectral(folder):
    return ["/usr/bin/python3", str(INPUTS / "spectral.py"), "64", "8"]


def silicon(folder):
    with gzip.open(PSEUDOPOTENTIAL) as packed, open(folder / "Si.pz-vbc.UPF", "wb") as file:
        shutil.copyfileobj(packed, file)
    text = (INPUTS / "silicon.in").read_text()
    text = text.replace("PSEUDO", str(folder)).replace("OUT", str(folder / "out"))
    (folder / "silicon.in").write_text(text)
    return ["pw.x", "-in", str(folder / "silicon.in")]


def poisson(folder):
    case = ["--problem_type", "poisson", "--scaling_type", "strong", "--ndofs", "100000"]
    return ["dolfinx-scaling-test", *case, "-ksp_type", "cg", "-pc_type", "jacobi"]


def partition(folder, points=40):
    """A graph of points^3 vertices in Scotch's format: every vertex knows its neighbours."""
    steps = (1, points, points**2)
    lines = []
    for v in range(points**3):
        at = (v % points, v // points % points, v // points**2)
        near = [v - s for x, s in zip(at, steps, strict=True) if x > 0]
        near += [v + s for x, s in zip(at, steps, strict=True) if x < points - 1]
        lines.append(" ".join(map(str, (len(near), *near))))
    arcs = 6 * (points - 1) * points**2
    graph = folder / "grid.grf"
    graph.write_text(f"0\n{points**3} {arcs}\n0 000\n" + "\n".join(lines) + "\n")
    return ["dgpart", "16", str(graph), str(folder / "parts.map"), "-vm"]


@dataclasses.dataclass(frozen=True)
class Program:
    words: Callable[[Path], list[str]]
    exchanges: str
    results: str  # a regular expression for what must be printed alike
    needs: str
    repeats: bool = True  # two runs print the same


PROGRAMS = {
    "lammps": Program(lammps, "Alltoallv: pppm of 32,768 ions", r"^ +\d+ +-?[\d.]+ +-.*$", "lmp"),
    "spectral": Program(spectral, "Alltoallw: mpi4py-fft, 64^3", r"^energy .*$", "mpiexec.openmpi"),
    "silicon": Program(silicon, "Alltoall, small: Quantum ESPRESSO", r"^! +total energy.*$", "pw.x"),
    "poisson": Program(poisson, "Ineighbor_alltoallv: DOLFINx", r"Solution norm.*$", "dolfinx-scaling-test"),
    "partition": Program(partition, "never the same: PT-Scotch", r"^M\t.*$", "dgpart", repeats=False),
}


def run(options, program, words, mode):
    """Seconds, and what it printed of its results."""
    settings = {"off": [], "on": ["NUICE_DROPIN=on"], "check": ["NUICE_DROPIN=check"]}[mode]
    preload = ["LD_PRELOAD=" + str(find_library())] if settings else []
    start = [*TESTBED, "run", "--timeout", "900", "--mpiexec", MPIEXEC]
    if options.one_host:
        start = [MPIEXEC, "--oversubscribe", "-n", str(options.hosts)]
    begin = time.monotonic()
    done = subprocess.run(
        [*start, "/usr/bin/env", "OMP_NUM_THREADS=1", "SCOTCH_PTHREAD_NUMBER=1", *settings, *preload, *words],
        capture_output=True,
        text=True,
        env=environment(),
    )
    elapsed = time.monotonic() - begin
    if done.returncode:
        sys.exit(f"{words[0]} ({mode}): {(done.stderr or done.stdout).strip()[-2000:]}")
    found = re.findall(program.results, done.stdout, re.MULTILINE)
    if not found:
        sys.exit(f"{words[0]} printed no result that looks like {program.results}:\n{done.stdout[-2000:]}")
    return elapsed, found


def measured(options, preset, name, folder):
    program = PROGRAMS[name]
    words = program.words(folder)
    modes = ("off", "check" if options.check else "on")
    times = {mode: [] for mode in modes}
    is_equal = True
    for turn in range(options.rounds):
        results = {}
        for mode in modes if turn % 2 == 0 else reversed(modes):
            seconds, results[mode] = run(options, program, words, mode)
            times[mode].append(seconds)
        is_equal = is_equal and (not program.repeats or results["off"] == results[modes[1]])
    return {
        "network": preset,
        "hosts": options.hosts,
        "program": name,
        "exchanges": program.exchanges,
        "mode": modes[1],
        "rounds": options.rounds,
        "without_s": median(times["off"]),
        "with_s": median(times[modes[1]]),
        "faster": median(a / b for a, b in zip(times["off"], times[modes[1]], strict=True)),
        "same_results": is_equal if program.repeats else None,
        "load": os.getloadavg()[0],
    }


def show(rows):
    table = Table("network", "program", "exchanges", "without s", "with s", "x faster", "same results")
    for row in rows:
        table.add_row(
            row["network"],
            row["program"],
            row["exchanges"],
            f"{row['without_s']:.1f}",
            f"{row['with_s']:.1f}",
            f"{row['faster']:.2f}",
            {True: "yes", False: "NO", None: "its own differ"}[row["same_results"]],
        )
    Console(width=120).print(table)
    load = max(row["load"] for row in rows)
    print(f"Medians of {rows[0]['rounds']} pairs, {rows[0]['hosts']} hosts; load {load:.0f}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presets", default="fast")
    parser.add_argument("--hosts", type=int, default=16)
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--check", action="store_true", help="every exchange by MPI too, compared")
    parser.add_argument("--one-host", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    names = options.programs.split(",")
    for name in names:
        if name not in PROGRAMS:
            sys.exit(f"there is no program {name}; known: {', '.join(PROGRAMS)}")
        if shutil.which(PROGRAMS[name].needs) is None:
            sys.exit(f"{name} needs {PROGRAMS[name].needs}: make bench-programs installs it")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for preset in ["shared memory"] if options.one_host else options.presets.split(","):
            if not options.one_host:
                testbed("up", "--preset", preset, "--hosts", str(options.hosts))
            try:
                rows += [measured(options, preset, name, Path(folder)) for name in names]
            finally:
                if not options.one_host:
                    testbed("down")
    if options.json:
        print(json.dumps(rows, indent=1))
    else:
        show(rows)


if __name__ == "__main__":
    main()

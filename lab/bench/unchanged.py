#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `nuice run` gains an unmodified program: it with and without, in turns, on the test network.

Programs: unchanged/all_to_all.cpp in several cases, from its first call to its last, and with --program
whatever you name, whose whole time is taken. Prints medians over the rounds, and with over without.

usage: unchanged.py [--presets fast,shallow] [--hosts 16] [--cases changing,turns,8:65536] [--calls 32]
       [--rounds 5] [--program "lmp -in bench.in" --mpiexec /usr/bin/mpiexec.openmpi] [--json]     (as root)
       unchanged.py --one-host: ranks of this machine, shared memory
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from common import TESTBED, testbed
from rich.console import Console
from rich.table import Table

from nuice.cli.bench import environment, find_program
from nuice.cli.recording import find_library

CASES = "changing,turns,8:65536,15:32768,15:1024,15:512,grid:65536,grid:4096,grid:1024"


def build(folder):
    program = Path(folder) / "all_to_all"
    source = Path(__file__).parent / "unchanged" / "all_to_all.cpp"
    subprocess.run([find_program("mpicxx"), "-std=c++20", "-O2", str(source), "-o", str(program)], check=True)
    return program


def started(options, words, is_on):
    """Seconds: as the program says, or as the clock does."""
    settings = ["LD_PRELOAD=" + str(find_library()), "NUICE_DROPIN=on"] if is_on else []
    program = ["/usr/bin/env", *settings, *words]
    if options.one_host:
        start = [options.mpiexec, "-n", str(options.hosts)]
    else:
        start = [*TESTBED, "run", "--timeout", "500", "--mpiexec", options.mpiexec]
    begin = time.monotonic()
    done = subprocess.run([*start, *program], capture_output=True, text=True, env=environment())
    elapsed = time.monotonic() - begin
    if done.returncode:
        sys.exit(f"{shlex.join(words)}: {done.stderr.strip()}")
    said = re.search(r"milliseconds (\S+)", done.stdout)
    return float(said[1]) / 1e3 if said else elapsed


def measured(options, preset, name, words):
    pairs = [(started(options, words, False), started(options, words, True)) for _ in range(options.rounds)]
    without, on = (median(column) for column in zip(*pairs, strict=True))
    return {
        "network": preset,
        "hosts": options.hosts,
        "program": name,
        "without_s": without,
        "with_s": on,
        "with_over_without": median(b / a for a, b in pairs),
        "load": os.getloadavg()[0],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presets", default="fast")
    parser.add_argument("--hosts", type=int, default=16)
    parser.add_argument("--cases", default=CASES)
    parser.add_argument("--calls", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--program")
    parser.add_argument("--mpiexec", default=find_program("mpiexec"))
    parser.add_argument("--one-host", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    records = []
    with tempfile.TemporaryDirectory() as folder:
        if options.program:
            programs = {options.program: shlex.split(options.program)}
        else:
            program = str(build(folder))
            programs = {case: [program, case, str(options.calls)] for case in options.cases.split(",")}
        for preset in ["one host"] if options.one_host else options.presets.split(","):
            if not options.one_host:
                testbed("up", "--preset", preset, "--hosts", str(options.hosts))
            try:
                for name, words in programs.items():
                    records.append(measured(options, preset, name, words))
                    if options.json:
                        print(json.dumps(records[-1]), flush=True)
            finally:
                if not options.one_host:
                    testbed("down")
    if options.json:
        return
    table = Table("network", "hosts", "program", "without, s", "with, s", "with / without", "load")
    for r in records:
        times = (f"{r[key]:.3f}" for key in ("without_s", "with_s", "with_over_without"))
        table.add_row(r["network"], str(r["hosts"]), r["program"], *times, f"{r['load']:.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()

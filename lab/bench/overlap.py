#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What working on each message as it lands gains on a network (003 s.6): `overlap` on the test network.

Makes the network (docs/how-to/testbed.md), builds examples/first_exchange with the nuice of .venv, runs its
`overlap` with work per message of a part, all and twice of the time that the port needs for it.

usage: overlap.py [--preset shallow] [--kib 64] [--partners 8] [--executors phased,credit]   (as root)
"""

import argparse
import subprocess
import sys
from pathlib import Path

from common import testbed

ROOT = Path(__file__).parents[2]
MPIEXEC = str(Path(sys.executable).parent / "mpiexec")
MBIT = {"shallow": 20, "fast": 50, "deep": 20}


def call(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: {done.stdout}{done.stderr}")
    return done.stdout


def build():
    folder = ROOT / "build" / "first_exchange"
    prefix = Path(sys.executable).parents[1]
    call("cmake", "-S", ROOT / "examples/first_exchange", "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}")
    call("cmake", "--build", folder, "--target", "overlap")
    return str(folder / "overlap")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--preset", default="shallow", choices=MBIT)
    parser.add_argument("--kib", type=int, default=64, help="per message")
    parser.add_argument("--partners", type=int, default=8)
    parser.add_argument("--executors", default="phased,credit,async")
    options = parser.parse_args()
    program = build()
    port_us = options.kib * 1024 / (MBIT[options.preset] * 0.125)
    testbed("up", "--preset", options.preset)
    try:
        for share in (0.25, 0.5, 1, 2):
            for executor in options.executors.split(","):
                words = [options.kib, round(share * port_us), options.partners, executor]
                printed = testbed("run", "--mpiexec", MPIEXEC, "--timeout", "120", program, *map(str, words))
                print(f"work {share:4} of the port's {port_us / 1e3:.1f} ms: {printed.strip()}", flush=True)
    finally:
        testbed("down")


if __name__ == "__main__":
    main()

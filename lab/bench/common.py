# SPDX-License-Identifier: BSD-3-Clause
"""What several scripts of this folder share: SimGrid's settings, programs on the test network."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

# A network of its own, beside those that others have up.
os.environ.setdefault("NUICE_TESTBED", f"bench{os.getpid()}")
TESTBED = [sys.executable, str(Path(__file__).parent / "testbed" / "nuice_testbed.py")]

# Bandwidth and latency only: no factors fitted to some cluster, no crosstraffic, no overheads of SMPI's own.
PLAIN_SMPI = (
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
    "smpi/simulate-computation:no",
)

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="h" suffix="" radical="0-{last}" speed="1Gf" bw="{rate}Bps" lat="{latency}s"
           sharing_policy="SPLITDUPLEX"/>
</platform>
"""


def testbed(*words: str) -> str:
    """What nuice-testbed printed; its error ends this program."""
    done = subprocess.run([*TESTBED, *words], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"nuice-testbed {words[0]}: {done.stderr.strip()}")
    return done.stdout


RUN_BENCH = ("run", "--timeout", "550", "nuice-bench")


def bench_on_testbed(
    path: Path, methods: list, reps: int, options: tuple | list = (), start: tuple | list = RUN_BENCH
) -> list[dict]:
    """What nuice-bench printed on the hosts of the test network, one record per method."""
    words = [
        "--matrix",
        str(path),
        "--schedulers",
        ",".join(methods),
        "--reps",
        str(reps),
        "--json",
        *options,
    ]
    printed = testbed(*start, *words)
    return [json.loads(line) for line in printed.splitlines() if line.startswith("{")]


def has_smpi(script: str, *programs: str, quiet: bool) -> bool:
    """Whether SimGrid is here; says so where it is not."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing and not quiet:
        print(f"{script} skipped: no {missing[0]} (Debian: apt-get install libsimgrid-dev)")
    return not missing


def smpirun(folder: Path, ranks: int, bytes_per_s: float, latency_s: float, settings: tuple = ()) -> list:
    """To run in that folder. A rank for each host; a message crosses two links, latency / 2 each."""
    platform = PLATFORM.format(last=ranks - 1, rate=bytes_per_s, latency=latency_s / 2)
    (folder / "platform.xml").write_text(platform)
    (folder / "hosts").write_text("".join(f"h{rank}\n" for rank in range(ranks)))
    command = ["smpirun", "-np", str(ranks), "-platform", "platform.xml", "-hostfile", "hosts"]
    return [*command, *(f"--cfg={setting}" for setting in (*PLAIN_SMPI, *settings))]


def print_rows(rows, as_json: bool, line) -> None:
    """Each as it comes: an object on a line, or what line(row) makes of it."""
    for row in rows:
        print(json.dumps(row) if as_json else line(row), flush=True)

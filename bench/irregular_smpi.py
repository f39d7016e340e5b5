#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""nuice-lee and nuice-wolff on a simulated CM-5, beside the printed speed-ups of paper 002 (figs 31 and 32).

usage: bench/irregular_smpi.py [--quick | --full] [--build FOLDER] [--json]

The real programs run under SimGrid's SMPI: every message and every poll is simulated, and the work of the
algorithm is told to the clock (apps/irregular/simulated.hpp). What is modelled, and from where:

  a cell or site    the printed sequential time over the cells that ours reaches in our mazes; Wolff:
                    the printed scale time over N^2, 33 us
  send/receive      88 us for an empty message (001 s.1), half of it at each end, where the processor is busy
  ... asynchronous  the same and an interrupt of 57 us at each end: not printed, but fitted to one figure
                    (Lee, 25 % walls, 256 x 256)
  active messages   1.6 us to send, 1.7 us to receive (004 s.2.2); Strata "slightly lower" (002 s.1): 1.5, 1.6
                    assumed, and the order of the two follows from it
  network           2 us, 10 MB/s for each node; no contention inside it
  a look at the network interfaces  4 us, which is as fine as SMPI can simulate in reasonable time

What is not: the CM-5's control network. Barriers and reductions are made of messages here, so active messages
end cycles locally (fig. 27) though 002 used global ends for Lee, and AMP-C-NO acknowledges instead of its two
barriers. Nets of Lee are so long that they take about the printed number of cycles (fig. 36). Every run
takes the best of a few widths, as 002 did. Needs Debian's libsimgrid-dev, else it is skipped.
--quick: the smallest case. --full: N = 1024 too (an hour).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="h" suffix="" radical="0-31" speed="1Gf" bw="10e6Bps" lat="1e-6s"
           sharing_policy="SPLITDUPLEX"/>
</platform>
"""
OPERATIONS_PER_S = 1e9  # of the platform
CONFIG = (
    "network/model:CM02",
    "network/crosstraffic:0",
    "network/TCP-gamma:0",
    "network/bandwidth-factor:1",
    "network/latency-factor:1",
    "smpi/bw-factor:0:1",
    "smpi/lat-factor:0:1",
    "smpi/test:4e-6",
    "smpi/grow-injected-times:no",
    "smpi/simulate-computation:no",
)
# Scheme: microseconds at the sender, at the receiver, widths to try.
SCHEMES = {
    "SSR-C-NO": (43.0, 43.0, (1, 2, 4, 8, 16)),
    "AMP-C-NO": (1.6, 1.7, (1, 2, 4)),
    "ASR-C-O": (100.0, 100.0, (1, 2, 4, 8, 16)),
    "AM-NC-O": (1.6, 1.7, (1, 2, 4)),
    "ST-NC-O": (1.5, 1.6, (1, 2, 4)),
}
# Printed sequential milliseconds and speed-ups in the order of SCHEMES; by (program, what, ranks), N.
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
    ("50", 256): (0.4, 0.6),
    ("50", 512): (0.4, 0.65),
    ("50", 1024): (0.5, 0.7),
}


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


def arguments(program: str, what: str, size: int, nets: int) -> list[str]:
    if program == "wolff":
        small = ["--samples", "0", "--clusters", str(nets), "--thermalise", "20", "--no-check"]
        return ["--size", str(size), "--delta", str(size // 20), *small]
    nearest, farthest = ENDS[what, size]
    layout = ["--walls", "0.25"] if what == "25" else ["--walls", "0.5", "--layout", "blocks"]
    # delta = 0.2 M, and M is 0.5 N in the mean
    return ["--size", str(size), *layout, "--nets", str(nets), "--delta", str(size // 10), "--no-alone",
            "--nearest", str(nearest), "--farthest", str(farthest)]  # fmt: skip


def simulate(options: argparse.Namespace, case: tuple[str, str, int], size: int, name: str) -> float:
    """Best speed-up over the sequential program, which runs on the same simulated processor."""
    program, what, ranks = case
    sender, receiver, widths = SCHEMES[name]
    widths = [width for width in widths if width <= size // ranks][: 1 if options.quick else None]
    overheads = (f"smpi/os:0:{sender}e-6:0", f"smpi/ois:0:{sender}e-6:0", f"smpi/or:0:{receiver}e-6:0")
    work = arguments(program, what, size, options.nets)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "platform.xml").write_text(PLATFORM)
        (Path(folder) / "hosts").write_text("".join(f"h{rank}\n" for rank in range(32)))

        def run(np: int, operations: float, more: list[str]) -> dict:
            command = ["smpirun", "-np", str(np), "-platform", "platform.xml", "-hostfile", "hosts"]
            command += [f"--cfg={setting}" for setting in (*CONFIG, *overheads)]
            command += [str(options.build / "apps" / program / f"nuice-{program}"), *work, *more]
            command += ["--transport", "mpi", "--reps", "1", "--json", "--log=root.thres:error"]
            environment = {**os.environ, "NUICE_SMPI_OPERATIONS": repr(operations)}
            done = subprocess.run(
                command,
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=3600,
                check=False,
            )
            lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
            if done.returncode != 0 or not lines:
                sys.exit(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
            return json.loads(lines[-1])

        printed_ms = PRINTED[case][size][0]
        if program == "wolff":
            cell_s = printed_ms * 1e-3 / size**2
        else:
            mazes = run(1, 1.0, ["--schemes", "SSR-C-NO", "--widths", "1"])["mazes"]
            cells = sum(net["visited"] for net in mazes[0]["nets"]) / options.nets
            cell_s = printed_ms * 1e-3 / cells
        chosen = "AM-NC-O" if name == "ST-NC-O" else name  # one layer, other costs
        best = 0.0
        for width in widths:
            ways = ["--schemes", chosen, "--sync", "local", "--widths", str(width)]
            report = run(ranks, cell_s * OPERATIONS_PER_S, ways)
            for result in report["results"]:
                best = max(best, result.get("speed_up", result.get("speedup", 0.0)))
    return best


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--programs", default="lee,wolff", help="which (default both)")
    parser.add_argument("--nets", type=int, default=2, help="nets or clusters (002: 10 and 100)")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "smpi", help="folder to build in")
    options = parser.parse_args()
    if shutil.which("smpirun") is None or shutil.which("smpicxx") is None:
        if not options.json:
            print("irregular_smpi skipped: no smpirun (Debian: apt-get install libsimgrid-dev)")
        return 0
    options.build = options.build.resolve()
    build(options.build)
    sizes = (256, 512, 1024) if options.full else (256,) if options.quick else (256, 512)
    cases = [case for case in PRINTED if case[0] in options.programs.split(",")]
    quick = [case for case in cases if case == ("lee", "25", 32)] or cases[:1]
    for case in quick if options.quick else cases:
        for size in sizes:
            printed = PRINTED[case][size][1]
            found = [simulate(options, case, size, name) for name in SCHEMES]
            show(options, case, size, printed, found)
    return 0


def show(
    options: argparse.Namespace, case: tuple[str, str, int], size: int, printed: tuple, found: list[float]
) -> None:
    order = sorted(SCHEMES, key=lambda name: found[list(SCHEMES).index(name)])
    wanted = sorted(SCHEMES, key=lambda name: printed[list(SCHEMES).index(name)])
    ratios = [have / want for have, want in zip(found, printed, strict=True)]
    if options.json:
        rows = [
            {"scheme": name, "simulated": have, "printed": want}
            for name, have, want in zip(SCHEMES, found, printed, strict=True)
        ]
        record = {"program": case[0], "walls": case[1], "ranks": case[2], "size": size, "rows": rows}
        print(json.dumps({**record, "same_order": order == wanted}), flush=True)
        return
    walls = f", {case[1]} % walls" if case[1] else ""
    print(f"{case[0]}{walls}, {size} x {size}, {case[2]} ranks: speed-up", flush=True)
    for name, have, want, ratio in zip(SCHEMES, found, printed, ratios, strict=True):
        print(f"  {name:10} simulated {have:7.3f}   printed {want:7.3f}   ratio {ratio:.3f}")
    print(f"  order {'as' if order == wanted else 'NOT as'} printed: {' < '.join(order)}", flush=True)


if __name__ == "__main__":
    sys.exit(main())

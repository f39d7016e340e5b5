#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""nuice-wolff in every scheme: the figures of 002 for this machine (lab/papers/docs/irregular.md).

For each size: scale time T/S N^2 by width (fig. 29), the best width of every scheme, its speed-up over the
sequential program and over one rank of the same code (fig. 31), cycles and items (fig. 35), local beside
global ends of cycles (fig. 37), the widths from which an item's cost lets two ranks beat one; lines of code
(fig. 28).

usage: wolff.py [--ranks 2] [--sizes 256,512,1024] [--widths 1,4,16,64,256] [--reps 9] [--clusters 60]
                      [--quick] [--json]
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from nuice.cli.bench import find_program

ROOT = Path(__file__).parents[2]
FILES = {
    "SSR-C-NO, ASR-C-O": "send_receive.hpp",
    "AMP-C-NO": "put.hpp",
    "AM-NC-O, ST-NC-O, AM-C-O": "active_messages.hpp",
}


def numbers(text):
    return [int(word) for word in text.split(",")]


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--sizes", type=numbers, default=[256, 512, 1024])
    parser.add_argument("--widths", type=numbers, default=[1, 4, 16, 64, 256])
    parser.add_argument("--reps", type=int, default=9)
    parser.add_argument("--clusters", type=int, default=60)
    parser.add_argument("--quick", action="store_true", help="one small lattice, once")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    if given.quick:
        given.sizes, given.widths, given.reps, given.clusters = [32], [4], 1, 3
    return given


def measure(size, given):
    """What nuice-wolff says, for widths that leave every rank a stripe."""
    widths = [w for w in given.widths if w * given.ranks <= size]
    command = [find_program("mpiexec"), "-n", str(given.ranks), find_program("nuice-wolff")]
    command += ["--size", str(size), "--widths", ",".join(map(str, widths)), "--reps", str(given.reps)]
    command += ["--clusters", str(given.clusters), "--samples", "0", "--no-check", "--json"]
    environment = dict(os.environ)
    environment.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
    environment.setdefault("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=3600)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def lines_of_code(file):
    lines = (line.strip() for line in (ROOT / "lab/papers/irregular" / file).read_text().splitlines())
    return sum(1 for line in lines if line and not line.startswith(("//", "#")))


def table(console, title, columns, rows):
    made = Table(title=title, title_justify="left")
    for column in columns:
        made.add_column(column, justify="left" if column in ("scheme", "ends") else "right")
    for row in rows:
        made.add_row(*row)
    console.print(made)


def show(console, report):
    ways = {}
    for result in report["results"]:
        ways.setdefault((result["scheme"], result["sync"] or ""), []).append(result)
    sequential = report["sequential"]
    console.print(
        f"\n{report['size']} x {report['size']}, {report['ranks']} ranks, {report['clusters']} clusters, "
        f"mean {report['mean_cluster']:.0f} sites; sequential {sequential['scale_ms']:.3f} ms, "
        f"{sequential['flips_per_second'] / 1e6:.1f} M flips/s"
    )
    widths = sorted({result["width"] for result in report["results"]})
    table(
        console,
        "T/S N^2, ms, by width (002 fig. 29)",
        ["scheme", "ends", *map(str, widths)],
        [[*way, *(f"{r['scale_ms']:.3f}" for r in results)] for way, results in ways.items()],
    )
    rows = []
    for way, results in ways.items():
        best = min(results, key=lambda result: result["scale_ms"])
        own = best["speedup_over_one_rank"]
        rows.append(
            [
                *way,
                str(best["width"]),
                f"{best['flips_per_second'] / 1e6:.1f}",
                f"{best['speedup']:.2f}",
                f"{best['efficiency']:.2f}",
                "-" if own is None else f"{own:.2f}",
                f"{best['cycles_per_cluster']:.0f}",
                f"{best['items_left_per_cycle']:.2f}",
                f"{best['items_right_per_cycle']:.2f}",
            ]
        )
    columns = [
        "scheme",
        "ends",
        "width",
        "Mflips/s",
        "speed-up",
        "efficiency",
        "over itself",
        "cycles",
        "left",
        "right",
    ]
    table(console, "best widths (002 figs 31, 35, 37)", columns, rows)
    for cost in report["item_costs"]:
        console.print(
            f"{cost['scheme']}: {1e9 * cost['item_seconds']:.1f} ns an item, "
            f"pays from width {cost['pays_from_width']:.1f}"
        )


def main():
    given = options()
    lines = {schemes: lines_of_code(file) for schemes, file in FILES.items()}
    if given.json:
        reports = [measure(size, given) for size in given.sizes]
        print(json.dumps({"reports": reports, "lines_of_code": lines}))
        return
    console = Console(width=None if sys.stdout.isatty() else 160)
    for size in given.sizes:  # shown as they come: a size takes minutes
        show(console, measure(size, given))
    console.print(
        "\nlines of code (002 fig. 28): " + "; ".join(f"{name} {count}" for name, count in lines.items())
    )


if __name__ == "__main__":
    main()

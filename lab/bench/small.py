#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Small messages on a network with contention: several ranks on a host, and one (docs/how-to/testbed.md).

Every method in the same run, in turns, every byte verified. For each case, once with one exchange between
two barriers and once with ten: milliseconds an exchange, over the best of MPI's own ways; how many messages
the network has to carry by themselves, and combined.

usage: small.py [--presets multi,deep,fast] [--reps 15] [--bench PROGRAM] [--json]    (as root)
"""

import argparse
import json
import tempfile
from pathlib import Path

from common import bench_on_testbed, testbed
from rich.console import Console
from rich.table import Table

import nuice

PEERS = ["alltoallv", "neighbor", "isend"]
COMBINED = ["ac", "ac@combine", "ac@combine=true+combine.leaders=1", "auto"]
FORWARDED = ["ac", "rex", "bruck", "bruck_kport", "auto"]


def cases(num_ranks, per_host):
    """(name, matrix)."""
    if per_host == 1:
        yield "everybody, 100 B", nuice.random_regular(num_ranks, num_ranks - 1, unit_bytes=100, seed=1)
        return
    for size in (16, 128):
        yield (
            f"everybody, {size} B",
            nuice.random_regular(num_ranks, num_ranks - 1, unit_bytes=size, seed=1),
        )
    yield "d=8, 1 KiB", nuice.random_regular(num_ranks, 8, unit_bytes=1024, seed=1)


def across(matrix, per_host):
    """Messages between hosts, and pairs of hosts that have any."""
    pairs = [
        (src // per_host, dst // per_host)
        for src, dst in zip(*(map(int, column) for column in matrix.entries()[:2]), strict=True)
        if src // per_host != dst // per_host
    ]
    return len(pairs), len(set(pairs))


def measure(preset, options, folder):
    """Records of all cases of a preset, one per method."""
    settings = json.loads(testbed("status", "--json"))["settings"]
    per_host = settings["ranks_per_host"]
    methods = [*PEERS, *(COMBINED if per_host > 1 else FORWARDED)]
    for name, matrix in cases(settings["hosts"] * per_host, per_host):
        path = Path(folder) / "matrix.mtx"
        nuice.save_matrix_market(path, matrix)
        messages, pairs = across(matrix, per_host)
        for batch in (1, 10):
            start = ["run", "--timeout", "300", options.bench]
            records = bench_on_testbed(path, methods, options.reps, ["--batch", str(batch)], start)
            records = [record for record in records if not record["refused"]]
            peer = min(r["exchange_seconds_median"] for r in records if r["method"] in PEERS)
            for record in records:
                seconds = record["exchange_seconds_median"]
                yield {
                    "preset": preset,
                    "case": name,
                    "batch": batch,
                    "method": record["method"],
                    "milliseconds": 1e3 * seconds,
                    "least": 1e3 * record["exchange_seconds_min"],
                    "over_best_peer": seconds / peer,
                    "messages": messages,
                    "pairs_of_hosts": pairs,
                }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presets", default="multi,deep,fast")
    parser.add_argument("--reps", type=int, default=15)
    parser.add_argument("--bench", default="nuice-bench", help="the program")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for preset in options.presets.split(","):
            testbed("up", "--preset", preset)
            try:
                records = list(measure(preset, options, folder))
            finally:
                testbed("down")
            if options.json:
                for record in records:
                    print(json.dumps(record))
                continue
            table = Table(title=preset)
            for column in ("case", "exchanges", "method", "ms", "least", "over the best of MPI"):
                table.add_column(column)
            for r in records:
                table.add_row(
                    f"{r['case']}: {r['messages']} messages, {r['pairs_of_hosts']} pairs of hosts",
                    str(r["batch"]),
                    r["method"],
                    f"{r['milliseconds']:.2f}",
                    f"{r['least']:.2f}",
                    f"{r['over_best_peer']:.2f}",
                )
            Console(width=150).print(table)


if __name__ == "__main__":
    main()

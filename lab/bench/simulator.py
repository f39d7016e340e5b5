#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How fast the simulator is: messages per second of processor time.

usage: simulator.py [--ranks N] [--degree D] [--repeat R] [--quick] [--json]

Bars: 1,024 ranks with 64 messages each in under 5 s, and 100,000 messages per second. Ports and, where the
network has any, links are shared; sizes are 1 to 32 KB, so that hardly two messages end at the same time.
"""

from __future__ import annotations

import argparse
import json
import time
from statistics import median

import nuice

MACHINE = """
topology = "{topology}"
[message]
start_up = "10 us"
[port]
bandwidth = "1 GB/s"
duplex = "{duplex}"
[network]
switching = "{switching}"
"""


def cases(ranks: int) -> list[tuple[str, str, str]]:
    side = 1 << (ranks.bit_length() - 1) // 2
    cube = f"hypercube:{ranks.bit_length() - 1}"
    wide = f"torus:{side}x{ranks // side}"
    return [
        (f"crossbar:{ranks}", "full", "packet"),
        (f"crossbar:{ranks}", "half", "packet"),
        (cube, "full", "packet"),
        (cube, "full", "circuit"),
        (f"fattree:{side}x{ranks // side}/2", "full", "packet"),
        (wide, "full", "packet"),
    ]


def measure(topology: str, duplex: str, switching: str, matrix: nuice.CommMatrix, repeat: int) -> list[dict]:
    machine = nuice.parse_machine(
        MACHINE.format(topology=topology, duplex=duplex, switching=switching), "bench"
    )
    rows = []
    for scheduler, executor in (("ac", "async"), ("rs_n", "phased")):
        schedule = nuice.plan(matrix, scheduler).schedule
        times = []
        for _ in range(repeat):
            begin = time.process_time()
            run = nuice.simulate(matrix, schedule, machine, executor)
            times.append(time.process_time() - begin)
        rows.append(
            {
                "topology": topology,
                "duplex": duplex,
                "switching": switching,
                "scheduler": scheduler,
                "executor": executor,
                "messages": matrix.num_messages,
                "processor_seconds": median(times),
                "messages_per_second": matrix.num_messages / median(times),
                "simulated_seconds": run.seconds,
                "seconds_to_port_bound": run.seconds / nuice.port_bound_s(matrix, machine),
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--ranks", type=int, default=1024, help="a power of two")
    parser.add_argument("--degree", type=int, default=64)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="64 ranks, 8 messages each")
    options = parser.parse_args()
    if options.quick:
        options.ranks, options.degree = 64, 8
    matrix = nuice.random_regular(options.ranks, options.degree, unit_bytes=1000, max_units=32, seed=1)
    if not options.json:
        print(f"{options.ranks} ranks, {matrix.num_messages} messages of 1 to 32 KB; processor time")
    for case in cases(options.ranks):
        for row in measure(*case, matrix, options.repeat):
            if options.json:
                print(json.dumps(row), flush=True)
                continue
            name = f"{row['topology']} {row['duplex']} {row['switching']}"
            print(
                f"{name:36} {row['scheduler']:5} {row['executor']:7} {row['processor_seconds']:8.3f} s"
                f" {row['messages_per_second']:10.0f} messages/s",
                flush=True,
            )


if __name__ == "__main__":
    main()

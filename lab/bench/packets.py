#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Lossless networks in simulation, packet by packet: orders, executors and paths beside sending all at once.

usage: packets.py [--seeds N] [--quick] [--json]

Times over the bound of the busiest link (with chosen paths: of the busiest port), both kinds of queues;
messages of 256 KiB, or of 32 KiB to 1 MiB. Then the speed of the simulator itself, in packet hops a second of
processor time. Every figure but the speed is a simulation.
"""

from __future__ import annotations

import argparse
import json
import time
from statistics import median

import nuice

CASES = (("fattree:18x18", 324), ("fattree:16x16/2", 256), ("fattree:8x8x8", 512), ("fattree:32x8/2", 256))
METHODS = (
    "ac:async",
    "coloring:credit",
    "link_coloring:phased",
    "link_coloring:barrier",
    "link_coloring:credit",
    "link_coloring:depend",
    "link_list:depend",
)
SIZES = {"equal": (262144, 1), "unequal": (32768, 32)}
MACHINE = """
topology = "{topology}"
[message]
latency = "0.65 us"
[port]
bandwidth = "25 GB/s"
sends_at_once = 0
[network]
packet_payload = "4096 B"
"""


def machine_of(topology: str) -> nuice.Machine:
    """200 Gbit/s; a notice takes four packets' time."""
    return nuice.parse_machine(MACHINE.format(topology=topology), "bench")


def matrix_of(ranks: int, sizes: str, seed: int, degree: int = 8) -> nuice.CommMatrix:
    unit, units = SIZES[sizes]
    return nuice.random_regular(ranks, degree, unit_bytes=unit, max_units=units, seed=seed)


def over_bound(run: nuice.PacketRun) -> float:
    return run.slots / max(run.port_bound_slots, run.link_bound_slots)


def orders(seeds: int, cases: tuple) -> list[dict]:
    rows = []
    for topology, ranks in cases:
        machine, network = machine_of(topology), nuice.make_topology(topology)
        for sizes in SIZES:
            matrices = [matrix_of(ranks, sizes, seed) for seed in range(1, seeds + 1)]
            for method in METHODS:
                scheduler, executor = method.split(":")
                plans = [nuice.plan(m, scheduler, topology=network) for m in matrices]
                row = {"topology": topology, "sizes": sizes, "method": method}
                for queueing in ("fifo", "voq"):
                    ratios = [
                        over_bound(
                            nuice.simulate_packets(m, p.schedule, machine, executor, queueing=queueing)
                        )
                        for m, p in zip(matrices, plans, strict=True)
                    ]
                    row[queueing] = median(ratios)
                rows.append(row)
    return rows


def chosen_paths(seeds: int, cases: tuple) -> list[dict]:
    """Over the port's bound: paths from the network, or chosen; all at once, in phases, or in order."""
    rows = []
    for topology, ranks in cases:
        machine, network = machine_of(topology), nuice.make_topology(topology)
        for sizes in SIZES:
            scheduler = "coloring" if sizes == "equal" else "coloring_by_size"
            for method in ("ac:async", "ac:async spray", *(f"{scheduler}:{e}" for e in ("phased", "depend"))):
                row = {"topology": topology, "sizes": sizes, "method": method}
                for queueing in ("fifo", "voq"):
                    ratios = []
                    for seed in range(1, seeds + 1):
                        matrix = matrix_of(ranks, sizes, seed)
                        schedule = nuice.plan(matrix, method.split(":")[0]).schedule
                        how: dict = {"queueing": queueing}
                        if method.startswith("ac"):
                            how["routing"] = "spray" if method.endswith("spray") else "table"
                        else:
                            schedule, how["paths"] = nuice.choose_paths(schedule, network)
                        executor = method.split(":")[1].split()[0]
                        run = nuice.simulate_packets(matrix, schedule, machine, executor, **how)
                        ratios.append(run.slots / run.port_bound_slots)
                        row["phases"] = schedule.num_phases
                    row[queueing] = median(ratios)
                rows.append(row)
    return rows


def speed(topology: str, ranks: int, queueing: str, repeat: int = 5) -> dict:
    matrix = matrix_of(ranks, "equal", 1)
    schedule = nuice.plan(matrix, "ac").schedule
    machine = machine_of(topology)
    times = []
    for _ in range(repeat):
        begin = time.process_time()
        run = nuice.simulate_packets(matrix, schedule, machine, "async", queueing=queueing)
        times.append(time.process_time() - begin)
    return {
        "topology": topology,
        "queueing": queueing,
        "packet_hops": run.packet_hops,
        "hops_per_second": run.packet_hops / median(times),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="one seed, one network")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    seeds, cases = (1, CASES[:1]) if arguments.quick else (arguments.seeds, CASES)
    result = {
        "orders": orders(seeds, cases),
        "paths": chosen_paths(seeds, (CASES[0], CASES[2])),
        "speed": [speed(*case, queueing) for case in cases[:3] for queueing in ("fifo", "voq")],
    }
    if arguments.json:
        print(json.dumps(result))
        return
    print(f"simulation, d = 8, time over the busiest link's bound, median of {seeds} matrices")
    for row in result["orders"]:
        case = f"{row['topology']:16} {row['sizes']:8} {row['method']:22}"
        print(f"{case} fifo {row['fifo']:.2f}  voq {row['voq']:.2f}")
    print("simulation, over the busiest port's bound; ac on the network's routes, others on chosen paths")
    for row in result["paths"]:
        case = f"{row['topology']:16} {row['sizes']:8} {row['method']:26} {row['phases']:3} phases"
        print(f"{case} fifo {row['fifo']:.2f}  voq {row['voq']:.2f}")
    for row in result["speed"]:
        millions = row["hops_per_second"] / 1e6
        print(f"{row['topology']:16} {row['queueing']:5} {millions:.1f} million packet hops a second")


if __name__ == "__main__":
    main()

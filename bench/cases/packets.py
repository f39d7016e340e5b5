# SPDX-License-Identifier: BSD-3-Clause
"""Lossless networks in simulation, packet by packet: orders, executors, adaptive routing and chosen paths
compared with sending all at once.

Times are over the bound of the busiest link (routing: of the busiest port), with both kinds of queues and
messages of 256 KiB, or of 32 KiB to 1 MiB. The last table is the speed of the simulator itself, in packet
hops per second of processor time. All other figures are simulated.
"""

import time
from functools import partial
from statistics import median

import nuice
from kit import Case, Table, timed
from kit.patterns import planned

NETWORKS = (("fattree:18x18", 324), ("fattree:16x16/2", 256), ("fattree:8x8x8", 512), ("fattree:32x8/2", 256))
METHODS = ["ac:async", "coloring:async", "link_coloring:phased"]
METHODS += ["link_coloring:async", "link_coloring:depend", "link_list:depend"]
QUEUES = ("fifo", "voq")
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


def machine_of(topology):
    """Returns a machine with ports of 200 Gbit/s, on which a notification takes four packets' time."""
    return nuice.parse_machine(MACHINE.format(topology=topology), "bench")


def matrix_of(ranks, sizes, seed):
    unit, units = SIZES[sizes]
    return nuice.random_regular(ranks, 8, unit_bytes=unit, max_units=units, seed=seed)


def over_bound(run):
    return run.slots / max(run.port_bound_slots, run.link_bound_slots)


def orders(topology, sizes, matrices):
    machine, network = machine_of(topology), nuice.make_topology(topology)
    for method in METHODS:
        scheduler, executor = method.split(":")
        plans = [(m, nuice.plan(m, scheduler, topology=network).schedule) for m in matrices]
        row = {"part": "orders", "topology": topology, "sizes": sizes, "method": method}
        for q in QUEUES:
            row[q] = median(
                over_bound(nuice.simulate_packets(*p, machine, executor, queueing=q)) for p in plans
            )
        yield row


DRAGONFLY = "dragonfly:a=8,h=4,p=4,g=9"  # 288 ranks in groups of 32; four cables between any two


def routing(topology, sizes, matrices):
    """Returns times over the port's bound: static routes, adaptive routes (spray) or chosen paths."""
    machine, network = machine_of(topology), nuice.make_topology(topology)
    for method in ("ac:async", "ac:async spray", "link_list:depend", "path_coloring:depend"):
        scheduler, (executor, *spray) = method.split(":")[0], method.split(":")[1].split()
        plans = [(matrix, planned(matrix, scheduler, topology=network).schedule) for matrix in matrices]
        row = {"part": "routing", "topology": topology, "sizes": sizes, "method": method}
        by = "spray" if spray else "table"
        for q in QUEUES:
            runs = [nuice.simulate_packets(*p, machine, executor, queueing=q, routing=by) for p in plans]
            row[q] = median(run.slots / run.port_bound_slots for run in runs)
        yield row


def speed(topology, ranks, queueing, repeat=5):
    matrix = matrix_of(ranks, "equal", 1)
    schedule = nuice.plan(matrix, "ac").schedule
    machine = machine_of(topology)
    simulate = partial(nuice.simulate_packets, matrix, schedule, machine, "async", queueing=queueing)
    taken = [timed(simulate, time.process_time) for _ in range(repeat)]
    hops = taken[0][1].packet_hops
    row = {"part": "speed", "topology": topology, "queueing": queueing, "packet_hops": hops}
    return row | {"hops_per_second": hops / median(seconds for seconds, _ in taken)}


def rows(options):
    """Yields orders on all networks, and routing on the first and the third."""
    networks = NETWORKS[:1] if options.quick else NETWORKS
    for part, chosen in ((orders, networks), (routing, networks[:3:2])):
        for topology, ranks in chosen:
            for sizes in SIZES:
                matrices = [matrix_of(ranks, sizes, seed) for seed in range(1, options.seeds + 1)]
                yield from part(topology, sizes, matrices)
    yield from routing("fattree:16x16/2", "equal", [matrix_of(256, "equal", 1)])
    yield from routing("fattree:16x16/2", "unequal", [matrix_of(256, "unequal", 1)])
    for sizes in SIZES:
        yield from routing(DRAGONFLY + ",paths=12", sizes, [matrix_of(288, sizes, 1)])
    to_next_group = [(rank, (rank + 32) % 288, 1 << 20) for rank in range(288)]
    yield from routing(
        DRAGONFLY + ",paths=12", "next group", [nuice.CommMatrix.from_messages(288, to_next_group)]
    )
    for topology, ranks in networks[:3]:
        for queueing in QUEUES:
            yield speed(topology, ranks, queueing)


CASE = Case(
    rows,
    options=dict(seeds=3),
    quick=dict(seeds=1),
    minutes=6,
    tables=[
        Table(
            "simulation, d = 8, time over the busiest link's bound, median of {o.seeds} matrices",
            "topology | sizes | method | fifo .2f | voq .2f",
            where=lambda row: row["part"] == "orders",
        ),
        Table(
            "simulation, over the busiest port's bound; static routes, adaptive ones (spray), chosen paths",
            "topology | sizes | method | fifo .2f | voq .2f",
            where=lambda row: row["part"] == "routing",
        ),
        Table(
            "the simulator",
            "topology | queueing | million packet hops/s = hops_per_second*1e-6 .1f",
            where=lambda row: row["part"] == "speed",
        ),
    ],
)

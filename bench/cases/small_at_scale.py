# SPDX-License-Identifier: BSD-3-Clause
"""Small messages between all ranks of many hosts: NUICE compared with published algorithms that forward.

65,536 ranks have 4.3 billion messages, too many to simulate one by one here. But all ranks do the same. So a
method is modelled as a list of rounds, in each of which every rank packs some bytes, sends a number of
transfers of equal size, some of them to other hosts, and unpacks. A round takes as long as its processors or
its hosts' ports, whichever takes longer. The model is compared with the simulator, which handles every
transfer, if both can run: `model / simulated`.

NUICE's methods: `direct` (ac:async) and `combine` (ADR 0027): messages are copied into the host's memory,
sent as one transfer from host to host, and copied out. It sends to all hosts at once, as on a named lossless
machine, or host by host, as with a small window. Published methods: Bruck with radix 2 and sqrt(n) (rows
bruck, bruck_kport), and TuNA and its form for hosts (row tuna, without and with hosts), each with its best
radix. Radix n forwards nothing and equals `direct`. The rows assume known sizes; `with sizes ahead` sends
sizes before every round, as published.

In addition to the machine's own values, a core is assumed to copy 10 GB/s. Links above the hosts' ports are
assumed free, which favours methods whose rounds are shifts. The simulator counts whole packets; in the check
both run without packets. The model of the large machine counts headers but no padding.
"""

from dataclasses import dataclass
from itertools import product
from math import ceil, isqrt

import numpy as np

import nuice
from kit import Case, Column, Table
from kit.patterns import everybody, planned

COPY_BYTE_S = 1e-10


@dataclass
class Round:
    """The work of every rank in a round: transfers of `size` bytes, `far` of them over its host's port, and
    copies."""

    transfers: float
    size: float
    far: float
    copied: float = 0.0  # bytes
    copies_first: bool = False  # all copies are made before anything is sent
    sizes: int = 0  # bytes of the sizes that precede each transfer, as published
    forced_apart: int = 1  # parts of the round that wait for each other


def digits(length, radix):
    """Yields (shift, the number of `length` distances that have this digit)."""
    distances = np.arange(length)
    weight = 1
    while weight < length:
        found = np.bincount(distances // weight % radix, minlength=radix)
        yield [(digit * weight, int(found[digit])) for digit in range(1, radix) if found[digit]]
        weight *= radix


def radices(length):
    roots = {2, length}
    for power in (2, 3, 4):
        roots.add(next(r for r in range(2, length + 2) if r**power >= length))
    return sorted(r for r in roots if r >= 2)


def leg(length, size, pieces, far_of, radix, at_once):
    """Returns the rounds of a leg of forwarding, with `pieces` messages of `size` for each distance.

    far_of(shift) says how many of a rank's transfers leave through its host's port. A transfer of several
    messages is packed and unpacked.
    """
    for shifts in digits(length, radix):
        rounds = [shifts] if at_once else [[shift] for shift in shifts]
        for part in rounds:
            messages = sum(count for _, count in part) * pieces / len(part)
            far = sum(far_of(shift) for shift, _ in part)
            copied = 2 * messages * size * len(part) if messages > 1 else 0
            yield Round(len(part), messages * size, far, copied, sizes=4 * ceil(messages))


def flat(hosts, per_host, size, radix, at_once):
    ranks = hosts * per_host

    def far(shift):
        return min(shift, ranks - shift, per_host) / per_host

    return list(leg(ranks, size, 1, far, radix, at_once))


def on_hosts(hosts, per_host, size, inside, between):
    first = leg(per_host, size, hosts, lambda _: 0, inside, True)
    second = leg(hosts, size, per_host, lambda _: 1, between, True)
    return [*first, *second]


def methods(hosts, per_host, size):
    """Yields (name, whose method it is, lists of rounds). The best of the lists counts."""
    ranks = hosts * per_host
    yield "direct", "ours", [[Round(ranks - 1, size, ranks - per_host)]]
    led = (hosts - 1) / per_host
    block = per_host * per_host * size
    copied = 2 * ranks * size
    yield "combine", "ours", [[Round(led, block, led, copied, True)]]
    yield "combine, host by host", "ours", [[Round(led, block, led, copied, True, forced_apart=hosts - 1)]]
    root = isqrt(ranks - 1) + 1
    yield "bruck, radix 2", "published", [flat(hosts, per_host, size, 2, False)]
    yield "bruck_kport", "published", [flat(hosts, per_host, size, root, True)]
    yield "tuna, flat", "published", [flat(hosts, per_host, size, r, True) for r in radices(ranks)]
    ways = [
        on_hosts(hosts, per_host, size, inside, between)
        for inside in radices(per_host)
        for between in radices(hosts)
    ]
    yield "tuna", "published", ways


def wire(machine, size, headers):
    return size + ceil(size / 4096) * machine.packet_header * headers if size else 0


def modelled(machine, rounds, per_host, headers, two_phase=False):
    """Seconds."""
    message = machine.send_overhead_s + machine.receive_overhead_s
    total = 0.0
    for part in rounds:
        latency = (machine.latency_s + machine.hop_s * (2 if part.far else 0)) * part.forced_apart
        latency += machine.handshake_s * part.forced_apart if part.size > machine.eager_limit else 0
        rank = part.transfers * wire(machine, part.size, headers)
        port = max(rank, per_host * part.far * wire(machine, part.size, headers)) * machine.byte_s
        # A transfer leaves when it is packed, while the next transfer is packed. The time is that of the
        # processor or of the port, whichever takes longer. In addition, the first transfer is packed before,
        # and the last one is unpacked afterwards.
        copies = part.copied * COPY_BYTE_S
        if part.copies_first:
            total += copies
            copies = 0
        processor = part.transfers * message + copies
        total += latency + max(processor, processor / max(part.transfers, 1) + port)
        if two_phase and part.sizes:
            sizes = part.sizes * per_host * max(part.far, 1) * machine.byte_s
            total += machine.latency_s + max(part.transfers * message, message + sizes)
    return total


def simulated(machine, hosts, per_host, size, name):
    """Returns the simulated seconds, transfer by transfer and without packets; None for a form without a
    schedule."""
    ranks = hosts * per_host
    matrix = everybody(ranks, size)
    network = machine.replace(
        topology=f"tree:{per_host}x{hosts}/{per_host}",
        packet_payload=0,
        packet_header=0,
        lossless=False,
        copy_byte_s=COPY_BYTE_S,
        copies_parts=True,
    )

    def run(scheduler, executor, **options):
        schedule = planned(matrix, scheduler, **options).schedule
        return nuice.simulate(matrix, schedule, network, executor, blocking_sends=False).seconds

    if name == "direct":
        return run("ac", "async")
    if name == "combine":
        between = [
            (a * per_host + b % per_host, b * per_host + a % per_host, per_host * per_host * size)
            for a in range(hosts)
            for b in range(hosts)
            if a != b
        ]
        led = nuice.CommMatrix.from_messages(ranks, between)
        plan = nuice.plan(led, "ac")
        exchange = nuice.simulate(led, plan.schedule, network, "async", blocking_sends=False).seconds
        return exchange + 2 * ranks * size * COPY_BYTE_S
    if name == "bruck, radix 2":
        return run("bruck", "phased", phase_cost_bytes=1 << 40)
    if name == "bruck_kport":
        return run("bruck_kport", "phased")
    return None


def checks(machine, name_of_machine, size, shape):
    """Yields comparisons of the model with the simulator."""
    hosts, per_host = map(int, shape.split("x"))
    for name, whose, ways in methods(hosts, per_host, size):
        seconds = simulated(machine, hosts, per_host, size, name)
        if seconds is None:
            continue
        model = min(modelled(machine, way, per_host, 0) for way in ways)
        row = {"part": "check", "machine": name_of_machine, "shape": shape, "bytes": size}
        row |= {"method": name, "whose": whose, "simulated_ms": seconds * 1e3}
        yield row | {"modelled_ms": model * 1e3, "model_over_simulated": model / seconds}


def models(machine, name_of_machine, size, shape):
    hosts, per_host = map(int, shape.split("x"))
    found = []
    for name, whose, ways in methods(hosts, per_host, size):
        times = [modelled(machine, way, per_host, 1) for way in ways]
        two_phase = min(modelled(machine, way, per_host, 1, True) for way in ways)
        found.append((name, whose, min(times), two_phase))
    best = {w: min(t for _, whose, t, _ in found if whose == w) for w in ("ours", "published")}
    as_published = min(t for _, whose, _, t in found if whose == "published")
    for name, whose, seconds, two_phase in found:
        row = {"part": "modelled", "machine": name_of_machine, "shape": shape, "bytes": size}
        row |= {"method": name, "whose": whose, "modelled_ms": seconds * 1e3}
        row |= {"two_phase_ms": two_phase * 1e3 if whose == "published" else None}
        row |= {"ours_over_published": best["ours"] / best["published"]}
        yield row | {"ours_over_two_phase": best["ours"] / as_published}


def rows(options):
    for name, size in product(options.machines, options.sizes):
        machine = nuice.find_machine(name)
        for shape in options.checked:
            yield from checks(machine, name, size, shape)
        yield from models(machine, name, size, options.shape)


CASE = Case(
    rows,
    options=dict(
        machines=(["ib-hdr-fattree", "slingshot-dragonfly"], "shipped machines"),
        sizes=[64, 256, 1024, 4096],
        checked=(["8x8", "16x8"], "hosts x ranks, simulated too"),
        shape=("1024x64", "hosts x ranks of the modelled machine"),
    ),
    quick=dict(machines=["ib-hdr-fattree"], sizes=[64], checked=["4x4"]),
    minutes=8,
    tables=[
        Table(
            "{row[machine]}: the model compared with the simulator, transfer by transfer",
            Column("bytes, shape", lambda row: f"{row['bytes']} B, {row['shape']}"),
            "method | whose | simulated ms = simulated_ms .3f | modelled ms = modelled_ms .3f",
            "model / simulated = model_over_simulated .2f",
            where=lambda row: row["part"] == "check",
            each="machine",
        ),
        Table(
            "{row[machine]}, {row[shape]}: modelled, not simulated",
            Column("bytes", lambda row: f"{row['bytes']} B"),
            "method | whose | ms = modelled_ms .2f | with sizes ahead = two_phase_ms .2f",
            "best of NUICE / best published row = ours_over_published .2f",
            "/ with sizes ahead = ours_over_two_phase .2f",
            where=lambda row: row["part"] == "modelled",
            each="machine",
        ),
    ],
)

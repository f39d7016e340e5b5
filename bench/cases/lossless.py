# SPDX-License-Identifier: BSD-3-Clause
"""An emulated lossless fabric (nuice-testbed up --preset lossless): the fabric itself, MPI on it, and victim
flows.

emulator: pairs of hosts exchange at the ports' rate, so nothing contends. Figures are the share of the
bound, the 99th percentile of the deviation of packet gaps from the rate (in packets), and the packets per
second of a core, with the kernel's part of ports and UDP, and without any port. mpi: every method over TCP
on a full tree of 16 hosts, d = 8. rdma: the same as RDMA cards carry it, with 32 packets of a connection in
flight; `ac:async` corresponds to MPI_Isend and MPI_Alltoallv. victim: the time of a flow that shares no port
with a hot receiver, compared with its time alone. paths: on a full and on a thinned tree, schedules whose
senders choose paths, and all messages at once over static routes, over a path by each connection's hash, and
over adaptive routes. windows: MPI's methods under nuice run. kinds: the same exchange on fabrics with
pauses, with a queue for each output, and with store and forward.
"""

import json
from statistics import median

import nuice
from kit import KIB, MEDIAN, Case, Table, call, network, objects, testbed
from kit.patterns import hot, uniform
from nuice.cli.bench import find_program

TREE = "fattree:4x4"
PEERS = ["alltoallv", "isend", "nbx"]
MPI = [
    *PEERS,
    "coloring:async",
    "coloring:phased",
    "link_list:depend",
]
RDMA = ["ac:async", "coloring:phased", "coloring:async", "link_coloring:phased", "link_coloring:depend"]
RDMA += ["link_list:depend"]
SIZES = {"256 KiB": (256 * KIB, 1), "32 KiB to 1 MiB": (32 * KIB, 32)}
TIMES = "method | ms = median_s*1e3 .0f | / bound = to_bound .2f | faster .2f"
PACKET = 1514 * 8  # bits, with its Ethernet header
DATA = 1456
PARTS = ("emulator", "mpi", "windows", "rdma", "victim", "paths", "kinds")
ALONE = ["ac:async"]
CHOSEN = ["ac:async", "link_list:depend", "path_coloring:depend", "path_coloring:phased"]
TREES = {TREE: "full", f"{TREE}/2": "thinned 2:1"}
KINDS = {
    "pauses (PFC)": ("--flow", "pfc"),
    "a queue for each output": ("--queueing", "voq"),
    "store and forward": ("--switching", "store"),
}
VICTIM = (6, 12)  # flows over the hot host's upward cable that share no port with the other flows


def planned(matrix, methods, topology):
    made = nuice.make_topology(topology)
    return [(nuice.plan(matrix, m.split(":")[0], topology=made), m.split(":")[1]) for m in methods]


def emulator(options):
    """Measures the emulator. Acknowledgements go only to hosts that also get data, so that no two flows need
    the same port."""
    with network("--preset", "lossless", "--rate", options.rate, name="lossless") as where:
        pairs = [(rank, rank ^ 1, 500 * DATA) for rank in range(where.ranks)]
        matrix = nuice.CommMatrix.from_messages(where.ranks, pairs)
        before = json.loads(testbed("status", "--json"))["fabric"]
        record = where.rdma(matrix, planned(matrix, ["ac:async"], "crossbar:16"), options.reps)[0]
        packet_s = PACKET / (8 * where.host_bytes_per_s)
        after = json.loads(testbed("status", "--json"))["fabric"]
        virtual = [find_program("nuice-fabric"), "--topology", "crossbar:16", "--virtual", 1_000_000]
        yield {
            "part": "emulator",
            "fabric": f"{where.ranks} ports of {options.rate}",
            "of_rate": 500 * packet_s / median(record["seconds"]),
            "jitter_packets": abs(record["gap_p99_s"] / packet_s - 1),
            "packets_per_s": (after["delivered"] - before["delivered"])
            / (after["busy_s"] - before["busy_s"]),
            "virtual_packets_per_s": objects(call(virtual).stdout)[0]["packets_per_s"],
        }


def mpi(where, name, matrix, options):
    more = ["--topology", TREE, "--settle", 1, "--warmup", 1]
    records = where.bench(matrix, MPI, options.reps, *more)
    best = min(r[MEDIAN] for r in records if r["method"] in PEERS)
    for r in records:
        assert r["verified"] is not False, r
        yield {
            "part": "mpi",
            "sizes": name,
            "method": r["method"],
            "median_s": r[MEDIAN],
            "faster": best / r[MEDIAN],
            "to_bound": r[MEDIAN] / bound_s(where, matrix),
            "sent_again": r["tcp_segments_sent_again"],
        }


def windows(where, name, matrix, options):
    """Measures MPI's own methods, plain and under nuice run."""
    more = ["--topology", TREE, "--settle", 1, "--warmup", 1]
    for prefix in ((), (find_program("nuice"), "run")):
        for r in where.bench(matrix, PEERS[:2], options.reps, *more, words_before=prefix):
            method = f"{'nuice run: ' if prefix else ''}{r['method']}"
            yield {"part": "windows", "sizes": name, "method": method, "median_s": r[MEDIAN]}


def bound_s(where, matrix):
    return nuice.lower_bounds(matrix).max_port_bytes / where.host_bytes_per_s


def rdma(where, name, matrix, options, methods=RDMA, tree=TREE, part="rdma"):
    records = where.rdma(matrix, planned(matrix, methods, tree), options.reps)
    seconds = [median(record["seconds"]) for record in records]
    for method, took in zip(methods, seconds, strict=True):
        yield {
            "part": part,
            "sizes": name,
            "method": method,
            "median_s": took,
            "faster": seconds[0] / took,
            "to_bound": took / bound_s(where, matrix),
        }


def victims(where, options):
    """Measures a victim flow: all other hosts send to rank 0, and all packets wait in the same buffers."""
    size = 300 * DATA
    alone = nuice.CommMatrix.from_messages(where.ranks, [(*VICTIM, size)])
    free = median(where.rdma(alone, planned(alone, ["ac:async"], TREE), options.reps)[0]["seconds"])
    incast = [tuple(map(int, e)) for e in zip(*hot(where.ranks, size).entries(), strict=True)]
    messages = sorted([*(m for m in incast if m[0] not in VICTIM), (*VICTIM, size)])
    matrix = nuice.CommMatrix.from_messages(where.ranks, messages)
    methods = ["ac:async", "coloring:phased", "coloring:async", "coloring:depend", "link_list:depend"]
    for method, record in zip(
        methods, where.rdma(matrix, planned(matrix, methods, TREE), options.reps, "--arrivals"), strict=True
    ):
        place = record["transfers"].index(list(VICTIM))
        took = median(arrived[place] for arrived in record["arrived_s"])
        yield {"part": "victim", "method": method, "alone_s": free, "median_s": took, "slower": took / free}


def fabric(options, tree, *words):
    more = ("--preset", "lossless", "--topology", tree, "--rate", options.rate)
    return network(*more, *words, name="lossless")


def paths(options):
    """Measures paths. faster: speed relative to the fastest method that sends all messages at once."""
    for tree, name in TREES.items():
        for sizes, (unit, units) in SIZES.items():
            matrix = uniform(16, 8, unit // (8 if options.quick else 1), units)
            found = []
            for routing in ("table", "hash", "adaptive"):
                methods = CHOSEN if routing == "table" else ALONE
                with fabric(options, tree, "--routing", routing) as where:
                    for row in rdma(where, f"{name}, {sizes}", matrix, options, methods, tree, "paths"):
                        found.append(row | {"routing": routing})
            best = min(row["median_s"] for row in found if row["method"] in ALONE)
            yield from (row | {"faster": best / row["median_s"]} for row in found)


def kinds(options):
    matrix = uniform(16, 8, SIZES["256 KiB"][0] // (8 if options.quick else 1), 1)
    for name, words in KINDS.items():
        with fabric(options, TREE, *words) as where:
            yield from rdma(where, name, matrix, options, RDMA, TREE, "kinds")


def rows(options):
    if "emulator" in options.parts:
        yield from emulator(options)
    if "paths" in options.parts:
        yield from paths(options)
    if "kinds" in options.parts:
        yield from kinds(options)
    if not {"rdma", "mpi", "windows", "victim"} & set(options.parts):
        return
    with fabric(options, TREE, "--flow", options.flow) as where:
        for name, (unit, units) in list(SIZES.items())[: 1 if options.quick else None]:
            matrix = uniform(where.ranks, 8, unit // (8 if options.quick else 1), units)
            if units > 1 and not options.unequal:
                continue
            if "rdma" in options.parts:
                yield from rdma(where, name, matrix, options)
            if "windows" in options.parts:
                yield from windows(where, name, matrix, options)
            if "mpi" in options.parts:
                yield from mpi(where, name, matrix, options)
        if "victim" in options.parts:
            yield from victims(where, options)


CASE = Case(
    rows,
    needs=["mpi", "testbed"],
    options=dict(
        parts=(list(PARTS), "which", PARTS),
        reps=3,
        rate=("20mbit", "of a port"),
        flow=("credits", "control", ("credits", "pfc")),
        unequal=(False, "messages of 32 KiB to 1 MiB too"),
    ),
    quick=dict(reps=2),
    minutes=6,
    tables=[
        Table(
            "the emulated fabric without contention",
            "fabric | share of the rate = of_rate .3f | jitter, packets = jitter_packets .2f",
            "1000 packets/s of a core = packets_per_s*1e-3 .0f",
            "switches alone = virtual_packets_per_s*1e-3 .0f",
            where=lambda row: row["part"] == "emulator",
        ),
        Table(
            "MPI over TCP, emulated {o.rate}; faster: than the best of MPI's own",
            f"sizes | {TIMES}",
            "retransmitted = sent_again .0f",
            where=lambda row: row["part"] == "mpi",
        ),
        Table(
            "MPI over TCP with windows and without, emulated {o.rate}",
            "sizes | method | ms = median_s*1e3 .0f",
            where=lambda row: row["part"] == "windows",
        ),
        Table(
            "as RDMA cards carry it, emulated {o.rate}; faster: than all at once",
            f"sizes | {TIMES}",
            where=lambda row: row["part"] == "rdma",
        ),
        Table(
            "chosen paths, emulated {o.rate}; faster: than the best way to send all at once",
            f"tree, sizes = sizes | routing | {TIMES}",
            where=lambda row: row["part"] == "paths",
        ),
        Table(
            "other fabrics, as RDMA cards carry it, emulated {o.rate}; faster: than all at once",
            f"fabric = sizes | {TIMES}",
            where=lambda row: row["part"] == "kinds",
        ),
        Table(
            "a flow that shares no port with a hot receiver",
            "method | alone ms = alone_s*1e3 .0f | ms = median_s*1e3 .0f | times as long = slower .2f",
            where=lambda row: row["part"] == "victim",
        ),
    ],
)

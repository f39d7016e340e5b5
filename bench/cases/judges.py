# SPDX-License-Identifier: BSD-3-Clause
"""Three models of a lossless network: packet simulator, fluid simulator, emulated fabric (nuice-testbed).

The same plans run on the same fabrics. The emulated fabric carries real packets between 16 hosts as RDMA
cards do, with 32 packets of a connection in flight and without congestion control
(docs/how-to/lossless-fabric.md). Emulated times are medians. The simulators have a machine with the same
ports, packets of 1456 B and 0.1 ms of latency; the fluid simulator lacks depend. Messages are scaled so that
the busiest port carries at least 512 packets. rho: rank correlation of a matrix's methods between the
emulation and each simulator. If the emulator could not keep up, a matrix is measured once more and then left
out.
"""

from statistics import median

import numpy as np
from scipy.stats import spearmanr

import nuice
from kit import Case, Failed, Table, network
from kit.applications import application
from kit.patterns import airfoil, everybody, hot, near_and_far

HOSTS = 16
DATA = 1456  # bytes of a packet
PORT_PACKETS = 512
PHASED = ["coloring:phased", "link_coloring:phased"]
ONE_SWITCH = ["rs_n:phased", "coloring:phased", "coloring_by_size:phased", "coloring:async"]
ONE_SWITCH += ["rs_n:depend", "coloring:depend", "lpt:async"]
LINKS = ["link_coloring:async", "link_coloring:depend", "link_list:depend", "rs_nl:phased"]
FABRICS = {
    "lossless": ["ac:async", *ONE_SWITCH],
    "lossless2": ["ac:async", *PHASED, "coloring:async", *LINKS],
    "lossless-torus": ["ac:async", *PHASED, "coloring:async", *LINKS],
}
MACHINE = """
topology = "{topology}"
[message]
latency = "0.1 ms"
eager_limit = "1 GiB"
[port]
bandwidth = "2.5 MB/s"
sends_at_once = 0
[network]
packet_payload = "1456 B"
packet_header = "58 B"
"""


def halo(neighbours):
    """Returns the halo of a cube of 4 x 2 x 2 blocks like HPCG's: 16 neighbours over faces, 4 over edges, 1
    over corners."""
    places = [(x, y, z) for x in range(4) for y in range(2) for z in range(2)]
    messages = []
    for src, a in enumerate(places):
        for dst, b in enumerate(places):
            apart = [abs(p - q) for p, q in zip(a, b, strict=True)]
            if src != dst and max(apart) == 1 and sum(apart) in neighbours:
                messages.append((src, dst, neighbours[sum(apart)]))
    return nuice.CommMatrix.from_messages(HOSTS, messages)


def with_victims(senders):
    """Returns a matrix in which some ranks send to rank 0 and each of them also to another rank, which waits
    because it shares an input."""
    messages = [(rank, 0, 4) for rank in range(1, senders + 1)]
    messages += [(rank, (rank + 5) % HOSTS, 2) for rank in range(HOSTS) if (rank + 5) % HOSTS != 0]
    return nuice.CommMatrix.from_messages(HOSTS, sorted(messages))


def folded(name):
    """Returns the matrix of a real program's 64 ranks, four per host."""
    src, dst, size = map(np.asarray, application(name).entries())
    sums = np.zeros((HOSTS, HOSTS))
    np.add.at(sums, (src * HOSTS // 64, dst * HOSTS // 64), size)
    np.fill_diagonal(sums, 0)
    pairs = np.argwhere(sums > 0)
    return nuice.CommMatrix.from_messages(HOSTS, [(int(s), int(d), int(sums[s, d])) for s, d in pairs])


def scaled(matrix):
    """Scales the matrix so that the busiest port carries PORT_PACKETS packets, and no message is less than
    one packet."""
    factor = PORT_PACKETS * DATA / nuice.lower_bounds(matrix).max_port_bytes
    entries = zip(*matrix.entries(), strict=True)
    return nuice.CommMatrix.from_messages(
        HOSTS, [(int(s), int(d), max(int(size * factor), DATA)) for s, d, size in entries]
    )


def matrices():
    for seed in (1, 2, 3):
        yield f"d = 8, {seed}", nuice.random_regular(HOSTS, 8, seed=seed)
        yield f"d = 8, 1 to 32, {seed}", nuice.random_regular(HOSTS, 8, max_units=32, seed=seed)
    for seed in (1, 2):
        yield f"d = 4, {seed}", nuice.random_regular(HOSTS, 4, max_units=8, seed=seed)
    yield "all to all", everybody(HOSTS, 1)
    yield "all to all, 1 to 32", everybody(HOSTS, 1, 32)
    yield "all to one", hot(HOSTS, 1)
    yield "incast of 4 and victims", with_victims(4)
    yield "incast of 8 and victims", with_victims(8)
    yield "near and far", near_and_far(HOSTS, 1)
    yield "halo, faces", halo({1: 16})
    yield "halo as HPCG's", halo({1: 16, 2: 4, 3: 1})
    yield "airfoil", airfoil(9428, HOSTS)
    for name in ("amg2013-64", "lulesh-64", "minife-64"):
        yield name, folded(name)


def measure(where, matrix, methods, options):
    """Returns the seconds of each method on the emulated fabric and in both simulators (packet by packet,
    fluid), and the bound of the busiest port."""
    topology = nuice.make_topology(where.settings["topology"])
    machine = nuice.parse_machine(MACHINE.format(topology=where.settings["topology"]), "emulated")
    rows = [nuice.find_scheduler(m.split(":")[0]) for m in methods]
    kept = [m for m, row in zip(methods, rows, strict=True) if not row.why_not(matrix, topology=topology)]
    plans = [(nuice.plan(matrix, m.split(":")[0], topology=topology), m.split(":")[1]) for m in kept]
    try:
        records = where.rdma(matrix, plans, options.reps)
    except Failed:
        records = where.rdma(matrix, plans, options.reps)
    numbers = dict(early_bytes=12 * DATA)
    for method, (plan, executor), record in zip(kept, plans, records, strict=True):
        run = nuice.simulate_packets(matrix, plan.schedule, machine, executor, **numbers)
        fluid = executor in ("async", "phased")
        yield {
            "method": method,
            "emulated_s": median(record["seconds"]),
            "packets_s": run.seconds,
            "fluid_s": nuice.simulate(matrix, plan.schedule, machine, executor).seconds if fluid else None,
            "bound_s": run.port_bound_slots * run.slot_s,
        }


def rows(options):
    for preset in options.presets:
        with network("--preset", preset, name=preset) as where:
            for name, made in list(matrices())[: 2 if options.quick else None]:
                if options.cases not in name:
                    continue
                shape = {"fabric": preset, "matrix": name}
                try:
                    measured = list(measure(where, scaled(made), FABRICS[preset], options))
                except Failed as reason:
                    yield shape | {"part": "void", "reason": str(reason)[-200:]}
                    continue
                yield from ({"part": "method"} | shape | row for row in measured)
                yield {"part": "matrix"} | shape | agreement(measured)


def agreement(measured):
    """Returns the rank correlation of a matrix's methods, and the median of |a / b - 1|."""
    found = {"methods": len(measured)}
    for judge in ("packets_s", "fluid_s"):
        both = [(row["emulated_s"], row[judge]) for row in measured if row[judge]]
        rho = spearmanr(*zip(*both, strict=True)).statistic if len(both) > 2 else None
        found[f"rho_{judge[:-2]}"] = None if rho is None else float(rho)
        found[f"off_{judge[:-2]}"] = median(abs(other / own - 1) for own, other in both)
    both = [(row["packets_s"], row["fluid_s"]) for row in measured if row["fluid_s"]]
    found["off_simulators"] = median(abs(fluid / packets - 1) for packets, fluid in both)
    best = min(measured, key=lambda row: row["emulated_s"])
    chosen = min(measured, key=lambda row: row["packets_s"])
    # The cost of following the packet simulator's choice.
    return found | {"best": best["method"], "regret": chosen["emulated_s"] / best["emulated_s"] - 1}


def notes(rows):
    for fabric in dict.fromkeys(row["fabric"] for row in rows):
        of = [row for row in rows if row["fabric"] == fabric and row["part"] == "matrix"]
        methods = [row for row in rows if row["fabric"] == fabric and row["part"] == "method"]
        if not of:
            continue
        off = [abs(row["packets_s"] / row["emulated_s"] - 1) for row in methods]
        yield (
            f"{fabric}: {len(of)} matrices; rank correlation with the packet simulator, median "
            f"{median(row['rho_packets'] for row in of):.2f}; it is off by {100 * median(off):.1f} %, "
            f"by more than 10 % in {sum(x > 0.1 for x in off)} of {len(off)}"
        )


CASE = Case(
    rows,
    needs=["testbed"],
    options=dict(presets=list(FABRICS), cases="", reps=1),
    quick=dict(presets=["lossless2"]),
    minutes=8,
    tables=[
        Table(
            "{row[fabric]}: emulated, simulated packet by packet, simulated as a fluid",
            "matrix | method | emulated ms = emulated_s*1e3 .0f | packets = packets_s*1e3 .0f",
            "fluid = fluid_s*1e3 .0f | bound = bound_s*1e3 .0f",
            each="fabric",
            group="matrix",
            where=lambda row: row["part"] == "method",
        ),
        Table(
            "how the judges agree: rank correlation, and how far they are off (median of the methods)",
            "fabric | matrix | methods | rho, packets = rho_packets .2f | rho, fluid = rho_fluid .2f",
            "packets off % = off_packets*1e2 .1f | fluid off % = off_fluid*1e2 .1f",
            "simulators apart % = off_simulators*1e2 .1f | best | regret % = regret*1e2 .1f",
            where=lambda row: row["part"] == "matrix",
        ),
    ],
    notes=notes,
)

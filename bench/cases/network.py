# SPDX-License-Identifier: BSD-3-Clause
"""Exchanges on a network with real contention (docs/how-to/testbed.md), every method in the same run.

Makes the network of each preset and runs nuice-bench on its hosts (methods interleaved, every byte
verified). Each case shows every method's median and 95th percentile, both over the best of MPI's own
methods, the median over the bandwidth bound, and the retransmitted TCP segments. `apart` is TCP's own time:
one permutation without contention, times the degree. `auto` times its candidates while planning. Each timed
exchange follows an untimed one by the same method, because TCP remembers losses of other methods. With
--alone each method has its own start, and so its own connections.

PetscSF is a peer if nuice-bench was built with it, by `make bench-peers`, on Debian's MPI: --bench
build/peers/bench/nuice_bench/nuice-bench --mpiexec /usr/bin/mpiexec.
"""

import numpy as np

import nuice
from kit import MBIT, MEDIAN, Case, Column, Table, megabits, place
from kit.patterns import of_network

PEERS = ["alltoallv", "neighbor", "neighbor_init", "isend", "nbx", "petscsf"]
ORDERS = ["coloring:async", "rs_nh:async", "lpt:async"]
METHODS = [*PEERS, "auto", "rs_n", "coloring", "ac:async", *ORDERS]
# If links contend: the same schedulers with and without knowledge of the network.
FABRIC = [*PEERS, "auto", "coloring:async@blind", "link_coloring:phased"]
FABRIC += ["link_coloring:async", "rs_nl:async"]
# With several ranks per host: also with combined messages.
MULTI = [*PEERS, "auto", "coloring", "ac@combine", "coloring@combine", *ORDERS]


def methods_for(settings):
    """Returns (methods, further options of nuice-bench) for a network."""
    if settings["uplink"]:
        half = settings["hosts"] // 2
        slots = megabits(settings["uplink"]) // megabits(settings["rate"])
        return FABRIC, ["--topology", f"tree:{half}x2/{half // slots}"]
    if settings["ranks_per_host"] > 1:
        return MULTI, ["--hosts", "auto"]
    return METHODS, []


def loads(matrix, settings):
    """Returns bytes and messages of the busiest host's port, and the bytes over the uplink in its busier
    direction."""
    src, dst, sizes = map(np.asarray, matrix.entries())
    src, dst = src // settings["ranks_per_host"], dst // settings["ranks_per_host"]
    ends = [(end[src != dst], sizes[src != dst]) for end in (src, dst)]
    half = settings["hosts"] // 2
    ways = [(src < half) & (dst >= half), (src >= half) & (dst < half)] if settings["uplink"] else []
    port_bytes = max(np.bincount(end, size, 1).max() for end, size in ends)
    count = max(np.bincount(end, minlength=1).max() for end, _ in ends)
    return int(port_bytes), int(count), int(max((sizes[way].sum() for way in ways), default=0))


def bound_s(matrix, where):
    """Returns the seconds that the busiest port or the uplink needs."""
    port_bytes, _, up_bytes = loads(matrix, where.settings)
    bound = port_bytes / where.host_bytes_per_s
    if not where.settings["uplink"]:
        return bound
    return max(bound, up_bytes / (megabits(where.settings["uplink"]) * MBIT))


def known_peers(where, how):
    """Returns the peers in this nuice-bench's build: it lists them if asked for an unknown peer."""
    words = [how["program"] or "nuice-bench", "--matrix", "-", "--schedulers", "-"]
    said = where.run(words, ranks=1, mpiexec=how["mpiexec"], status=None).stderr
    names = said.partition("one of MPI's own: ")[2].partition("\n")[0].split(", ")
    return [peer for peer in PEERS if peer in names]


def run(where, matrix, methods, reps, further, how):
    """Returns one record per method that supports the matrix."""
    records = where.bench(matrix, methods, reps, "--settle", 1, "--warmup", 1, *further, **how)
    return [record for record in records if not record["refused"]]


def phases_apart_s(where, matrix, reps, how):
    """Returns the time of one phase of the schedule alone, times the number of phases."""
    n, per_host = matrix.num_ranks, where.settings["ranks_per_host"]
    ring = [(r, (r + per_host) % n, int(max(matrix.entries()[2]))) for r in range(0, n, per_host)]
    records = run(where, nuice.CommMatrix.from_messages(n, ring), ["alltoallv", "isend"], reps, (), how)
    return min(record[MEDIAN] for record in records) * loads(matrix, where.settings)[1]


def measure(where, options):
    """Yields one row per method, case by case."""
    how = {"program": options.bench, "mpiexec": options.mpiexec}
    words, further = methods_for(where.settings)
    known = known_peers(where, how)
    words = [w for w in words if (w not in PEERS or w in known) and w in (options.methods or words)]
    machine = where.name if where.name in ("fast", "deep") else "shallow"
    further += ["--machine", f"testbed-{machine}"]
    for name, matrix in of_network(where.settings, options.quick):
        if options.cases not in name:
            continue
        starts = [[word] for word in words] if options.alone else [words]
        records = [r for methods in starts for r in run(where, matrix, methods, options.reps, further, how)]
        apart, bound = phases_apart_s(where, matrix, options.reps, how), bound_s(matrix, where)
        peers = [r for r in records if r["method"] in PEERS]
        best = {key: min(r[f"exchange_seconds_{key}"] for r in peers) for key in ("median", "p95")}
        for r in records:
            yield {
                "preset": where.name,
                "cc": where.settings["cc"],
                "case": name,
                "table": f"{where.name} ({where.settings['cc']}), {name}",
                "method": r["method"],
                "choice": r.get("choice"),
                "phases": r["phases"],
                "median_s": r[MEDIAN],
                "p95_s": r["exchange_seconds_p95"],
                "to_best_mpi": r[MEDIAN] / best["median"],
                "p95_to_best_mpi": r["exchange_seconds_p95"] / best["p95"],
                "to_bound": r[MEDIAN] / bound,
                "bound_s": bound,
                "phases_apart_s": apart,
                "sent_again": r["tcp_segments_sent_again"],
                "mpi": r["mpi_library"],
                "verified": r["verified"],
            }


def rows(options):
    for preset in options.presets:
        hosts = 4 if options.quick else 0
        with place(preset, 0, cc="bbr", hosts=hosts) as where:
            yield from measure(where, options)


def times_as_fast(rows):
    for case in dict.fromkeys(row["table"] for row in rows):
        ours = [row for row in rows if row["table"] == case and row["method"] not in PEERS]
        auto = [row for row in ours if row["method"] == "auto"]
        if auto:
            least = min(ours, key=lambda row: row["median_s"])
            median, p95 = (1 / auto[0][key] for key in ("to_best_mpi", "p95_to_best_mpi"))
            best = f"{least['method']} {1 / least['to_best_mpi']:.2f}"
            yield f"{case}, times as fast as the best of MPI: auto {median:.2f} (p95s {p95:.2f}), {best}"


CASE = Case(
    rows,
    needs=["mpi", "testbed"],
    options=dict(
        presets=["fast", "shallow", "shallow:reno", "deep", "fabric", "multi", "multi2"],
        cases="",
        reps=9,
        methods=([], "only these of its methods"),
        alone=(False, "a start, so new connections, for every method"),
        bench="",
        mpiexec="",
    ),
    quick=dict(presets=["fast"], reps=2),
    minutes=60,
    tables=Table(
        "{row[table]}: bound {row[bound_s]:.4f} s, apart {row[phases_apart_s]:.4f} s; {o.reps} each",
        Column("method", lambda r: f"{r['method']}: {r['choice']}" if r["choice"] else r["method"]),
        Column("phases", lambda r: r["phases"] or None, "d"),
        "ms = median_s*1e3 .1f | / bound = to_bound .2f | / best MPI = to_best_mpi .2f",
        "p95 ms = p95_s*1e3 .1f | / best MPI's = p95_to_best_mpi .2f",
        "retransmitted = sent_again .0f",
        each="table",
    ),
    notes=times_as_fast,
)

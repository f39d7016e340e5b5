# SPDX-License-Identifier: BSD-3-Clause
"""What `auto` chooses on unknown networks: a grid of test networks (docs/how-to/testbed.md).

There are no machine file and no options. Every cell is one network and one pattern, with all methods
interleaved in one start. The first exchanges of `auto`, in which it tries methods, are timed too. Then `auto`
runs in its own start, because TCP remembers each connection's losses by other methods. Figures of a cell:
  late   median of exchanges 21 to 40 of auto
  peer   late over the best median of MPI's own methods
  first  exchanges 1 to 20 of auto together, over 20 medians of the best peer
  tail   auto in its own start: 95th percentile over the median, exchanges 21 to the last
  peer's the same for the best peer, in its own start
  bound  late over the time that the busiest port needs for its bytes
With --calibrate, a further start runs auto with the machine file that nuice-calibrate made on that network:
  expected  predicted over measured time of its choice, which it takes without a trial
  chosen    measured time of its choice over the best method in that start
"""

import tempfile
from itertools import product
from pathlib import Path
from statistics import median

import nuice
from kit import KIB, LOAD, Case, Table, network, quantile
from kit.patterns import everybody, hot, uniform
from nuice.cli.bench import find_program

SKIPPED = 20
OF_OURS = ["coloring:async", "coloring_by_size:async", "coloring:phased", "ac:async"]
NETWORK = "Mbit/s = rate | queue = queue_kib | cc | pattern"


def halo(n):
    """Returns a ring with two neighbours on either side."""
    return nuice.CommMatrix.from_messages(
        n, [(r, (r + s) % n, 64 * KIB) for r in range(n) for s in {1, 2, n - 1, n - 2} if s % n]
    )


PATTERNS = {
    "d8": lambda n: uniform(n, 8, 64 * KIB),
    "dense": lambda n: everybody(n, 32 * KIB),
    "heavy": lambda n: uniform(n, 8, 8 * KIB, 32),
    "halo": halo,
    "hot": lambda n: hot(n, 64 * KIB),
    "tiny": lambda n: everybody(n, 100),
}


def tail(times):
    return quantile(times[SKIPPED:], 0.95) / median(times[SKIPPED:])


def figures(records, bound_s):
    """Returns the cell's figures from nuice-bench's records of all methods."""
    series = {record["method"]: record["exchange_seconds_all"] for record in records}
    auto = series.pop("auto")
    medians = {method: median(times[SKIPPED:]) for method, times in series.items()}
    peer = min((m, method) for method, m in medians.items())
    late = median(auto[SKIPPED:40])
    chosen = next(record for record in records if record["method"] == "auto")
    return {
        "choice": chosen["choice"],
        "late_ms": 1e3 * late,
        "peer": late / peer[0],
        "best_peer": peer[1],
        "first": sum(auto[:SKIPPED]) / (SKIPPED * peer[0]),
        "bound": late / bound_s,
        "auto_s": auto,
    }


def calibrated(where, folder, how):
    """Returns the machine file of this network."""
    machine = Path(folder) / "machine.toml"
    where.run([find_program("nuice-calibrate"), "-o", machine], **how)
    return machine


def with_machine(where, matrix, machine, more, how):
    """Compares auto with a machine file, before any trial, with the methods that it could have chosen."""
    methods = ["auto", *OF_OURS]
    records = where.bench(matrix, methods, 11, *more, "--machine", machine, **how)
    (auto, *_) = records
    medians = [median(record["exchange_seconds_all"][1:]) for record in records]
    return {
        "machine_choice": auto["choice"],
        "expected": auto["predicted_seconds"] / medians[0],
        "chosen": medians[0] / min(medians),
    }


def rows(options):
    more = ["--warmup", 0]
    how = {"timeout_s": options.timeout, "mpiexec": options.mpiexec}
    bench = {"program": options.bench, **how}
    for rate, queue, cc in product(options.rates, options.queues, options.ccs):
        cell = {"rate": rate, "queue_kib": queue, "cc": cc, "hosts": options.hosts}
        methods = ["auto", *options.peers]
        shape = ["--rate", f"{rate}mbit", "--queue", f"{queue}k", "--cc", cc, "--hosts", str(options.hosts)]
        with network(*shape) as where, tempfile.TemporaryDirectory() as folder:
            machine = calibrated(where, folder, how) if options.calibrate else None
            for pattern in options.patterns:
                matrix = PATTERNS[pattern](options.hosts)
                records = where.bench(matrix, methods, options.exchanges, *more, **bench)
                bound_s = nuice.lower_bounds(matrix).max_port_bytes / where.host_bytes_per_s
                found = figures(records, bound_s)
                for what, method in [("", "auto"), ("peer_", found["best_peer"])]:
                    (alone,) = where.bench(matrix, [method], options.alone, *more, **bench)
                    series = alone["exchange_seconds_all"]
                    found |= {f"{what}tail": tail(series), f"{what}alone_s": series}
                if machine:
                    found |= with_machine(where, matrix, machine, more, bench)
                yield cell | {"pattern": pattern} | found


CASE = Case(
    rows,
    needs=["mpi", "testbed"],
    options=dict(
        rates=([20, 50, 100], "of a port, Mbit/s"),
        queues=([16, 48, 256], "of a switch port, KiB"),
        ccs=(["bbr", "reno"], "TCP congestion control"),
        patterns=(["d8", "dense", "heavy"], f"some of {', '.join(PATTERNS)}", tuple(PATTERNS)),
        hosts=8,
        exchanges=(40, "of every method, interleaved, 21 at least"),
        alone=(100, "of auto, and of the best peer, in a start of its own, 21 at least"),
        peers=(["nbx", "alltoallv"], "MPI's own ways, as nuice-bench calls them"),
        bench="",
        mpiexec="",
        calibrate=(False, "auto by what nuice-calibrate finds, too"),
        timeout=(550, "seconds for a cell"),
    ),
    quick=dict(rates=[100], queues=[48], ccs=["bbr"], patterns=["d8"], hosts=4, exchanges=22, alone=22),
    minutes=90,
    tables=[
        Table(
            "auto, nothing known; ratios below 1 are better",
            NETWORK,
            LOAD,
            "late_ms .2f | peer .2f | first .2f | tail .2f | peer's = peer_tail .2f | bound .2f",
        ),
        Table(
            "auto by what nuice-calibrate has found, before anything is tried",
            NETWORK,
            LOAD,
            "machine_choice | expected .2f | chosen .2f",
            where="expected",
        ),
    ],
)

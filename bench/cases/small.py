# SPDX-License-Identifier: BSD-3-Clause
"""Small messages on a network with contention: several ranks on a host, and one (docs/how-to/testbed.md).

MPI's own methods, published methods that forward, and NUICE's run interleaved, and every byte is verified.
Each case is measured with one and with ten exchanges between two barriers. Figures are milliseconds per
exchange, the same over the best of MPI's own methods, and the number of messages on the network, uncombined
and combined.
"""

from kit import MEDIAN, Case, Column, Table, place
from kit.patterns import everybody, uniform

PEERS = ["alltoallv", "neighbor", "isend"]
PUBLISHED = ["two_phase_bruck", "tuna_flat", "tuna_hosts"]  # in bare MPI, with sizes sent before every round
COMBINED = ["ac", "ac@combine", "ac@combine=true+combine.leaders=1", "auto"]
FORWARDED = ["ac", "rex", "bruck", "bruck_kport", "auto"]


def patterns(ranks, per_host):
    """Yields (name, matrix)."""
    for size in (16, 100) if per_host == 1 else (16, 128):
        yield f"all to all, {size} B", everybody(ranks, size)
    if per_host > 1:
        yield "d=8, 1 KiB", uniform(ranks, 8, 1024)


def across(matrix, per_host):
    """Returns the number of messages between hosts, and of pairs of hosts that have any."""
    ends = zip(*(map(int, column) for column in matrix.entries()[:2]), strict=True)
    pairs = [(a // per_host, b // per_host) for a, b in ends if a // per_host != b // per_host]
    return len(pairs), len(set(pairs))


def measure(where, options):
    """Yields one row per method for all cases."""
    per_host = where.settings["ranks_per_host"]
    methods = [*PEERS, *PUBLISHED, *(COMBINED if per_host > 1 else FORWARDED)]
    how = {"program": options.bench, "timeout_s": 300}
    for name, matrix in patterns(where.ranks, per_host):
        messages, pairs = across(matrix, per_host)
        for batch in (1, 10):
            records = where.bench(matrix, methods, options.reps, "--batch", batch, **how)
            records = [record for record in records if not record["refused"]]
            peer = min(r[MEDIAN] for r in records if r["method"] in PEERS)
            for record in records:
                yield {
                    "preset": where.name,
                    "case": name,
                    "batch": batch,
                    "method": record["method"],
                    "milliseconds": 1e3 * record[MEDIAN],
                    "least": 1e3 * record["exchange_seconds_min"],
                    "over_best_peer": record[MEDIAN] / peer,
                    "messages": messages,
                    "pairs_of_hosts": pairs,
                }


def rows(options):
    for preset in options.presets:
        with place(preset, 0, hosts=4 if options.quick else 0) as where:
            yield from measure(where, options)


def described(row):
    return f"{row['case']}: {row['messages']} messages, {row['pairs_of_hosts']} pairs of hosts"


CASE = Case(
    rows,
    needs=["mpi", "testbed"],
    options=dict(presets=["multi", "deep", "fast"], reps=15, bench=""),
    quick=dict(presets=["multi"], reps=2),
    minutes=6,
    tables=Table(
        "{row[preset]}",
        Column("case", described),
        "exchanges = batch | method | ms = milliseconds .2f | least .2f",
        "over the best of MPI = over_best_peer .2f",
        each="preset",
        group="case",
    ),
)

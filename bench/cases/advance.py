# SPDX-License-Identifier: BSD-3-Clause
"""MPI Advance as a peer: neighbour collectives, persistent ones and sparse exchanges, large and small.

Runs on a test network with several ranks per host, and on ranks of this machine. All methods are interleaved
in one run. _loc: MPI Advance's locality-aware variants, which aggregate per host. The sparse exchange does
not know its senders, like NBX. --settings: each setting is a separate job, as in `tuned`. Needs a
nuice-bench that was built with MPI Advance: make bench-advance MPI_ADVANCE_SRC=DIR.
"""

from kit import KIB, MEDIAN, CannotRun, Case, Table, place
from kit.patterns import everybody, uniform
from kit.settings import setting

ADVANCE = ["advance_neighbor", "advance_neighbor_loc", "advance_init", "advance_init_loc"]
ADVANCE += ["advance_sparse", "advance_sparse_loc"]
METHODS = ["neighbor", "isend", "nbx", *ADVANCE, "coloring:async", "auto"]
PATTERNS = {
    "8 partners, 64 KiB": lambda n: uniform(n, 8, 64 * KIB),
    "8 partners, 1 KiB": lambda n: uniform(n, 8, KIB),
    "all to all, 16 B": lambda n: everybody(n, 16),
}


def rows(options):
    if not options.bench:
        raise CannotRun("make bench-advance builds a nuice-bench with MPI Advance: --bench FILE")
    for preset in options.presets:
        preset = "" if preset == "here" else preset
        with place(preset, options.ranks, cc="bbr") as where:
            for name, pattern in PATTERNS.items():
                if options.cases not in name:
                    continue
                for word in options.settings if preset else ["installed"]:
                    each = setting(word, "openmpi")
                    more = ["--warmup", 1, "--hosts", "auto"]
                    # A short exchange is shorter than clocks and barriers.
                    more += ["--batch", 10] if "KiB" not in name or not preset else []
                    how = {"program": options.bench, "words_before": each.prefix}
                    records = where.bench(pattern(where.ranks), METHODS, options.reps, *more, **how)
                    best = min(r[MEDIAN] for r in records if r["method"] in ADVANCE and not r["refused"])
                    for r in records:
                        yield {
                            "network": where.name,
                            "pattern": name,
                            "setting": word,
                            "table": f"{where.name}, {name}, {word}",
                            "method": r["method"],
                            "median_s": r[MEDIAN],
                            "slowest_s": r["exchange_seconds_max"],
                            "to_best_advance": r[MEDIAN] / best if r[MEDIAN] else None,
                            "refused": r["refused"],
                            "choice": r.get("choice"),
                            "mpi": r["mpi_library"],
                        }


CASE = Case(
    rows,
    needs=["mpi", "testbed", "build"],
    options=dict(
        presets=(["multi", "here"], "networks of nuice-testbed; here: ranks of this machine"),
        settings=(["installed", "rcvbuf=4k+eager=1m"], "of the MPI, on networks"),
        cases="",
        ranks=(8, "of this machine"),
        reps=9,
        bench="",
    ),
    quick=dict(presets=["here"], reps=2),
    minutes=10,
    tables=Table(
        "{row[table]}; {o.reps} repetitions",
        "method | ms = median_s*1e3 .3f | slowest = slowest_s*1e3 .3f",
        "/ best of MPI Advance = to_best_advance .2f",
        each="table",
    ),
)

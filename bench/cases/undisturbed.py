# SPDX-License-Identifier: BSD-3-Clause
"""The cost of `nuice run` without contention: messages between two ranks, one after the other and in a
stream, with it and without, interleaved.

Runs on --networks; "memory" is shared memory. ratio: the time with `nuice run` over that without, the median
over the rounds. cpu: the same ratio of the processor time of both ranks.
"""

from __future__ import annotations

from collections import defaultdict

from kit import ROOT, Case, Table, in_turns, median_ratio, middle, objects, place
from nuice.cli.bench import find_program

MEMORY = "memory"


def rows(options):
    program = ROOT / options.build / "bench" / "flow_programs" / "undisturbed"
    nuice_run = [find_program("nuice"), "run", "--"]
    for network in options.networks:
        shape = "" if network == MEMORY else network
        with place(shape, 2) as where:

            def job(prefix, where=where):
                return objects(where.run([*prefix, program, options.reps], ranks=2).stdout)

            with_windows, plain = in_turns(options.rounds, lambda: job(nuice_run), lambda: job([]))
        for ours, theirs in zip(by_message(with_windows), by_message(plain), strict=True):
            seconds = [[row["seconds"] for row in side] for side in (ours, theirs)]
            used = [[row["cpu_s"] for row in side] for side in (ours, theirs)]
            yield {
                "network": network,
                "case": ours[0]["case"],
                "bytes": ours[0]["bytes"],
                "plain_s": middle(theirs, "seconds"),
                "windows_s": middle(ours, "seconds"),
                "ratio": median_ratio(*seconds),
                "cpu": median_ratio(*used),
            }


def by_message(runs):
    """Returns the rows of one message over the runs."""
    found = defaultdict(list)
    for run in runs:
        for row in run:
            found[row["case"], row["bytes"]].append(row)
    return found.values()


CASE = Case(
    rows,
    needs=["mpi"],
    options=dict(
        networks=(["2x4000/4096k", "2x100/64k", MEMORY], "as the case `tuned` names them"),
        rounds=9,
        reps=400,
        build=("build/release", "with the program undisturbed"),
    ),
    quick=dict(networks=[MEMORY], rounds=2, reps=20),
    minutes=4,
    tables=Table(
        "messages that nothing contends with",
        "network | case | bytes | plain us = plain_s*1e6 .1f | windows us = windows_s*1e6 .1f",
        "ratio .3f | cpu .3f",
        group="network",
    ),
)

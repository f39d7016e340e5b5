# SPDX-License-Identifier: BSD-3-Clause
"""A plan that follows its matrix (Plan.follow()) compared with plans made again, in pairs and with a gather.

Every rank has equally many messages. In every round a share of them gets other partners, two by two. Each
round times all three methods on this machine, and takes the time of the slowest rank. Figures are medians
over the rounds, and medians of the ratios within a round. Ranks share the cores, so a round of control
messages costs the time until all processes are scheduled.
"""

import sys
from pathlib import Path
from statistics import median

from kit import Case, Table, here, median_ratio, objects

PROGRAM = Path(__file__).resolve().parents[1] / "programs" / "following.py"


def rows(options):
    for ranks in options.ranks:
        words = [sys.executable, PROGRAM, options.degree, options.share, options.rounds]
        (found,) = objects(here(ranks).run(words).stdout)
        seconds = found["seconds"]
        yield {
            "ranks": ranks,
            "degree": options.degree,
            "kept": found["kept"] / found["messages"],
            "phases": found["phases"],
            **{f"{name}_ms": 1e3 * median(each) for name, each in seconds.items()},
            "to_pairs": median_ratio(seconds["follow"], seconds["pairs"]),
            "to_gather": median_ratio(seconds["follow"], seconds["gather"]),
        }


CASE = Case(
    rows,
    needs=["mpi", "mpi4py"],
    options=dict(
        ranks=[16, 32, 64],
        degree=(8, "messages of a rank"),
        share=(0.01, "of the messages that change in a round"),
        rounds=15,
    ),
    quick=dict(ranks=[4], degree=2, rounds=2),
    minutes=1,
    tables=Table(
        "ms of Plan.follow(), over planning from scratch; medians of {o.rounds} rounds",
        "ranks | degree | kept .3f | phases .0f | follow_ms .3g | pairs_ms .3g | gather_ms .3g",
        "to_pairs .2f | to_gather .2f",
    ),
)

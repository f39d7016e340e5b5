# SPDX-License-Identifier: BSD-3-Clause
"""Calls without a plan: alltoallv, which keeps its set-up, and sparse_alltoallv.

kept: nuice::mpi::alltoallv. bound: an Exchanger's bound exchange. sparse: sparse_alltoallv. nbx: nonblocking
consensus by hand. They are compared with MPI_Alltoallv, isend and the plan `auto`. Every rank sends to
random partners; sizes are 0.5 to 1.5 times the mean. Methods are interleaved; figures are medians over the
runs of ratios in the same run.
"""

import random

import nuice
from kit import Case, Table, median_ratio, medians_of, middle, place

METHODS = ["kept", "bound", "sparse", "nbx", "alltoallv", "isend", "auto"]
RATIOS = {"kept": "bound", "bound": "kept", "sparse": "nbx", "nbx": "sparse"}


def matrix_of(ranks, partners, mean, seed):
    choose = random.Random(seed)
    messages = []
    for src in range(ranks):
        others = [dst for dst in range(ranks) if dst != src]
        for dst in choose.sample(others, min(partners, len(others))):
            messages.append((src, dst, choose.randint(mean // 2, mean + mean // 2)))
    return nuice.CommMatrix.from_messages(ranks, messages)


def rows(options):
    with place(options.testbed, options.ranks, hosts=0) as where:
        ranks = options.ranks if not options.testbed else where.ranks
        for size in options.sizes:
            matrix = matrix_of(ranks, options.partners, size, 1)
            more = ["--batch", options.batch]
            found = where.several(options.runs, matrix, METHODS, options.reps, *more, ranks=ranks)
            seconds = medians_of(found)
            for method, records in found.items():
                other = RATIOS.get(method, "alltoallv")
                yield {
                    "place": where.name,
                    "bytes": size,
                    "method": method,
                    "exchange_s": middle(records),
                    "other": other,
                    "to_other": median_ratio(seconds[method], seconds[other]),
                    "to_alltoallv": median_ratio(seconds[method], seconds["alltoallv"]),
                }


CASE = Case(
    rows,
    needs=["mpi"],
    options=dict(
        ranks=4,
        partners=8,
        sizes=[100, 4096, 65536, 1 << 20],
        runs=3,
        reps=15,
        batch=(10, "exchanges in a repetition"),
        testbed="",
    ),
    quick=dict(ranks=2, runs=1, reps=3, batch=1, sizes=[100]),
    minutes=3,
    tables=Table(
        "{o.partners} partners, medians of {o.runs} runs",
        "bytes | method | us = exchange_s*1e6 .1f | over = other | ratio = to_other .2f",
        "/ MPI_Alltoallv = to_alltoallv .2f",
        group="bytes",
    ),
)

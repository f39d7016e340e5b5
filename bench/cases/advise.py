# SPDX-License-Identifier: BSD-3-Clause
"""How good the adviser is: the cost of its choice compared with the simulated best, and the cost of
deciding.

Matrices of five families (random, dense, skewed, airfoil, CG) with 8 to 64 ranks and messages of 16 B to 256
KiB, on every shipped machine. Every schedule that MPI can carry out is simulated once, candidate or not. The
choice is compared with the best of them, for several numbers of reuses R. A choice costs S / R + C; C is
simulated. Modes:

    as shipped   advise() as programs call it: it decides itself how closely to look
    rule only    no schedule made, and nothing simulated

`ratio` is the cost of the choice / cost of the best. `deciding` is the measured processor time of advise()
over R exchanges of the choice. It exceeds 1 if these are shorter than the 0.1 ms that deciding may always
take. Matrices of seeds below 1000 are for tuning; seeds from 1000 on (the default) are held out. The rows
are the choices, followed by a summary_of them. An average above 1.05, or a ratio above 1.3, is wrong.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from statistics import mean, median

import numpy as np
from scipy.sparse import diags, kron

import nuice
from kit import Case, Table, timed
from kit.on_mpi import everything_on_mpi
from kit.patterns import airfoil, laplacian

MODES = {"as shipped": None, "rule only": "rule"}
MAX_MESSAGES = 1500  # with more messages, simulating every candidate takes too long for a bench


def ranks_of(random: np.random.Generator, most: int) -> int:
    return int(random.choice([n for n in (8, 16, 24, 32, 48, 64) if n <= most]))


def unit_of(random: np.random.Generator) -> int:
    return round(2 ** random.uniform(4, 18))


def random_matrix(random: np.random.Generator, most: int, seed: int) -> nuice.CommMatrix:
    n = ranks_of(random, most)
    degree = int(random.integers(1, min(n - 1, MAX_MESSAGES // n) + 1))
    units = int(random.choice([1, 32]))
    return nuice.random_regular(
        n, degree, unit_bytes=max(1, unit_of(random) // units), max_units=units, seed=seed
    )


def dense_matrix(random: np.random.Generator, most: int, seed: int) -> nuice.CommMatrix:
    n = ranks_of(random, min(most, 32))
    units = int(random.choice([1, 32]))
    return nuice.random_density(
        n, random.uniform(0.4, 1), unit_bytes=max(1, unit_of(random) // units), max_units=units, seed=seed
    )


def skewed_matrix(random: np.random.Generator, most: int, seed: int) -> nuice.CommMatrix:
    """Returns a matrix with receivers and sizes by Zipf's law: a few ranks get most messages, a few messages
    are long."""
    n = ranks_of(random, most)
    count = int(random.integers(n, min(n * (n - 1) // 2, MAX_MESSAGES) + 1))
    weights = 1 / np.arange(1, n + 1) ** random.uniform(0.3, 1.2)
    dst = random.choice(random.permutation(n), size=count, p=weights / weights.sum())
    pairs = np.unique(np.stack([random.integers(0, n, count), dst], axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    sizes = np.maximum(
        1, unit_of(random) / random.permutation(np.arange(1, len(pairs) + 1)) ** random.uniform(0.3, 1)
    )
    return from_pairs(n, pairs, sizes)


def airfoil_matrix(random: np.random.Generator, most: int, seed: int) -> nuice.CommMatrix:
    n = ranks_of(random, most)
    return airfoil(9428, n, max(1, unit_of(random) // 16), seed=seed)


def cg_matrix(random: np.random.Generator, most: int, seed: int) -> nuice.CommMatrix:
    """Returns the exchange of those vector entries that a product needs. Ranks have rows in equal blocks. The
    matrix is a grid of 7 or 27 points, or one with some unknowns renumbered at random."""
    n = ranks_of(random, most)
    side = int(random.integers(8, 15))
    index = np.arange(side**3).reshape(side, side, side)
    if random.random() < 0.5:
        keep = random.random(side**3) < random.uniform(0.02, 0.3)
        where = np.flatnonzero(keep)
        index = index.ravel().copy()
        index[where] = index[random.permutation(where)]
        index = index.reshape(side, side, side)
    rows, columns = grid_entries(index, corners=random.random() < 0.5)
    owner = np.arange(side**3) * n // side**3
    needed = np.unique(np.stack([owner[rows], columns], axis=1), axis=0)  # (rank that needs it, index)
    src, dst = owner[needed[:, 1]], needed[:, 0]
    pairs, counts = np.unique(np.stack([src, dst], axis=1)[src != dst], axis=0, return_counts=True)
    return from_pairs(n, pairs, counts * 8 * 2 ** int(random.integers(0, 8)))


def grid_entries(index: np.ndarray, corners: bool) -> tuple[np.ndarray, np.ndarray]:
    """Returns rows and columns of the off-diagonal entries of a 7- or 27-point stencil."""
    line = diags([1.0, 1.0, 1.0], [-1, 0, 1], shape=(len(index), len(index)))
    stencil = kron(kron(line, line), line).tocoo() if corners else laplacian(len(index), 3)
    off = stencil.row != stencil.col
    return index.ravel()[stencil.row[off]], index.ravel()[stencil.col[off]]


def from_pairs(n: int, pairs: np.ndarray, sizes: np.ndarray) -> nuice.CommMatrix:
    pairs = pairs.astype(np.int64)
    return nuice.CommMatrix.from_arrays(n, pairs[:, 0].copy(), pairs[:, 1].copy(), sizes.astype(np.int64))


MAKERS = {"random": random_matrix, "dense": dense_matrix, "skewed": skewed_matrix}
MAKERS |= {"airfoil": airfoil_matrix, "cg": cg_matrix}


def make(seed: int, most_ranks: int) -> tuple[str, nuice.CommMatrix]:
    """Returns the matrix of a seed, for machines of at most this many ranks."""
    family = list(MAKERS)[seed % len(MAKERS)]
    random = np.random.Generator(np.random.PCG64([2026, seed]))
    return family, MAKERS[family](random, min(most_ranks, 64), seed)


def judge(machine: nuice.Machine, seed: int, reuses: list[int]) -> Iterator[dict]:
    family, matrix = make(seed, machine.num_ranks)
    names = nuice.mpi_candidates(machine)
    judged = everything_on_mpi(matrix, machine)
    reference = nuice.advise(matrix, machine, 1, candidates=judged, predict_by="simulation")
    known = {c.name: c for c in reference.candidates if c.applicable}
    of_matrix = {"machine": machine.name, "family": family, "seed": seed}
    of_matrix |= {"ranks": matrix.num_ranks, "messages": matrix.num_messages}
    for reuse in reuses:
        costs = {name: c.planning_s / reuse + c.exchange_s for name, c in known.items()}
        best = min(costs, key=costs.__getitem__)
        for mode, predict_by in MODES.items():
            ask = partial(nuice.advise, matrix, machine, reuse, candidates=names, predict_by=predict_by)
            deciding, advice = timed(ask, time.process_time)
            choice = advice.choice
            compared = [c for c in advice.candidates if c.applicable and predict_by]
            yield of_matrix | {
                "reuse": reuse,
                "mode": mode,
                "choice": choice.name,
                "best": best,
                "ratio": costs[choice.name] / costs[best],
                "error": choice.exchange_s / known[choice.name].exchange_s - 1,
                "errors": {c.name: c.exchange_s / known[c.name].exchange_s - 1 for c in compared},
                "decided_by": advice.decided_by,
                "deciding_seconds": deciding,
                "estimated_seconds": advice.deciding_s,
                "deciding_to_exchanges": deciding / (reuse * known[choice.name].exchange_s),
            }


def summary(figures: list[dict]) -> dict:
    ratios = [f["ratio"] for f in figures]
    by = [f["decided_by"] for f in figures]
    deciding = [f["deciding_to_exchanges"] for f in figures]
    return {
        "summary_of": len(figures),
        **{key: figures[0][key] for key in ("machine", "reuse", "mode")},
        "mean": mean(ratios),
        "worst": max(ratios),
        "best_share": sum(r < 1.001 for r in ratios) / len(ratios),
        "simulated": by.count("simulation") / len(by),
        "deciding_median": median(deciding),
        "deciding_most": max(deciding),
    }


def rows(options) -> Iterator[dict]:
    machines = options.machines or nuice.machine_names()[-2 if options.quick else 0 :]
    seeds = range(options.first_seed, options.first_seed + options.matrices)
    for machine in map(nuice.find_machine, machines):
        figures = [f for seed in seeds for f in judge(machine, seed, options.reuse)]
        for reuse in options.reuse:
            for mode in MODES:
                chosen = [f for f in figures if f["reuse"] == reuse and f["mode"] == mode]
                yield from chosen
                yield summary(chosen)


def above_the_bars(rows: list[dict], options) -> str:
    shipped = [row for row in rows if "summary_of" in row and row["mode"] == "as shipped"]
    failed = [f"{s['machine']} R={s['reuse']}" for s in shipped if s["mean"] > 1.05 or s["worst"] > 1.3]
    return f"above the bars (1.05 on average, 1.3 at worst): {', '.join(failed)}" if failed else ""


CASE = Case(
    rows,
    options=dict(
        matrices=100,
        first_seed=1000,
        machines=([], "all shipped ones by default"),
        reuse=([10, 100, 1000], "exchanges R that a plan is for"),
    ),
    quick=dict(matrices=10),
    minutes=40,
    tables=Table(
        "{o.matrices} matrices from seed {o.first_seed}",
        "machine | mode | R = reuse | mean .3f | worst .2f | best = best_share .0%",
        "simulated .0% | deciding: median = deciding_median .3f | most = deciding_most .2f",
        where="summary_of",
    ),
    wrong=above_the_bars,
)

# SPDX-License-Identifier: BSD-3-Clause
"""How good the adviser is on lossless machines, beside the packet-level simulator.

Regular, dense, skewed and halo matrices with 32 to 256 ranks and messages of 1 KiB to 1 MiB. Every candidate
is simulated packet by packet, packets of their real size, both kinds of queues; the mean is what it costs. A
pair of candidates that differ by more than 2 % counts as right if the adviser has them in that order.

Seeds below 1000 are for tuning. Everything is a simulation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from statistics import mean

import numpy as np

import nuice
from kit import Case, Column, Table

MACHINES = ("ib-hdr-fattree", "ib-ndr-fattree", "roce-pfc", "slingshot-dragonfly")
MODES = {"as shipped": None, "model only": "model", "rule only": "rule"}
TIE = 0.02
MOST_BYTES = 3e8  # beyond this simulating every candidate takes too long for a bench


def matrix_of(seed: int, most_ranks: int) -> nuice.CommMatrix:
    """Regular, dense, skewed or a halo of a grid, at random."""
    random = np.random.default_rng(seed)
    n = int(random.choice([32, 64, 128, 256]))
    n = min(n, most_ranks)
    unit = round(2 ** random.uniform(10, 20))
    units = int(random.choice([1, 32]))
    family = seed % 4
    if family == 0:
        degree = int(random.integers(2, 17))
        made = nuice.random_regular(n, degree, unit_bytes=max(1, unit // units), max_units=units, seed=seed)
    elif family == 1:
        n = min(n, 64)
        density = random.uniform(0.2, 1)
        made = nuice.random_density(n, density, unit_bytes=max(1, unit // units), max_units=units, seed=seed)
    elif family == 2:
        made = skewed(random, n, unit)
    else:
        made = grid_halo(random, n, unit)
    scale = min(1, MOST_BYTES / max(1, int(made.bytes.sum())))
    sizes = np.maximum(1, made.bytes * scale).astype(np.int64)
    return nuice.CommMatrix.from_arrays(made.num_ranks, made.src, made.dst, sizes)


def skewed(random: np.random.Generator, n: int, unit: int) -> nuice.CommMatrix:
    weights = 1 / np.arange(1, n + 1) ** random.uniform(0.2, 0.8)
    dst = random.choice(random.permutation(n), size=8 * n, p=weights / weights.sum())
    pairs = np.unique(np.stack([random.integers(0, n, 8 * n), dst], axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    sizes = np.maximum(1, unit * random.pareto(1.5, len(pairs))).astype(int)
    return nuice.CommMatrix.from_messages(
        n, [(int(s), int(d), int(b)) for (s, d), b in zip(pairs, sizes, strict=True)]
    )


def grid_halo(random: np.random.Generator, n: int, unit: int) -> nuice.CommMatrix:
    """A grid of ranks, placed at random, exchanges faces with its neighbours."""
    width = 1 << (n.bit_length() - 1) // 2
    place = random.permutation(n)
    sizes: Counter[tuple[int, int]] = Counter()
    for rank in range(n):
        x, y = rank % width, rank // width
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            other = (x + dx) % width + width * ((y + dy) % (n // width))
            if other != rank:
                sizes[int(place[rank]), int(place[other])] += unit * (2 if dx else 1)
    return nuice.CommMatrix.from_messages(n, [(s, d, b) for (s, d), b in sizes.items()])


def costs(matrix: nuice.CommMatrix, machine: nuice.Machine, names: list[str]) -> dict[str, float]:
    network = nuice.make_topology(machine.topology)
    plans: dict[str, nuice.Plan] = {}
    result = {}
    for name in names:
        scheduler, executor = name.split(":")
        if nuice.find_scheduler(scheduler).why_not(matrix, 0, topology=network):
            continue
        if scheduler not in plans:
            plans[scheduler] = nuice.plan(matrix, scheduler, topology=network)
        schedule = plans[scheduler].schedule
        # Chunks and windows are those of plans.
        sizes = {"chunk_bytes": 3584, "window_bytes": 28672} if executor == "credit" else {}
        how = [{"queueing": queueing} | sizes for queueing in ("fifo", "voq")]
        runs = [nuice.simulate_packets(matrix, schedule, machine, executor, **each) for each in how]
        result[name] = mean(run.seconds for run in runs)
    return result


def judge(matrix: nuice.CommMatrix, machine: nuice.Machine, truth: dict[str, float], reuse: int) -> dict:
    row = {}
    best = min(truth.values())
    for mode, predict_by in MODES.items():
        advice = nuice.advise(matrix, machine, reuse=reuse, candidates=list(truth), predict_by=predict_by)
        predicted = {c.name: c.exchange_s for c in advice.candidates if c.applicable}
        right = pairs = 0
        for a, b in combinations(truth, 2):
            if abs(truth[a] - truth[b]) <= TIE * max(truth[a], truth[b]):
                continue
            pairs += 1
            right += (truth[a] < truth[b]) == (predicted[a] < predicted[b])
        row[mode] = {
            "choice": advice.candidates[0].name,
            "ratio": truth[advice.candidates[0].name] / best,
            "pairs": pairs,
            "right": right,
            "phases": advice.candidates[0].executor in ("phased", "barrier", "pairwise"),
        }
    return row


def rows(options) -> Iterator[dict]:
    seeds = range(options.first_seed, options.first_seed + options.matrices)
    for machine in map(nuice.find_machine, options.machines):
        judged = []
        for seed in seeds:
            matrix = matrix_of(seed, machine.num_ranks)
            truth = costs(matrix, machine, nuice.mpi_candidates(machine))
            judged.append(judge(matrix, machine, truth, options.reuse))
        for mode in MODES:
            of_mode = [row[mode] for row in judged]
            pairs = sum(r["pairs"] for r in of_mode)
            yield {
                "machine": machine.name,
                "mode": mode,
                "ratio": mean(r["ratio"] for r in of_mode),
                "worst": max(r["ratio"] for r in of_mode),
                "pairs_right": sum(r["right"] for r in of_mode) / max(1, pairs),
                "phases_chosen": sum(r["phases"] for r in of_mode),
                "choices": dict(Counter(r["choice"] for r in of_mode)),
            }


CASE = Case(
    rows,
    options=dict(
        matrices=100,
        first_seed=1000,
        machines=(list(MACHINES), "lossless ones"),
        reuse=(1_000_000, "exchanges that a plan is for"),
    ),
    quick=dict(matrices=2, machines=list(MACHINES[:1])),
    minutes=60,
    tables=Table(
        "{o.matrices} matrices from seed {o.first_seed}, simulated packet by packet",
        "machine | mode | ratio .3f | worst .2f | pairs right = pairs_right .0%",
        "phases chosen = phases_chosen",
        Column("choices", lambda row: ", ".join(f"{c} {n}" for c, n in row["choices"].items())),
    ),
)

# SPDX-License-Identifier: BSD-3-Clause
"""How good the adviser is on lossless machines, compared with the packet-level simulator.

Matrices with 32 to 256 ranks and messages of 1 KiB to 1 MiB. Every schedule that MPI can carry out is
simulated packet by packet, candidate or not, with packets of real size and with both kinds of queues; its
cost is the mean. A pair of candidates that differ by more than 2 % counts as right if the adviser orders
them in the same way.

There are two sets of kinds of matrices. `usual` (seeds below 1000 are for tuning): regular, dense, skewed,
halo of a grid. `other` was never used for tuning: a halo in three dimensions, degrees by a power law, several
permutations at once, bisection (partners in the other half), hot spots, an unstructured mesh. `gain` is the
time of sending all at once divided by the best time. All figures are simulated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations
from statistics import mean

import numpy as np

import nuice
from kit import Case, Column, Table
from kit.on_mpi import everything_on_mpi
from kit.patterns import airfoil

MACHINES = ("ib-hdr-fattree", "ib-ndr-fattree", "roce-pfc", "slingshot-dragonfly")
MODES = {"as shipped": None, "rule only": "rule"}
TIE = 0.02
MOST_BYTES = 3e8  # with more bytes, simulating every candidate takes too long for a bench


Random = np.random.Generator


def matrix_of(seed: int, most_ranks: int, kinds: str = "usual") -> tuple[str, nuice.CommMatrix]:
    """Returns the kind and the matrix of a seed."""
    random = np.random.default_rng(seed)
    n = int(random.choice([32, 64, 128, 256]))
    n = min(n, most_ranks)
    unit = round(2 ** random.uniform(10, 20))
    kind = list(KINDS[kinds])[seed % len(KINDS[kinds])]
    made = KINDS[kinds][kind](random, n, unit)
    scale = min(1, MOST_BYTES / max(1, int(made.bytes.sum())))
    sizes = np.maximum(1, made.bytes * scale).astype(np.int64)
    return kind, nuice.CommMatrix.from_arrays(made.num_ranks, made.src, made.dst, sizes)


def of_pairs(n: int, pairs: np.ndarray, sizes: np.ndarray) -> nuice.CommMatrix:
    """Returns the matrix of pairs of ranks. Pairs of a rank with itself are left out, and equal pairs become
    one message."""
    unlike = pairs[:, 0] != pairs[:, 1]
    unique, where = np.unique(pairs[unlike].astype(np.int64), axis=0, return_inverse=True)
    total = np.zeros(len(unique), np.int64)
    np.add.at(total, where.ravel(), np.maximum(1, sizes[unlike]).astype(np.int64))
    return nuice.CommMatrix.from_arrays(n, unique[:, 0].copy(), unique[:, 1].copy(), total)


def sizes_of(random: Random, unit: int, count: int) -> np.ndarray:
    """Returns equal sizes, or sizes of 1 to 32 parts of the longest."""
    return np.full(count, unit) if random.random() < 0.5 else unit * random.integers(1, 33, count) / 32


def units_of(random: Random, unit: int) -> dict:
    units = int(random.choice([1, 32]))
    seed = int(random.integers(2**31))
    return {"unit_bytes": max(1, unit // units), "max_units": units, "seed": seed}


def regular(random: Random, n: int, unit: int) -> nuice.CommMatrix:
    return nuice.random_regular(n, int(random.integers(2, 17)), **units_of(random, unit))


def dense(random: Random, n: int, unit: int) -> nuice.CommMatrix:
    return nuice.random_density(min(n, 64), random.uniform(0.2, 1), **units_of(random, unit))


def power_law(random: Random, n: int, unit: int) -> nuice.CommMatrix:
    """Returns a matrix whose senders and receivers, which are different ranks, have degrees between 1 and a
    third of all ranks."""
    degrees = np.minimum(n // 3, 2 * random.pareto(1.2, n) + 1).astype(int)
    likely = random.permutation(degrees) / degrees.sum()
    pairs = [(r, d) for r in range(n) for d in random.choice(n, degrees[r], replace=True, p=likely)]
    return of_pairs(n, np.array(pairs), sizes_of(random, unit, len(pairs)))


def permutations(random: Random, n: int, unit: int) -> nuice.CommMatrix:
    """Returns one to eight permutations at once; a quarter of them are shifts."""
    ranks = np.arange(n)
    made = [
        (ranks + random.integers(1, n)) % n if random.random() < 0.25 else random.permutation(n)
        for _ in range(int(random.integers(1, 9)))
    ]
    pairs = np.concatenate([np.stack([ranks, each], axis=1) for each in made])
    return of_pairs(n, pairs, sizes_of(random, unit, len(pairs)))


def bisection(random: Random, n: int, unit: int) -> nuice.CommMatrix:
    """Divides the ranks into halves by number or at random; every rank sends to one to six ranks of the
    other half."""
    place = random.permutation(n) if random.random() < 0.5 else np.arange(n)
    left, right = place[: n // 2], place[n // 2 :]
    made = []
    for _ in range(int(random.integers(1, 7))):
        other = random.permutation(right)
        made += [np.stack([left, other], axis=1), np.stack([other, left], axis=1)]
    pairs = np.concatenate(made)
    return of_pairs(n, pairs, sizes_of(random, unit, len(pairs)))


def hot_spots(random: Random, n: int, unit: int) -> nuice.CommMatrix:
    """Returns a matrix in which a few ranks each receive from a third of all ranks; every rank also has two
    other partners."""
    hot = random.choice(n, int(random.integers(1, 1 + n // 8)), replace=False)
    to_hot = [(r, h) for h in hot for r in random.choice(n, n // 3, replace=False)]
    others = [(r, int(d)) for r in range(n) for d in random.integers(0, n, 2)]
    pairs = np.array(to_hot + others)
    return of_pairs(n, pairs, sizes_of(random, unit, len(pairs)))


def cube_halo(random: Random, n: int, unit: int) -> nuice.CommMatrix:
    """Returns the halo of boxes with unequal sides: faces, and in half of the cases edges and corners."""
    bits = n.bit_length() - 1
    shape = [1 << (bits + i) // 3 for i in range(3)]
    place = random.permutation(n) if random.random() < 0.5 else np.arange(n)
    longest, at = random.uniform(1, 6, 3), np.stack(np.unravel_index(np.arange(n), shape), axis=1)
    most = int(random.choice([1, 3]))
    pairs, sizes = [], []
    for step in np.ndindex(3, 3, 3):
        step = np.array(step) - 1
        if not 1 <= np.abs(step).sum() <= most:
            continue
        other = np.ravel_multi_index(((at + step) % shape).T, shape)
        pairs.append(np.stack([place, place[other]], axis=1))
        sizes.append(np.full(n, unit * np.prod(longest[step == 0]) / 36))
    return of_pairs(n, np.concatenate(pairs), np.concatenate(sizes))


def mesh(random: Random, n: int, unit: int) -> nuice.CommMatrix:
    return airfoil(9428, n, max(1, unit // 16), seed=int(random.integers(1000)))


def skewed(random: Random, n: int, unit: int) -> nuice.CommMatrix:
    weights = 1 / np.arange(1, n + 1) ** random.uniform(0.2, 0.8)
    dst = random.choice(random.permutation(n), size=8 * n, p=weights / weights.sum())
    pairs = np.unique(np.stack([random.integers(0, n, 8 * n), dst], axis=1), axis=0)
    return of_pairs(n, pairs, unit * random.pareto(1.5, len(pairs)))


def grid_halo(random: Random, n: int, unit: int) -> nuice.CommMatrix:
    """Returns the halo of a grid of randomly placed ranks, which exchange faces with their neighbours."""
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


Make = Callable[[Random, int, int], nuice.CommMatrix]
KINDS: dict[str, dict[str, Make]] = {
    "usual": {"regular": regular, "dense": dense, "skewed": skewed, "grid": grid_halo},
    "other": {"cube": cube_halo, "power law": power_law, "permutations": permutations}
    | {"bisection": bisection, "hot spots": hot_spots, "mesh": mesh},
}


def costs(matrix: nuice.CommMatrix, machine: nuice.Machine, names: list[str]) -> dict[str, float]:
    network = nuice.make_topology(machine.topology)
    plans: dict[str, nuice.Plan] = {}
    result = {}
    for name in names:
        scheduler, executor = name.split(":")
        if scheduler not in plans:
            plans[scheduler] = nuice.plan(matrix, scheduler, topology=network)
        schedule = plans[scheduler].schedule
        runs = [
            nuice.simulate_packets(matrix, schedule, machine, executor, queueing=queueing)
            for queueing in ("fifo", "voq")
        ]
        result[name] = mean(run.seconds for run in runs)
    return result


def judge(matrix: nuice.CommMatrix, machine: nuice.Machine, truth: dict[str, float], reuse: int) -> dict:
    row = {}
    best = min(truth.values())
    for mode, predict_by in MODES.items():
        advice = nuice.advise(
            matrix, machine, reuse=reuse, candidates=nuice.mpi_candidates(machine), predict_by=predict_by
        )
        predicted = {c.name: c.exchange_s for c in advice.candidates if c.applicable}
        right = pairs = 0
        for a, b in combinations(predicted, 2):
            if abs(truth[a] - truth[b]) <= TIE * max(truth[a], truth[b]):
                continue
            pairs += 1
            right += (truth[a] < truth[b]) == (predicted[a] < predicted[b])
        row[mode] = {
            "choice": advice.candidates[0].name,
            "ratio": truth[advice.candidates[0].name] / best,
            "pairs": pairs,
            "right": right,
            "phases": advice.candidates[0].executor in ("phased", "pairwise"),
        }
    return row


def rows(options) -> Iterator[dict]:
    """Yields a row for each machine and mode: first for all matrices, then for each kind of matrix."""
    seeds = range(options.first_seed, options.first_seed + options.matrices)
    for machine in map(nuice.find_machine, options.machines):
        judged = []
        for seed in seeds:
            kind, matrix = matrix_of(seed, machine.num_ranks, options.kinds)
            truth = costs(matrix, machine, everything_on_mpi(matrix, machine))
            gain = truth["ac:async"] / min(truth.values())
            judged.append(judge(matrix, machine, truth, options.reuse) | {"kind": kind, "gain": gain})
        for kind in ["all", *KINDS[options.kinds]]:
            chosen = [row for row in judged if kind in ("all", row["kind"])]
            for mode in MODES if chosen else ():
                yield {"machine": machine.name, "kind": kind, "mode": mode} | summary(chosen, mode)


def summary(judged: list[dict], mode: str) -> dict:
    of_mode = [row[mode] for row in judged]
    pairs = sum(r["pairs"] for r in of_mode)
    return {
        "matrices": len(judged),
        "pairs": pairs,
        "ratio": mean(r["ratio"] for r in of_mode),
        "worst": max(r["ratio"] for r in of_mode),
        "pairs_right": sum(r["right"] for r in of_mode) / max(1, pairs),
        "phases_chosen": sum(r["phases"] for r in of_mode),
        "gain": mean(row["gain"] for row in judged),
        "most_gain": max(row["gain"] for row in judged),
        "choices": dict(Counter(r["choice"] for r in of_mode)),
    }


def below_the_bars(rows: list[dict], options) -> str:
    """Returns an error unless 90 % of the pairs are in the right order and choices cost at most 1.05 times
    the best. A handful of matrices is not tested."""
    shipped = [r for r in rows if r["mode"] == "as shipped" and r["kind"] == "all" and r["matrices"] >= 50]
    failed = [r["machine"] for r in shipped if r["pairs_right"] < 0.9 or r["ratio"] > 1.05]
    return f"below the bars (90 % of pairs, choice 1.05): {', '.join(failed)}" if failed else ""


CASE = Case(
    rows,
    options=dict(
        matrices=100,
        first_seed=1000,
        kinds=("usual", "of matrices", tuple(KINDS)),
        machines=(list(MACHINES), "lossless ones"),
        reuse=(1_000_000, "exchanges that a plan is for"),
    ),
    quick=dict(matrices=2, machines=list(MACHINES[:1])),
    minutes=30,
    tables=[
        Table(
            "{o.matrices} matrices ({o.kinds} kinds) from seed {o.first_seed}, simulated packet by packet",
            "machine | mode | ratio .3f | worst .2f | pairs | pairs right = pairs_right .1%",
            "phases chosen = phases_chosen | gain .2f | at most = most_gain .2f",
            Column("choices", lambda row: ", ".join(f"{c} {n}" for c, n in row["choices"].items())),
            where=lambda row: row["kind"] == "all",
        ),
        Table(
            "as shipped, by kind of matrix",
            "machine | kind | matrices | ratio .3f | worst .2f | pairs right = pairs_right .1%",
            "gain .2f | at most = most_gain .2f",
            where=lambda row: row["kind"] != "all" and row["mode"] == "as shipped",
            group="machine",
        ),
    ],
    wrong=below_the_bars,
)

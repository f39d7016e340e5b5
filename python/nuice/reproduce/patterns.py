# SPDX-License-Identifier: BSD-3-Clause
"""The papers' test sets as matrices: a function of the seed each, so that means over seeds are the same
everywhere.

003 fig. 7 and 001's densities are the package's generators. The airfoil meshes of 000 and 004 are not
available, and METIS cuts our 2-D meshes into parts with 5 neighbours where theirs had 9; so `like_mesh`
makes patterns with the numbers that 004 s.5 prints for theirs.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .._core import CommMatrix, random_density, random_regular

RANKS = 32
_MESHES = Path(__file__).parent.parent / "data" / "airfoil_004.csv"


def uniform(degree: int, num_bytes: int, seed: int, ranks: int = RANKS) -> CommMatrix:
    """Every rank sends `degree` messages and receives as many, of one size (003 fig. 7; 004 test set 1)."""
    return random_regular(ranks, degree, unit_bytes=num_bytes, seed=seed)


def non_uniform(degree: int, unit_bytes: int, seed: int, ranks: int = RANKS) -> CommMatrix:
    """The same with sizes of 1 to 32 units (004 test set 2)."""
    return random_regular(ranks, degree, unit_bytes=unit_bytes, max_units=32, seed=seed)


def density(percent: int, num_bytes: int, seed: int, ranks: int = RANKS) -> CommMatrix:
    """Every ordered pair with that probability (001 s.4.5)."""
    return random_density(ranks, percent / 100, unit_bytes=num_bytes, seed=seed)


def complete(num_bytes: int, ranks: int = RANKS) -> CommMatrix:
    """Everybody sends to everybody else."""
    return random_density(ranks, 1.0, unit_bytes=num_bytes, seed=0)


def permutation(num_bytes: int, seed: int, ranks: int = RANKS) -> CommMatrix:
    """A random permutation: every rank sends one message and receives one."""
    return random_regular(ranks, 1, unit_bytes=num_bytes, seed=seed)


def to_one(senders: int, num_bytes: int, ranks: int = RANKS) -> CommMatrix:
    """Ranks 0 .. senders - 1 send to the last one (004 table 2)."""
    return from_pairs(ranks, [(src, ranks - 1) for src in range(senders)], num_bytes)


def from_pairs(ranks: int, pairs: Sequence[tuple[int, int]], num_bytes: int) -> CommMatrix:
    """Those (src, dst), messages of one size."""
    ends = np.array(pairs, dtype=np.int64)
    return CommMatrix.from_arrays(ranks, ends[:, 0].copy(), ends[:, 1].copy(), np.full(len(pairs), num_bytes))


@cache
def _mesh_rows() -> dict[int, dict[str, str]]:
    lines = [line for line in _MESHES.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {int(row["points"]): row for row in csv.DictReader(lines)}


def mesh_sizes() -> list[int]:
    """Of the meshes whose numbers 004 s.5 prints."""
    return list(_mesh_rows())


def mesh_numbers(points: int) -> dict[str, float]:
    """What 004 s.5 prints for the mesh with that many points: numbers and lengths of messages per part."""
    return {key: float(value) for key, value in _mesh_rows()[points].items()}


def like_mesh(points: int, unit_bytes: int, seed: int, ranks: int = RANKS) -> CommMatrix:
    """A halo exchange with the printed most, fewest and mean number of messages and length of a message.

    Parts lie at random in a square. The closest pairs are neighbours, both ways, until the mean is reached;
    none gets more than the most, and all get the fewest. All parts have about as long a boundary: the more
    neighbours two parts have, and the farther they are from each other, the shorter their messages.
    """
    numbers = mesh_numbers(points)
    at = np.random.Generator(np.random.PCG64([points, seed])).random((ranks, 2))
    distance = np.hypot(*(at[:, None, :] - at[None, :, :]).transpose(2, 0, 1))
    pairs = _longest_first(_neighbours(distance, numbers), distance)
    units = _lengths(len(pairs), numbers)
    src = np.concatenate([pairs[:, 0], pairs[:, 1]])
    dst = np.concatenate([pairs[:, 1], pairs[:, 0]])
    return CommMatrix.from_arrays(ranks, src, dst, np.concatenate([units, units]) * unit_bytes)


def _neighbours(distance: NDArray[np.float64], numbers: dict[str, float]) -> NDArray[np.int64]:
    """Pairs of parts."""
    ranks = len(distance)
    first, second = np.triu_indices(ranks, 1)
    closest = np.argsort(distance[first, second], kind="stable")
    ordered = [(int(first[k]), int(second[k])) for k in closest]
    degree = [0] * ranks
    chosen = set()

    def choose(pair: tuple[int, int]) -> None:
        chosen.add(pair)
        for part in pair:
            degree[part] += 1

    most, fewest = int(numbers["messages_max"]), int(numbers["messages_min"])
    for pair in ordered:  # everybody has the fewest
        if min(degree[part] for part in pair) < fewest and max(degree[part] for part in pair) < most:
            choose(pair)
    wanted = round(ranks * numbers["messages_avg"] / 2)
    for pair in ordered:
        if len(chosen) >= wanted:
            break
        if pair not in chosen and max(degree[part] for part in pair) < most:
            choose(pair)
    return np.array([pair for pair in ordered if pair in chosen], dtype=np.int64)


def _longest_first(pairs: NDArray[np.int64], distance: NDArray[np.float64]) -> NDArray[np.int64]:
    degree = np.bincount(pairs.ravel(), minlength=len(distance))
    shortness = distance[pairs[:, 0], pairs[:, 1]] * degree[pairs[:, 0]] * degree[pairs[:, 1]]
    return pairs[np.argsort(shortness, kind="stable")]


def _lengths(count: int, numbers: dict[str, float]) -> NDArray[np.int64]:
    """From the longest to the shortest along a power of the position, with the printed mean."""
    longest, shortest, mean = (numbers[f"length_{part}"] for part in ("max", "min", "avg"))
    power = (longest - shortest) / (mean - shortest) - 1  # the integral of (1 - x)^power is 1 / (power + 1)
    position = np.arange(count) / max(1, count - 1)
    return np.rint(shortest + (longest - shortest) * (1 - position) ** power).astype(np.int64)

# SPDX-License-Identifier: BSD-3-Clause
"""The statistics with which paper 004 describes its airfoil samples, computed for a given matrix, and as
printed in the paper.

The meshes of the paper are not available. METIS cuts the 2-D meshes of NUICE into parts with 5 neighbours on
average, but parts in the paper had 9. Therefore `like_mesh` makes patterns with the statistics that the paper
prints.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from ._core import CommMatrix

PAPER_PARTS = 32


def airfoil_figures(matrix: CommMatrix, unit_bytes: int) -> dict[str, float]:
    """Returns the maximum, minimum and average of the number of messages that a part sends, and of the
    lengths of messages in units.
    """
    degrees = np.bincount(matrix.src, minlength=matrix.num_ranks)
    lengths = matrix.bytes / unit_bytes if matrix.num_messages else np.zeros(1)
    return {
        "messages_max": int(degrees.max()),
        "messages_min": int(degrees.min()),
        "messages_avg": float(degrees.mean()),
        "length_max": int(lengths.max()),
        "length_min": int(lengths.min()),
        "length_avg": float(lengths.mean()),
    }


def paper_figures(num_points: int) -> dict[str, float] | None:
    """Returns the statistics that 004 section 5 prints for 32 parts and this number of points; None if it
    prints none.
    """
    return mesh_numbers(num_points) if num_points in mesh_sizes() else None


@cache
def _mesh_rows() -> dict[int, dict[str, str]]:
    text = resources.files("nuice").joinpath("data/airfoil_004.csv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {int(row.pop("points")): row for row in csv.DictReader(lines)}


def mesh_sizes() -> list[int]:
    """Returns the sizes of the meshes whose numbers 004 s.5 prints."""
    return list(_mesh_rows())


def mesh_numbers(points: int) -> dict[str, float]:
    """Returns the numbers and lengths of messages per part that 004 s.5 prints for the mesh with this number
    of points.
    """
    return {key: float(value) for key, value in _mesh_rows()[points].items()}


def like_mesh(points: int, unit_bytes: int, seed: int, ranks: int = PAPER_PARTS) -> CommMatrix:
    """Makes a halo exchange with the printed statistics: largest, smallest and mean number and length of
    messages.

    Parts lie at random in a square. The closest pairs become neighbours of each other until the mean number
    is reached; each part has at least the smallest and at most the largest number of neighbours. All parts
    have boundaries of about the same length: the more neighbours two parts have, and the farther they are
    from each other, the shorter are their messages.
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
    """Returns the pairs of parts that are neighbours."""
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
    for pair in ordered:  # first, all parts get the smallest number of neighbours
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
    """Returns lengths with the printed mean, which decrease from the longest to the shortest as a power of
    their position.
    """
    longest, shortest, mean = (numbers[f"length_{part}"] for part in ("max", "min", "avg"))
    power = (longest - shortest) / (mean - shortest) - 1  # the integral of (1 - x)^power is 1 / (power + 1)
    position = np.arange(count) / max(1, count - 1)
    return np.rint(shortest + (longest - shortest) * (1 - position) ** power).astype(np.int64)

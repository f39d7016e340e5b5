# SPDX-License-Identifier: BSD-3-Clause
"""The papers' test sets as matrices. Each is a function of the seed, so that means over seeds are the same
everywhere.

003 fig. 7 and 001's densities are the package's generators. The airfoil meshes of 000 and 004 are not
available, and METIS cuts NUICE's 2-D meshes into parts with 5 neighbours where the papers' had 9. So
`nuice.pattern_figures.like_mesh` makes patterns with the numbers of 004 s.5.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from nuice._core import CommMatrix, random_density, random_regular

RANKS = 32


def uniform(degree: int, num_bytes: int, seed: int, ranks: int = RANKS) -> CommMatrix:
    """Every rank sends `degree` messages and receives as many, of one size (003 fig. 7; 004 test set 1)."""
    return random_regular(ranks, degree, unit_bytes=num_bytes, seed=seed)


def non_uniform(degree: int, unit_bytes: int, seed: int, ranks: int = RANKS) -> CommMatrix:
    """Returns uniform() with sizes of 1 to 32 units (004 test set 2)."""
    return random_regular(ranks, degree, unit_bytes=unit_bytes, max_units=32, seed=seed)


def density(percent: int, num_bytes: int, seed: int, ranks: int = RANKS) -> CommMatrix:
    """Returns a matrix that has every ordered pair with this probability (001 s.4.5)."""
    return random_density(ranks, percent / 100, unit_bytes=num_bytes, seed=seed)


def complete(num_bytes: int, ranks: int = RANKS) -> CommMatrix:
    """Every rank sends to every other."""
    return random_density(ranks, 1.0, unit_bytes=num_bytes, seed=0)


def permutation(num_bytes: int, seed: int, ranks: int = RANKS) -> CommMatrix:
    """A random permutation: every rank sends one message and receives one."""
    return random_regular(ranks, 1, unit_bytes=num_bytes, seed=seed)


def to_one(senders: int, num_bytes: int, ranks: int = RANKS) -> CommMatrix:
    """Ranks 0 .. senders - 1 send to the last one (004 table 2)."""
    return from_pairs(ranks, [(src, ranks - 1) for src in range(senders)], num_bytes)


def from_pairs(ranks: int, pairs: Sequence[tuple[int, int]], num_bytes: int) -> CommMatrix:
    """Returns messages of one size for these (src, dst)."""
    ends = np.array(pairs, dtype=np.int64)
    return CommMatrix.from_arrays(ranks, ends[:, 0].copy(), ends[:, 1].copy(), np.full(len(pairs), num_bytes))

# SPDX-License-Identifier: BSD-3-Clause
"""Readings of the papers' description of RS_NH: the size above which a message is split in a phase.

`bench/run.py level_rules` says more, and compares them.
"""

from __future__ import annotations

import random
from statistics import mean

import nuice

RANKS = 32
PRINTED = {"d = 4": 2, "d = 16": 3, "d = 31": 1, "36 units": 30, "99 units": 37, "276 units": 46}


def mesh_like(seed, units):
    dice = random.Random(seed)
    points = [(dice.random(), dice.random()) for _ in range(RANKS)]
    entries = []
    for i, (xi, yi) in enumerate(points):
        for j, (xj, yj) in enumerate(points):
            nearness = 1 - ((xi - xj) ** 2 + (yi - yj) ** 2) / 0.12
            if i != j and nearness > 0:
                entries.append((i, j, 1 + int((units - 1) * nearness)))
    return nuice.CommMatrix.from_messages(RANKS, entries)


def cases():
    for degree in (4, 16, 31):
        yield f"d = {degree}", lambda seed, d=degree: nuice.random_regular(RANKS, d, 1, 32, seed=seed)
    for units in (36, 99, 276):
        yield f"{units} units", lambda seed, u=units: mesh_like(seed, u)


def of_sizes(function):
    return lambda picks, left: function(sorted(size for _, _, size in picks))


def everywhere(function):
    """One level for all phases, from the sizes of all messages in ascending order."""

    def rule(matrix):
        level = function(sorted(matrix.message(k)[2] for k in range(matrix.num_messages)))
        return lambda picks, left: level

    rule.is_global = True
    return rule


def room(which, margin, floor=True):
    """which: the ends that must have room: "both", "sender" or "receiver"."""

    def level(picks, left):
        sends, receives = left
        most = {"both": max(sends + receives), "sender": max(sends), "receiver": max(receives)}[which]
        ends = {
            "both": lambda s, d: max(sends[s], receives[d]),
            "sender": lambda s, d: sends[s],
            "receiver": lambda s, d: receives[d],
        }[which]
        bound = max((size for s, d, size in picks if ends(s, d) + margin > most), default=1)
        return max(bound, mean(size for _, _, size in picks)) if floor else bound

    return level


RULES = {
    "no splitting, largest first": of_sizes(lambda s: s[-1]),
    "1/2 of the largest": of_sizes(lambda s: s[-1] / 2),
    "3/4 of the largest": of_sizes(lambda s: s[-1] * 3 / 4),
    "mean": of_sizes(mean),
    "1.5 means": of_sizes(lambda s: 1.5 * mean(s)),
    "2 means": of_sizes(lambda s: 2 * mean(s)),
    "median": of_sizes(lambda s: s[len(s) // 2]),
    "2 medians": of_sizes(lambda s: 2 * s[len(s) // 2]),
    "upper quartile": of_sizes(lambda s: s[len(s) * 3 // 4]),
    "upper tenth": of_sizes(lambda s: s[len(s) * 9 // 10]),
    "global, 16 units": everywhere(lambda s: 16),
    "global, 32 units": everywhere(lambda s: 32),
    "global, 48 units": everywhere(lambda s: 48),
    "global, 64 units": everywhere(lambda s: 64),
    "global, mean": everywhere(mean),
    "global, 2 means": everywhere(lambda s: 2 * mean(s)),
    "global, median": everywhere(lambda s: s[len(s) // 2]),
    "global, upper quartile": everywhere(lambda s: s[len(s) * 3 // 4]),
    "global, upper tenth": everywhere(lambda s: s[len(s) * 9 // 10]),
    "global, 1/2 of the largest": everywhere(lambda s: s[-1] / 2),
    "global, 3/4 of the largest": everywhere(lambda s: s[-1] * 3 / 4),
    "room of both, 2 (rs_nh)": room("both", 2),
    "room of both, 1": room("both", 1),
    "room of sender, 2": room("sender", 2),
    "room of sender, 1": room("sender", 1),
    "room of sender, 1, no floor": room("sender", 1, floor=False),
    "room of receiver, 2": room("receiver", 2),
    "room of receiver, 1": room("receiver", 1),
}


def rs_nh(matrix, level_of, seed):
    """Returns (phases, phase bytes) with this rule."""
    dice = random.Random(seed)
    rows = [[] for _ in range(RANKS)]
    receives = [0] * RANKS
    for message in range(matrix.num_messages):
        src, dst, size = matrix.message(message)
        rows[src].append([size, dice.random(), dst])
        receives[dst] += 1
    phases = phase_bytes = 0
    while any(rows):
        first = dice.randrange(RANKS)
        taken, picks = set(), []
        for src in [*range(first, RANKS), *range(first)]:
            rows[src].sort(reverse=True)
            entry = next((e for e in rows[src] if e[2] not in taken), None)
            if entry is not None:
                taken.add(entry[2])
                picks.append((src, entry))
        left = ([len(row) for row in rows], receives)
        level = max(1, int(level_of([(src, e[2], e[0]) for src, e in picks], left)))
        phases += 1
        phase_bytes += min(level, max(e[0] for _, e in picks))
        for src, entry in picks:
            entry[0] -= level
            if entry[0] <= 0:
                rows[src].remove(entry)
                receives[entry[2]] -= 1
    return phases, phase_bytes

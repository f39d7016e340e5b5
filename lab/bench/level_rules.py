#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which level rule of RS_NH gives the phases that 004 prints? Tables 5 and 6 against many readings.

The papers say that each phase has a cutoff size and that larger messages send a part (000 s.3.3, 004 s.3.3),
not how the size is chosen. Three families are tried. "of the sizes": the level is a function of the sizes in
the phase. "global": one level for all phases, a number of units or a function of all sizes. "room": a message
may be split only if its ranks have `margin` messages fewer left than the busiest; the level is the largest
message that may not. Printed is by how many percent phases grow over RS_N, and in brackets the phase bytes
over those of RS_N. Matrices: 32 ranks, every one with d messages of 1 to 32 units (table 5), and points in a
square that exchange with their neighbours, the more the nearer, of up to 36, 99 and 276 units (as table 6: 3
to 15 messages a rank, 9 on average).

usage: level_rules.py [--samples 40] [--quick] [--json]
"""

import argparse
import json
import random
from statistics import mean

from rich.console import Console
from rich.progress import track
from rich.table import Table

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
    """(phases, phase bytes) with that rule."""
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


def measure(make, rule, samples):
    plain, ours = [], []
    for seed in range(samples):
        matrix = make(seed)
        schedule, _ = nuice.make_schedule(matrix, "rs_n", seed)
        plain.append((schedule.num_phases, nuice.phase_bytes(schedule)))
        level_of = rule(matrix) if getattr(rule, "is_global", False) else rule
        ours.append(rs_nh(matrix, level_of, seed))
    more = mean(p for p, _ in ours) / mean(p for p, _ in plain) - 1
    return {"more_percent": 100 * more, "bytes_of_rs_n": mean(b for _, b in ours) / mean(b for _, b in plain)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=40)
    parser.add_argument("--quick", action="store_true", help="two samples of every case: does it work?")
    parser.add_argument("--json", action="store_true", help="one JSON object per line and nothing else")
    options = parser.parse_args()
    samples = 2 if options.quick else options.samples
    steps = [(rule, case) for rule in RULES for case in cases()]
    figures = [
        {"rule": rule, "case": case, "printed_percent": PRINTED[case]} | measure(make, RULES[rule], samples)
        for rule, (case, make) in track(steps, "rules", console=Console(stderr=True), transient=True)
    ]
    if options.json:
        for figure in figures:
            print(json.dumps(figure))
        return
    table = Table(title="phases beyond those of rs_n, percent (phase bytes over those of rs_n)")
    for column in ["level", *PRINTED]:
        table.add_column(column, justify="left" if column == "level" else "right")
    table.add_row("printed in 004", *[str(percent) for percent in PRINTED.values()])
    for rule in RULES:
        row = [f for f in figures if f["rule"] == rule]
        table.add_row(rule, *[f"{f['more_percent']:.0f} ({f['bytes_of_rs_n']:.2f})" for f in row])
    Console(width=120).print(table)


if __name__ == "__main__":
    main()

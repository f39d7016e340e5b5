# SPDX-License-Identifier: BSD-3-Clause
"""Update instead of rebuild: time to follow k changed entries, compared with planning again.

Three kinds of change. "sizes": k messages get other sizes. "mixed": a third other sizes, a third of the
messages gone, a third new. "rewired": messages s1 -> d1 and s2 -> d2 become s1 -> d2 and s2 -> d1, k entries
in all; in a regular matrix all ranks are busy in all phases and stay so, which is the hardest case. The time
to follow is that of apply; planning again is `coloring` alone, without making the matrix. Both in the same
run, medians. Then a long series of mixed changes: phases compared with the maximum degree.
"""

from statistics import median

import numpy as np

import nuice
from kit import Case, Column, Failed, Table, timed

MATRICES = {"1,024 x 1,023, complete": (1024, 1023), "1,024 x 512": (1024, 512), "65,536 x 32": (65536, 32)}
SMALL = {"64 x 63, complete": (64, 63), "256 x 16": (256, 16)}


class Pairs:
    """The messages of a matrix as arrays, and which pairs are messages."""

    def __init__(self, matrix):
        self.num_ranks = matrix.num_ranks
        self.entries = np.stack(matrix.entries(), axis=1)
        self.keys = self.key(self.entries)  # ascending, as entries are sorted

    def key(self, entries):
        return entries[:, 0] * self.num_ranks + entries[:, 1]

    def known(self, entries):
        keys = self.key(entries)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return self.keys[place] == keys


def without_repeats(changes):
    """One entry per pair: the first."""
    _, first = np.unique(changes[:, :2], axis=0, return_index=True)
    return changes[np.sort(first)]


def sizes(pairs, count, random):
    entries = pairs.entries
    chosen = entries[random.choice(len(entries), min(count, len(entries)), replace=False)]
    chosen[:, 2] = random.integers(1, 1 << 20, len(chosen))
    return chosen


def mixed(pairs, count, random):
    """A third other sizes, a third gone, a third new; fewer new ones where nearly all pairs are messages."""
    old = sizes(pairs, max(1, count * 2 // 3), random)
    old[random.integers(0, 2, len(old)) > 0, 2] = 0
    ends = random.integers(0, pairs.num_ranks, (count - len(old), 2))
    new = np.column_stack([ends, random.integers(1, 1 << 20, len(ends))])
    new = new[(ends[:, 0] != ends[:, 1]) & ~pairs.known(new)]
    return without_repeats(np.concatenate([old, new]))


def rewired(pairs, count, random):
    """None if no two messages can be rewired, as in a complete matrix."""
    entries = pairs.entries
    if len(entries) == pairs.num_ranks * (pairs.num_ranks - 1):
        return None
    changed = {}
    while len(changed) < max(count, 4):
        one, other = entries[random.integers(0, len(entries), (2, count + 64))]
        new = np.stack([one, other])
        new[0, :, 1], new[1, :, 1] = other[:, 1], one[:, 1]
        usable = ~pairs.known(new[0]) & ~pairs.known(new[1])
        usable &= (new[0, :, 0] != new[0, :, 1]) & (new[1, :, 0] != new[1, :, 1])
        for (s1, d1, b1), (s2, d2, b2) in zip(one[usable].tolist(), other[usable].tolist(), strict=True):
            four = [(s1, d1), (s2, d2), (s1, d2), (s2, d1)]
            if len(changed) < max(count, 4) and len(set(four)) == 4 and not any(p in changed for p in four):
                changed |= dict(zip(four, (0, 0, b1, b2), strict=True))
    return np.array([(s, d, b) for (s, d), b in changed.items()])


def require(violation):
    if violation is not None:
        raise Failed(violation.text)


def follow(plan, pairs, kind, count, runs):
    """One figure: `count` changes from the plan, `runs` times from the start."""
    update_s, check_s, anew_s, moved = [], [], [], []
    for run in range(runs):
        changes = kind(pairs, count, np.random.default_rng(run))
        if changes is None:
            return None
        live = plan.dynamic()
        columns = [np.ascontiguousarray(column, np.int64) for column in changes.T]
        took, update = timed(lambda: live.apply_arrays(*columns))  # noqa: B023
        update_s.append(took)
        moved.append(update.moved)
        took, violation = timed(live.check_changes)
        check_s.append(took)
        require(violation)
        after = live.matrix()
        anew_s.append(nuice.make_schedule(after, "coloring", run)[1])
    require(nuice.check(after, live.schedule(after), ["direct", "one_port"]))
    return {
        "change": kind.__name__,
        "entries": len(changes),
        "update_seconds": median(update_s),
        "check_seconds": median(check_s),
        "anew_seconds": median(anew_s),
        "to_anew": median(update_s) / median(anew_s),
        "moved": median(moved),
        "phases": live.num_phases,
        "max_degree": live.max_degree,
    }


def counts(matrix, quick):
    return [*([1, 10] if quick else [1, 10, 100, 1000]), matrix.num_messages // 10]


def long_series(plan, steps, per_step):
    """Phases above the maximum degree, at worst and in the end, over a series of mixed changes."""
    random = np.random.default_rng(1)
    live = plan.dynamic()
    above = []
    for step in range(steps):
        if step % 20 == 0:
            now = Pairs(live.matrix())
        changes = mixed(now, per_step, random)
        live.apply_arrays(*[np.ascontiguousarray(column, np.int64) for column in changes.T])
        require(live.check_changes())
        above.append(live.phases_above_max_degree)
    after = live.matrix()
    require(nuice.check(after, live.schedule(after), ["direct", "one_port"]))
    return {
        "series_entries": steps * per_step,
        "worst_above": max(above),
        "mean_above": sum(above) / len(above),
        "phases": live.num_phases,
        "max_degree": live.max_degree,
    }


def rows(options):
    for name, (ranks, degree) in (SMALL if options.quick else MATRICES).items():
        matrix = nuice.random_regular(ranks, degree)
        plan, pairs = nuice.plan(matrix, "coloring"), Pairs(matrix)
        for kind in (sizes, mixed, rewired):
            for count in counts(matrix, options.quick):
                figure = follow(plan, pairs, kind, count, options.runs)
                if figure is not None:
                    yield {"matrix": name} | figure
        yield {"matrix": name} | long_series(plan, options.steps, matrix.num_messages // 1000 + 1)


def phases(row):
    above = row["phases"] - row["max_degree"]
    return f"{row['phases']} = D" + (f" + {above}" if above > 0 else "")


def series(rows):
    for s in rows:
        if "series_entries" in s:
            yield (
                f"{s['matrix']}, {s['series_entries']:,} mixed changes: phases above the maximum degree "
                f"{s['worst_above']} at most, {s['mean_above']:.2f} on average; in the end {s['phases']}, "
                f"maximum degree {s['max_degree']}"
            )


CASE = Case(
    rows,
    options=dict(runs=5, steps=(200, "batches of the long series")),
    quick=dict(runs=1, steps=20),
    minutes=5,
    tables=Table(
        "time to follow changed entries, compared with planning again (medians)",
        "matrix | change | entries , | update, ms = update_seconds*1e3 .3f",
        "plan again, ms = anew_seconds*1e3 .1f | update / plan again = to_anew .5f",
        "check, ms = check_seconds*1e3 .3f | moved ,.0f",
        Column("phases", phases),
        where="change",
    ),
    notes=series,
)

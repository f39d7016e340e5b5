# SPDX-License-Identifier: BSD-3-Clause
"""003, tables 1 to 4 and figures 1 and 8 to 10: LP, GM and CGM on a 32-node CM-5."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import correlation, mean, median, stdev

from nuice._core import CommMatrix

from nuice import _core

from . import patterns, printed_tables
from .report import APART, LARGEST_IN_BAR, Cell, Curves, Part, Reproduction, listed, reproduces
from .runs import Lab
from .tables import Row, by_row, cells, printed, renamed

MACHINE = "cm5-32"
ONE_PERMUTATION = "cm5-32/permutation"  # without the package
ALGORITHMS = ("ac", "lp", "gm", "cgm")
NO_SPREAD = "ours all cost the same: the CM-5 draws ways at random, our fat links stand for the mean of that"
QUICK_BYTES = (256, 16384)


@reproduces("003-table1", "one permutation on a 32-node CM-5")
def table1(found: Reproduction, lab: Lab, quick: bool) -> None:
    """The machine is fitted to the averages; the spread is the network's."""
    rows, seeds = printed("003_table1", quick, "bytes", QUICK_BYTES), range(2 * lab.seeds)
    times = {
        row["bytes"]: [
            lab.run(ONE_PERMUTATION, "cgm", patterns.permutation(row["bytes"], seed), seed) for seed in seeds
        ]
        for row in rows
    }

    def part(title: str, measure: dict[str, Callable[[list[float]], float]]) -> Part:
        of = cells(
            rows,
            ("bytes",),
            tuple(measure),
            lambda row, column: measure[column](times[row["bytes"]]),
            fitted=lambda row, column: column == "average_ms",
            largest=lambda row: row["bytes"],
        )
        return Part(f"{title} over {2 * lab.seeds} permutations (printed: 1,000)", "ms", of)

    found.parts = [part("mean", {"average_ms": mean}), part("extremes", {"max_ms": max, "min_ms": min})]
    found.notes = [NO_SPREAD]


@reproduces("003-table2", "exchange on a 32-node CM-5, 4 and 8 messages per node")
def table2(found: Reproduction, lab: Lab, quick: bool) -> None:
    _exchange(found, lab, quick, (4, 8))


@reproduces("003-table3", "exchange on a 32-node CM-5, 16 and 24 messages per node")
def table3(found: Reproduction, lab: Lab, quick: bool) -> None:
    _exchange(found, lab, quick, (16, 24))


def _is_fitted(row: Row, column: str) -> bool:
    """See bench/run.py fit_machines."""
    if row["bytes"] > LARGEST_IN_BAR:
        return row["degree"] in (16, 24)  # the memory
    if column == "cgm":
        return row["degree"] == 4
    return row["degree"] in ((4, 8) if column == "ac" else (16, 24) if column == "lp" else ())


def _exchange(found: Reproduction, lab: Lab, quick: bool, degrees: tuple[int, int]) -> None:
    rows = [row for row in printed("003_tables2_3", quick, "bytes", QUICK_BYTES) if row["degree"] in degrees]
    plans = [row for row in printed_tables.table("003_tables2_3_plans") if row["degree"] in degrees]

    def ours(row: Row, algorithm: str) -> float:
        degree, size = row["degree"], row["bytes"]
        return lab.mean_ms(MACHINE, algorithm, lambda seed: patterns.uniform(degree, size, seed))

    costs = cells(
        rows, ("degree", "bytes"), ALGORITHMS, ours, largest=lambda row: row["bytes"], fitted=_is_fitted
    )
    found.parts = with_planning(
        lab,
        costs,
        plans,
        "degree",
        lambda row, seed: patterns.uniform(row["degree"], 1024, seed),
        scheduled=ALGORITHMS[1:],
        on_cm5=("lp", "cgm"),
        fitted=lambda row, column: column == "cgm",
    )
    _claim_gm_is_level(found, costs)
    _claim_cgm_or_lp_once(found, costs, found.parts[2].cells)
    found.notes = [
        "the scheduling cost of GM does not compare: the paper's scans all n columns of a row, ours what is "
        "left"
    ]


def with_planning(
    lab: Lab,
    costs: Sequence[Cell],
    plans: Sequence[Row],
    key: str,
    make: Callable[[Row, int], CommMatrix],
    *,
    scheduled: Sequence[str],
    on_cm5: Sequence[str],
    fitted: Callable[[Row, str], bool] = lambda row, column: False,
) -> list[Part]:
    """Returns the cost of exchanges, and then the printed planning results: rows with phases and ms by
    algorithm.

    make: returns the matrix for a row and a seed. scheduled, on_cm5: the algorithms of each part.
    """

    def phases(row: Row, algorithm: str) -> float:
        return lab.mean_phases(algorithm, lambda seed: make(row, seed))

    def of_the_machine(row: Row, algorithm: str) -> float:
        made = [make(row, seed) for seed in range(lab.with_few().seeds)]
        return mean(lab.planning_ms(MACHINE, algorithm, matrix) for matrix in made)

    def here(row: Row, algorithm: str) -> float:
        return planning_ms(algorithm, [make(row, seed) for seed in range(lab.seeds)])

    counts, times = ([renamed(row, ending) for row in plans] for ending in ("_phases", "_ms"))
    planning = cells(times, (key,), on_cm5, of_the_machine, fitted=fitted)
    return [
        Part("cost of the exchange", "ms", costs),
        Part("phases", "phases", cells(counts, (key,), scheduled, phases)),
        Part("cost of scheduling on the CM-5 (ours: cm5-32's planning speed)", "ms", planning),
        Part("cost of scheduling here", "ms", cells(times, (key,), scheduled, here), timed_here=True),
    ]


ONE_PHASE = "single matrices differ by a phase, which is a sixth of the time at d = 4"
ONCE = "LP is up to 15 % too slow at d = 4 and 8, where hardly any of its meetings are exchanges"


def _claim_gm_is_level(found: Reproduction, costs: Sequence[Cell]) -> None:
    """s.5: "The GM algorithm has a communication cost similar to that of the CGM algorithm"."""
    apart: dict[int, float] = {}
    for ((_, degree), _), of in by_row(costs).items():
        apart[degree] = max(apart.get(degree, 0), abs(of["gm"].ours / of["cgm"].ours - 1))
    for degree, most in apart.items():
        text = f"d = {degree}: GM's exchange costs about what CGM's does (within 15 %)"
        found.claim(text, most < 0.15, f"at most {100 * most:.0f} % apart", ONE_PHASE)


def _claim_cgm_or_lp_once(found: Reproduction, costs: Sequence[Cell], planning: Sequence[Cell]) -> None:
    """Tests s.5.1: which of the two is better for a schedule that is used once, by message size, if the
    printed times are more than 10 % apart."""
    plans = by_row(planning)
    for row, of in by_row(costs).items():
        plan = plans[(row[0],)]
        in_print = {a: of[a].printed + plan[a].printed for a in ("lp", "cgm")}
        ours = {a: of[a].ours + plan[a].ours for a in ("lp", "cgm")}
        first, second = sorted(in_print, key=in_print.__getitem__)
        if in_print[second] < (1 + APART) * in_print[first]:
            continue
        seen = ", ".join(f"{a} {ours[a]:.3g} [{in_print[a]:.3g}]" for a in in_print) + " ms"
        text = f"d = {row[0][1]}, {row[1][1]} bytes, used once: {first} before {second}"
        found.claim(text, ours[first] < ours[second], seen, ONCE)


def planning_ms(algorithm: str, matrices: Sequence[CommMatrix]) -> float:
    """Returns the median planning time on this computer."""
    return 1e3 * median(
        _core.make_schedule(matrix, algorithm, seed)[1] for seed, matrix in enumerate(matrices)
    )


@reproduces("003-table4", "CGM: phases and scheduling cost")
def table4(found: Reproduction, lab: Lab, quick: bool) -> None:
    """Up to 512 ranks."""
    rows = [row for row in printed_tables.table("003_table4") if not quick or row["ranks"] == 32]

    def made(row: Row, seed: int) -> CommMatrix:
        return patterns.uniform(row["degree"], 1024, seed, row["ranks"])

    def samples(row: Row) -> int:  # large matrices differ little
        return max(1, min(lab.seeds, 100_000 // (row["ranks"] * row["degree"])))

    def phases(row: Row, _: str) -> float:
        return Lab(samples(row)).mean_phases("cgm", lambda seed: made(row, seed))

    def here(row: Row, _: str) -> float:
        return planning_ms("cgm", [made(row, seed) for seed in range(samples(row))])

    def on_the_cm5(row: Row, _: str) -> float:
        return lab.planning_ms(MACHINE, "cgm", made(row, 0))

    keys, of_schedule = ("ranks", "degree"), ("schedule_ms",)
    counts = cells(rows, keys, ("phases",), phases)
    found.parts = [
        Part("phases of CGM", "phases", counts),
        Part("cost of scheduling on the CM-5", "ms", cells(rows, keys, of_schedule, on_the_cm5)),
        Part("cost of scheduling here", "ms", cells(rows, keys, of_schedule, here), timed_here=True),
    ]
    for ranks in dict.fromkeys(row["ranks"] for row in rows):  # s.4: about d + log d phases, to the base 2
        ours = [(cell.row[1][1], cell.ours) for cell in counts if cell.row[0][1] == ranks]
        most = max(count / (degree + math.log2(degree)) for degree, count in ours if degree > 2)
        text = f"{ranks} ranks: CGM needs an expected d + log d phases at most (within 5 %)"
        found.claim(text, most <= 1.05, f"at most {most:.3f} times that")


@reproduces("000-fig2", "permutations of 1 KiB in the program, on a 32-node CM-5")
@reproduces("003-fig1", "permutations of 1 KiB in the program, on a 32-node CM-5")
def figure1(found: Reproduction, lab: Lab, quick: bool) -> None:
    """Printed in both papers: 5,000 of them."""
    samples = 100 if quick else 1000
    times = [lab.run(MACHINE, "cgm", patterns.permutation(1024, seed), seed) for seed in range(samples)]
    average = mean(times)
    near = sum(abs(t / average - 1) <= 0.05 for t in times)
    text = next(row for row in printed_tables.table("texts") if row["unit"] == "ms")
    cell = Cell((("bytes", 1024),), "mean", text["value"], average)
    found.parts = [Part(f"mean over {samples} permutations (printed: 5,000)", "ms", [cell])]
    found.claim(
        "more than 99.5 % of random permutations cost within 5 % of the mean",
        near >= 0.995 * samples,
        f"{near} of {samples}; standard deviation {100 * stdev(times) / average:.2f} %",
    )
    found.notes = [NO_SPREAD]


@reproduces("003-fig8", "cost of the exchange by size of the messages")
def figure8(found: Reproduction, lab: Lab, quick: bool) -> None:
    """The curves of tables 2 and 3 for d = 4, 8, 24, and which is lowest at each size."""
    for degree in (4, 8, 24):
        level = 1.1 if degree == 24 else 1.0
        for size in (256, 8192) if quick else (256, 2048, 8192, 32768):
            times = lab.times(MACHINE, ALGORITHMS, lambda s, d=degree, b=size: patterns.uniform(d, b, s))
            text = f"d = {degree}, {size} bytes: GM or CGM lowest" + " or level with LP" * (level > 1)
            lowest = min(times["gm"], times["cgm"]) <= level * min(times.values())
            found.claim(text, lowest, listed(times, ".2f"))


SHARE_SIZES = (16, 256, 1024, 4096, 16384)


@reproduces("003-fig9", "scheduling cost as a share of the exchange's")
def figure9(found: Reproduction, lab: Lab, quick: bool) -> None:
    """Both of the CM-5. NUICE's GM is another program."""
    degrees = [row["degree"] for row in printed_tables.table("003_tables2_3_plans")]

    def share(algorithm: str, degree: int, num_bytes: int) -> float:
        matrices = [patterns.uniform(degree, num_bytes, seed) for seed in range(lab.seeds)]
        planning = mean(lab.planning_ms(MACHINE, algorithm, matrix) for matrix in matrices)
        return planning / lab.mean_ms(MACHINE, algorithm, lambda seed: matrices[seed])

    def seen(shares: dict[int, dict[int, float]], num_bytes: int) -> str:
        return ", ".join(f"d = {d}: {of[num_bytes]:.3f}" for d, of in shares.items())

    cgm, lp = ({d: {size: share(a, d, size) for size in SHARE_SIZES} for d in degrees} for a in ("cgm", "lp"))
    at_most_one = all(of[16] <= 1.05 for of in cgm.values())
    text = "CGM's scheduling costs at most about one exchange of 16-byte messages"
    found.claim(text, at_most_one, seen(cgm, 16))
    for d, of in cgm.items():
        text = f"d = {d}, 4 KiB: CGM's scheduling is negligible, less than 0.25 of an exchange"
        reason = "between the printed 2 and 8 KiB it is 0.23 to 0.27 too"
        found.claim(text, of[4096] < 0.25, f"{of[4096]:.3f}", reason)
    falls = all(list(of.values()) == sorted(of.values(), reverse=True) for of in cgm.values())
    both = f"16 B: {seen(cgm, 16)}; 16 KiB: {seen(cgm, 16384)}"
    found.claim("CGM's share falls as messages grow", falls, both)
    small = all(lp[d][16] < 0.1 * cgm[d][16] for d in degrees)
    text = "LP's scheduling overhead is very small (less than a tenth of CGM's share)"
    found.claim(text, small, seen(lp, 16))
    found.curves = [Curves(found.title, "bytes", "share", _shares(cgm, lp))]


def _shares(cgm: dict[int, dict[int, float]], lp: dict[int, dict[int, float]]) -> dict[str, list]:
    """Returns the shares by degree and size. Shares of intermediate degrees lie between those of the smallest
    and the largest degree."""
    plans = {row["degree"]: row["cgm_ms"] for row in printed_tables.table("003_tables2_3_plans")}
    few = (min(plans), max(plans))
    lines = {f"CGM, d = {d}": list(cgm[d].items()) for d in few}
    rows = printed_tables.table("003_tables2_3")
    for d in few:
        in_print = [(row["bytes"], plans[d] / row["cgm"]) for row in rows if row["degree"] == d]
        lines[f"CGM, d = {d}, printed"] = in_print
    return lines | {f"LP, d = {d}": list(lp[d].items()) for d in few}


@reproduces("003-fig10", "CGM's scheduling cost divided by n, against d ln d")
def figure10(found: Reproduction, lab: Lab, quick: bool) -> None:
    """In the figure's range: a straight line."""
    rows = [
        row
        for row in printed_tables.table("003_table4")
        if 0 < row["degree"] * math.log(row["degree"]) < 150 and (not quick or row["ranks"] == 32)
    ]
    growth = [row["degree"] * math.log(row["degree"]) for row in rows]
    in_print = [row["schedule_ms"] / row["ranks"] for row in rows]
    theirs = correlation(growth, in_print)
    # The algorithms are interleaved, and the shortest time of each counts, because disturbances only add to
    # times.
    matrices = [patterns.uniform(row["degree"], 1024, 0, row["ranks"]) for row in rows]
    turns = [[planning_ms("cgm", [matrix]) for matrix in matrices] for _ in range(30)]
    shortest = [min(times) for times in zip(*turns, strict=True)]
    here = correlation(growth, [time / row["ranks"] for time, row in zip(shortest, rows, strict=True)])
    on_cm5 = [lab.planning_ms(MACHINE, "cgm", matrix) / matrix.num_ranks for matrix in matrices]
    lines = {
        name: sorted(zip(growth, of, strict=True))
        for name, of in (("printed", in_print), ("ours, of cm5-32", on_cm5))
    }
    found.claim(
        "scheduling costs O(d n ln d): time / n lies on a straight line (correlation above 0.95)",
        theirs > 0.95 and here > 0.95,
        f"correlation printed {theirs:.3f}, on this computer {here:.3f}",
    )
    found.curves = [Curves("CGM's scheduling cost / n", "d ln d", "ms", lines)]

# SPDX-License-Identifier: BSD-3-Clause
"""003, tables 1 to 4 and figures 1 and 8 to 10: LP, GM and CGM on a 32-node CM-5."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import correlation, mean, median, stdev
from typing import Any

from nuice._core import CommMatrix

from nuice import _core

from . import patterns, printed_tables
from .report import APART, LARGEST_IN_BAR, Cell, Claim, Curves, Part, Reproduction
from .runs import Lab
from .tables import Row, cells, printed, renamed

MACHINE = "cm5-32"
ONE_PERMUTATION = "cm5-32/permutation"  # without the package
ALGORITHMS = ("ac", "lp", "gm", "cgm")
NO_SPREAD = "ours all cost the same: the CM-5 draws ways at random, our fat links stand for the mean of that"
QUICK_BYTES = (256, 16384)


def table1(lab: Lab, quick: bool) -> Reproduction:
    """One permutation. The machine is fitted to the averages; the spread is the network's."""
    rows = printed("003_table1", quick, "bytes", QUICK_BYTES)
    times = {row["bytes"]: _permutations(lab, row["bytes"]) for row in rows}

    def part(title: str, measure: dict[str, Callable[[list[float]], float]]) -> Part:
        found = cells(
            rows,
            ("bytes",),
            tuple(measure),
            lambda row, column: measure[column](times[row["bytes"]]),
            fitted=lambda row, column: column == "average_ms",
            largest=lambda row: row["bytes"],
        )
        return Part(f"{title} over {2 * lab.seeds} permutations (printed: 1,000)", "ms", found)

    parts = [part("mean", {"average_ms": mean}), part("extremes", {"max_ms": max, "min_ms": min})]
    return Reproduction("003-table1", "one permutation on a 32-node CM-5", parts, notes=[NO_SPREAD])


def _permutations(lab: Lab, num_bytes: int) -> list[float]:
    return [
        lab.run(ONE_PERMUTATION, "cgm", patterns.permutation(num_bytes, seed), seed)
        for seed in range(2 * lab.seeds)
    ]


def table2(lab: Lab, quick: bool) -> Reproduction:
    return _exchange(lab, quick, "003-table2", (4, 8))


def table3(lab: Lab, quick: bool) -> Reproduction:
    return _exchange(lab, quick, "003-table3", (16, 24))


def _is_fitted(row: Row, column: str) -> bool:
    """See lab/bench/run.py fit_machines."""
    if row["bytes"] > LARGEST_IN_BAR:
        return row["degree"] in (16, 24)  # the memory
    if column == "cgm":
        return row["degree"] == 4
    return row["degree"] in ((4, 8) if column == "ac" else (16, 24) if column == "lp" else ())


def _exchange(lab: Lab, quick: bool, name: str, degrees: tuple[int, int]) -> Reproduction:
    rows = [row for row in printed("003_tables2_3", quick, "bytes", QUICK_BYTES) if row["degree"] in degrees]

    def ours(row: Row, algorithm: str) -> float:
        return lab.mean_ms(
            MACHINE, algorithm, lambda seed: patterns.uniform(row["degree"], row["bytes"], seed)
        )

    times = cells(
        rows,
        ("degree", "bytes"),
        ALGORITHMS,
        ours,
        largest=lambda row: row["bytes"],
        fitted=_is_fitted,
    )
    plans = [row for row in printed_tables.table("003_tables2_3_plans") if row["degree"] in degrees]
    scheduled = ALGORITHMS[1:]
    phases = cells(
        [renamed(row, "_phases") for row in plans],
        ("degree",),
        scheduled,
        lambda row, name: lab.mean_phases(name, lambda seed: patterns.uniform(row["degree"], 1024, seed)),
    )
    planning = cells(
        [renamed(row, "_ms") for row in plans],
        ("degree",),
        scheduled,
        lambda row, name: _planning_ms(name, patterns.RANKS, row["degree"], lab.seeds),
    )

    def of_the_machine(row: Row, algorithm: str) -> float:
        made = [patterns.uniform(row["degree"], 1024, seed) for seed in range(lab.with_few().seeds)]
        return mean(lab.planning_ms(MACHINE, algorithm, matrix) for matrix in made)

    on_the_cm5 = cells(
        [renamed(row, "_ms") for row in plans],
        ("degree",),
        ("lp", "cgm"),
        of_the_machine,
        fitted=lambda row, column: column == "cgm",
    )
    return Reproduction(
        name,
        f"exchange on a 32-node CM-5, {degrees[0]} and {degrees[1]} messages per node",
        [
            Part("cost of the exchange", "ms", times),
            Part("phases", "phases", phases),
            Part("cost of scheduling on the CM-5 (ours: cm5-32's planning speed)", "ms", on_the_cm5),
            Part("cost of scheduling here", "ms", planning, timed_here=True),
        ],
        claims=[*_gm_is_level(times), *_cgm_or_lp_once(times, on_the_cm5)],
        notes=[
            "the scheduling cost of GM does not compare: the paper's scans all n columns of a row, ours what "
            "is left"
        ],
    )


def _rows(cells_: Sequence[Cell]) -> dict[Any, dict[str, Cell]]:
    rows: dict[Any, dict[str, Cell]] = {}
    for cell in cells_:
        rows.setdefault(cell.row, {})[cell.column] = cell
    return rows


def _gm_is_level(times: Sequence[Cell]) -> list[Claim]:
    """s.5: "The GM algorithm has a communication cost similar to that of the CGM algorithm"."""
    claims = []
    for degree in dict.fromkeys(cell.row[0][1] for cell in times):
        of = [row for key, row in _rows(times).items() if key[0][1] == degree]
        most = max(abs(row["gm"].ours / row["cgm"].ours - 1) for row in of)
        text = f"d = {degree}: GM's exchange costs about what CGM's does (within 15 %)"
        claims.append(Claim(text, most < 0.15, f"at most {100 * most:.0f} % apart", ONE_PHASE))
    return claims


def _cgm_or_lp_once(times: Sequence[Cell], planning: Sequence[Cell]) -> list[Claim]:
    """s.5.1: which of the two for a schedule that is used once, by message size; where they are printed more
    than 10 % apart."""
    plans = _rows(planning)
    claims = []
    for key, row in _rows(times).items():
        plan = plans[(key[0],)]
        printed = {a: row[a].printed + plan[a].printed for a in ("lp", "cgm")}
        ours = {a: row[a].ours + plan[a].ours for a in ("lp", "cgm")}
        first, second = sorted(printed, key=printed.__getitem__)
        if printed[second] < (1 + APART) * printed[first]:
            continue
        seen = ", ".join(f"{a} {ours[a]:.3g} [{printed[a]:.3g}]" for a in printed) + " ms"
        text = f"d = {key[0][1]}, {key[1][1]} bytes, used once: {first} before {second}"
        claims.append(Claim(text, ours[first] < ours[second], seen, ONCE))
    return claims


ONE_PHASE = "single matrices differ by a phase, which is a sixth of the time at d = 4"
ONCE = "LP is up to 15 % too slow at d = 4 and 8, where hardly any of its meetings are exchanges"


def planning_ms(algorithm: str, matrices: Sequence[CommMatrix]) -> float:
    """Median time of planning on this computer."""
    return 1e3 * median(
        _core.make_schedule(matrix, algorithm, seed)[1] for seed, matrix in enumerate(matrices)
    )


def _planning_ms(algorithm: str, ranks: int, degree: int, samples: int) -> float:
    return planning_ms(algorithm, [patterns.uniform(degree, 1024, seed, ranks) for seed in range(samples)])


def table4(lab: Lab, quick: bool) -> Reproduction:
    """Phases and planning cost of CGM up to 512 ranks."""
    rows = [row for row in printed_tables.table("003_table4") if not quick or row["ranks"] == 32]

    def samples(row: Row) -> int:  # large matrices differ little from each other
        return max(1, min(lab.seeds, 100_000 // (row["ranks"] * row["degree"])))

    def phases(row: Row, _: str) -> float:
        few = Lab(samples(row))
        return few.mean_phases("cgm", lambda seed: patterns.uniform(row["degree"], 1024, seed, row["ranks"]))

    def milliseconds(row: Row, _: str) -> float:
        return _planning_ms("cgm", row["ranks"], row["degree"], samples(row))

    def on_the_cm5(row: Row, _: str) -> float:
        return lab.planning_ms(MACHINE, "cgm", patterns.uniform(row["degree"], 1024, 0, row["ranks"]))

    keys = ("ranks", "degree")
    parts = [
        Part("phases of CGM", "phases", cells(rows, keys, ("phases",), phases)),
        Part("cost of scheduling on the CM-5", "ms", cells(rows, keys, ("schedule_ms",), on_the_cm5)),
        Part(
            "cost of scheduling here",
            "ms",
            cells(rows, keys, ("schedule_ms",), milliseconds),
            timed_here=True,
        ),
    ]
    return Reproduction("003-table4", "CGM: phases and scheduling cost", parts, _few_phases(parts[0]))


def _few_phases(part: Part) -> list[Claim]:
    """003 s.4: about d + log d phases, log to the base 2."""
    claims = []
    for ranks in dict.fromkeys(cell.row[0][1] for cell in part.cells):
        found = [(cell.row[1][1], cell.ours) for cell in part.cells if cell.row[0][1] == ranks]
        most = max(phases / (degree + math.log2(degree)) for degree, phases in found if degree > 2)
        text = f"{ranks} ranks: CGM needs an expected d + log d phases at most (within 5 %)"
        claims.append(Claim(text, most <= 1.05, f"at most {most:.3f} times that"))
    return claims


def figure1(lab: Lab, quick: bool) -> Reproduction:
    return permutation_spread("003-fig1", lab, quick)


def permutation_spread(name: str, lab: Lab, quick: bool) -> Reproduction:
    """003 fig. 1 = 000 fig. 2: 5,000 permutations of 1 KiB."""
    samples = 100 if quick else 1000
    times = [lab.run(MACHINE, "cgm", patterns.permutation(1024, seed), seed) for seed in range(samples)]
    average = mean(times)
    near = sum(abs(t / average - 1) <= 0.05 for t in times)
    text = next(row for row in printed_tables.table("texts") if row["unit"] == "ms")
    cell = cells(
        [{"bytes": 1024, "mean": text["value"]}],
        ("bytes",),
        ("mean",),
        lambda *_: average,
    )
    return Reproduction(
        name,
        "permutations of 1 KiB in the program, on a 32-node CM-5",
        [Part(f"mean over {samples} permutations (printed: 5,000)", "ms", cell)],
        [
            Claim(
                "more than 99.5 % of random permutations cost within 5 % of the mean",
                near >= 0.995 * samples,
                f"{near} of {samples}; standard deviation {100 * stdev(times) / average:.2f} %",
            )
        ],
        [NO_SPREAD],
    )


SHARE_SIZES = (16, 256, 1024, 4096, 16384)


def figure9(lab: Lab, quick: bool) -> Reproduction:
    """Scheduling cost over cost of the exchange, both of the CM-5. GM of ours is another program."""
    degrees = [row["degree"] for row in printed_tables.table("003_tables2_3_plans")]

    def share(algorithm: str, degree: int, num_bytes: int) -> float:
        matrices = [patterns.uniform(degree, num_bytes, seed) for seed in range(lab.seeds)]
        planning = mean(lab.planning_ms(MACHINE, algorithm, matrix) for matrix in matrices)
        return planning / lab.mean_ms(MACHINE, algorithm, lambda seed: matrices[seed])

    cgm = {d: {size: share("cgm", d, size) for size in SHARE_SIZES} for d in degrees}
    lp = {d: {size: share("lp", d, size) for size in SHARE_SIZES} for d in degrees}
    printed = {
        d: {
            row["bytes"]: plans["cgm_ms"] / row["cgm"]
            for row in printed_tables.table("003_tables2_3")
            if row["degree"] == d
        }
        for plans in printed_tables.table("003_tables2_3_plans")
        if (d := plans["degree"])
    }

    def seen(shares: dict[int, dict[int, float]], num_bytes: int) -> str:
        return ", ".join(f"d = {d}: {found[num_bytes]:.3f}" for d, found in shares.items())

    claims = [
        Claim(
            "CGM's scheduling costs at most about one exchange of 16-byte messages",
            all(found[16] <= 1.05 for found in cgm.values()),
            seen(cgm, 16),
        ),
        *(
            Claim(
                f"d = {d}, 4 KiB: CGM's scheduling is negligible, less than 0.25 of an exchange",
                found[4096] < 0.25,
                f"{found[4096]:.3f}",
                "between the printed 2 and 8 KiB it is 0.23 to 0.27 too",
            )
            for d, found in cgm.items()
        ),
        Claim(
            "CGM's share falls as messages grow",
            all(list(found.values()) == sorted(found.values(), reverse=True) for found in cgm.values()),
            f"16 B: {seen(cgm, 16)}; 16 KiB: {seen(cgm, 16384)}",
        ),
        Claim(
            "LP's scheduling overhead is very small (less than a tenth of CGM's share)",
            all(lp[d][16] < 0.1 * cgm[d][16] for d in degrees),
            seen(lp, 16),
        ),
    ]
    few = (degrees[0], degrees[-1])  # those between lie between
    lines = {f"CGM, d = {d}": list(cgm[d].items()) for d in few}
    lines |= {f"CGM, d = {d}, printed": list(printed[d].items()) for d in few}
    lines |= {f"LP, d = {d}": list(lp[d].items()) for d in few}
    title = "scheduling cost as a share of the exchange's"
    return Reproduction("003-fig9", title, claims=claims, curves=[Curves(title, "bytes", "share", lines)])


def figure10(lab: Lab, quick: bool) -> Reproduction:
    """Scheduling time / n against d ln d, in the figure's range: a straight line."""
    rows = [
        row
        for row in printed_tables.table("003_table4")
        if 0 < row["degree"] * math.log(row["degree"]) < 150 and (not quick or row["ranks"] == 32)
    ]
    growth = [row["degree"] * math.log(row["degree"]) for row in rows]
    theirs = correlation(growth, [row["schedule_ms"] / row["ranks"] for row in rows])
    # In turns, and the shortest: what disturbs only adds to a time, and not to one row alone.
    matrices = [patterns.uniform(row["degree"], 1024, 0, row["ranks"]) for row in rows]
    turns = [[planning_ms("cgm", [matrix]) for matrix in matrices] for _ in range(30)]
    shortest = [min(times) for times in zip(*turns, strict=True)]
    here = correlation(growth, [time / row["ranks"] for time, row in zip(shortest, rows, strict=True)])
    on_cm5 = [lab.planning_ms(MACHINE, "cgm", matrix) / matrix.num_ranks for matrix in matrices]
    lines = {
        "printed": list(zip(growth, [row["schedule_ms"] / row["ranks"] for row in rows], strict=True)),
        "ours, of cm5-32": list(zip(growth, on_cm5, strict=True)),
    }
    lines = {name: sorted(points) for name, points in lines.items()}
    return Reproduction(
        "003-fig10",
        "CGM's scheduling cost divided by n, against d ln d",
        claims=[
            Claim(
                "scheduling costs O(d n ln d): time / n lies on a straight line (correlation above 0.95)",
                theirs > 0.95 and here > 0.95,
                f"correlation printed {theirs:.3f}, on this computer {here:.3f}",
            )
        ],
        curves=[Curves("CGM's scheduling cost / n", "d ln d", "ms", lines)],
    )


def figure8(lab: Lab, quick: bool) -> Reproduction:
    """The curves of tables 2 and 3 for d = 4, 8, 24: which is lowest where."""
    claims = []
    for degree in (4, 8, 24):
        for num_bytes in (256, 8192) if quick else (256, 2048, 8192, 32768):
            times = {
                a: lab.mean_ms(MACHINE, a, lambda s, d=degree, b=num_bytes: patterns.uniform(d, b, s))
                for a in ALGORITHMS
            }
            lowest = min(times, key=times.__getitem__)
            claims.append(
                Claim(
                    f"d = {degree}, {num_bytes} bytes: GM or CGM lowest"
                    + (" or level with LP" if degree == 24 else ""),
                    min(times["gm"], times["cgm"]) <= times[lowest] * (1.1 if degree == 24 else 1.0),
                    ", ".join(f"{a} {t:.2f}" for a, t in times.items()) + " ms",
                )
            )
    return Reproduction("003-fig8", "cost of the exchange by size of the messages", claims=claims)

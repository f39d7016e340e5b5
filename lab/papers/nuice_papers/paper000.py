# SPDX-License-Identifier: BSD-3-Clause
"""000, figures 2, 3 and 12 to 17: NICE on a 32-node CM-5 and a 64-node iPSC/860. No numbers are printed:
claims.

What the text says of the figures, as sentences. Figures 16 and 17 show where each algorithm is the fastest;
their axes are not in the text, so only what s.6, s.7 and 003's text say of the regions is held against the
simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import mean, stdev

from nuice._core import CommMatrix

from nuice import halos
from nuice.pattern_figures import like_mesh, mesh_numbers

from . import patterns
from .paper003 import MACHINE, permutation_spread
from .report import LEVEL, Cell, Claim, Curves, Part, Reproduction
from .runs import Lab

CUBE = "ipsc860-64"
ON_CM5 = ("ac", "lp", "rs_n", "rs_nh")
ON_CUBE = ("ac", "lp", "rs_n", "rs_nl", "rs_nh", "rs_nlh")


def _times(
    lab: Lab, machine: str, algorithms: Sequence[str], make: Callable[[int], CommMatrix]
) -> dict[str, float]:
    return {name: lab.mean_ms(machine, name, make) for name in algorithms}


def _text(times: dict[str, float]) -> str:
    return ", ".join(f"{name} {time:.3g}" for name, time in sorted(times.items(), key=lambda t: t[1])) + " ms"


def _curves(title: str, found: dict[int, dict[str, float]]) -> Curves:
    """By size of the unit."""
    names = next(iter(found.values()))
    lines = {name: [(float(unit), times[name]) for unit, times in found.items()] for name in names}
    return Curves(title, "unit, bytes", "ms", lines)


def _lowest(times: dict[str, float]) -> str:
    return min(times, key=times.__getitem__)


def figure2(lab: Lab, quick: bool) -> Reproduction:
    return permutation_spread("000-fig2", lab, quick)


def figure3(lab: Lab, quick: bool) -> Reproduction:
    """Permutations on 32 nodes of an iPSC/860: circuits block each other, and yet."""
    samples = 100 if quick else 1000
    times = [lab.run(CUBE, "rs_n", patterns.permutation(1024, seed), seed) for seed in range(samples)]
    free = lab.run(CUBE, "lp", patterns.to_one(1, 1024), 0)
    return Reproduction(
        "000-fig3",
        "permutations of 1 KiB on a 32-node iPSC/860",
        claims=[
            Claim(
                "a random permutation still performs reasonably: on average under five messages' time",
                mean(times) < 5 * free,
                f"mean {mean(times):.3f}, most {max(times):.3f} ms; one message {free:.3f} ms; "
                f"standard deviation {100 * stdev(times) / mean(times):.0f} % of the mean",
            )
        ],
    )


def figure12(lab: Lab, quick: bool) -> Reproduction:
    """Sizes of 1 to 32 units on the CM-5."""
    claims, curves = [], []
    for degree in (4, 16):
        found = {
            unit: _times(lab, MACHINE, ON_CM5, lambda s, d=degree, u=unit: patterns.non_uniform(d, u, s))
            for unit in ((1024,) if quick else (16, 128, 1024))
        }
        curves.append(_curves(f"CM-5, d = {degree}, 1 to 32 units", found))
        for unit, times in found.items():
            if unit < 100:
                continue
            claims.append(
                Claim(
                    f"d = {degree}, unit {unit} bytes: splitting large messages (RS_NH) is the fastest",
                    _lowest(times) == "rs_nh",
                    _text(times),
                )
            )
    title = "messages of 1 to 32 units on a 32-node CM-5"
    return Reproduction("000-fig12", title, claims=claims, curves=curves)


OUR_LEVEL = (
    "RS_NLH keeps every link and port to one transfer and cuts long messages by a level of ours, as the "
    "papers print none: its phases have 0.8 of the bytes that LP's have, and of LP's exchanges at d = 32 a "
    "half go one way only, which takes as long as both"
)
MESH = (
    "halos are symmetric, so LP's pairs always send both ways at once, at twice the speed of a port for one "
    "way; RS_NLH, which does not pair, gains less from its shorter phases than that"
)
PAIRS = (
    "as in the paper only LP exchanges in pairs. The library's RS_NL can (prefer_pairs): it then takes 0.83 "
    "to 0.9 of the time here and 0.7 on meshes"
)


def figure13(lab: Lab, quick: bool) -> Reproduction:
    """d = 32 on a 64-node iPSC/860: pairs exchange both ways at once."""
    claims, found = [], {}
    for unit in (256,) if quick else (64, 256, 1024):
        times = _times(lab, CUBE, ON_CUBE, lambda s, u=unit: patterns.non_uniform(32, u, s, 64))
        found[unit] = times
        others = {name: time for name, time in times.items() if name not in ("lp", "rs_nlh")}
        where = f"d = 32, unit {unit} bytes: LP is faster than"
        claims += [
            Claim(
                f"{where} AC, RS_N, RS_NL and RS_NH", times["lp"] < LEVEL * min(others.values()), _text(times)
            ),
            Claim(f"{where} RS_NLH", times["lp"] < LEVEL * times["rs_nlh"], _text(times), OUR_LEVEL),
        ]
    return Reproduction(
        "000-fig13",
        "messages of 1 to 32 units, d = 32, on a 64-node iPSC/860",
        claims=claims,
        notes=[PAIRS],
        curves=[_curves("iPSC/860, d = 32, 1 to 32 units", found)],
    )


def figure14(lab: Lab, quick: bool) -> Reproduction:
    """Airfoil meshes on the CM-5."""
    claims, curves = [], []
    for points, unit in ((2800, 512),) if quick else ((2800, 512), (9428, 256), (53961, 128)):
        times = _times(lab, MACHINE, ON_CM5, lambda s, p=points, u=unit: like_mesh(p, u, s))
        claims.append(
            Claim(
                f"{points} points, unit {unit} bytes: RS_NH is the fastest",
                _lowest(times) == "rs_nh",
                _text(times),
            )
        )
        found = {
            u: _times(lab.with_few(), MACHINE, ON_CM5, lambda s, p=points, u=u: like_mesh(p, u, s))
            for u in (unit // 8, unit // 2, 2 * unit)
        }
        curves.append(_curves(f"CM-5, mesh of {points} points", found))
        own = _times(
            lab.with_few(), MACHINE, ON_CM5, lambda s, p=points, u=unit: halos.euler(p, s, unit_bytes=u)
        )
        claims.append(
            Claim(f"the same on a mesh of our own: {claims[-1].text}", _lowest(own) == "rs_nh", _text(own))
        )
    sizes = (2800,) if quick else (2800, 9428, 53961)
    return Reproduction(
        "000-fig14",
        "airfoil meshes on a 32-node CM-5",
        _mesh_parts(lab.with_few(), sizes),
        claims,
        curves=curves,
    )


def _mesh_parts(lab: Lab, sizes: Sequence[int]) -> list[Part]:
    """Meshes of our own beside the numbers that 004 s.5 prints of the same halos."""

    def mean_of(points: int, figure: Callable[[CommMatrix], float]) -> float:
        return mean(figure(halos.euler(points, seed, unit_bytes=1)) for seed in range(lab.seeds))

    def part(title: str, unit: str, key: str, figure: Callable[[CommMatrix], float]) -> Part:
        found = [
            Cell(
                (("points", p),),
                "a mesh of our own",
                mesh_numbers(p)[key],
                mean_of(p, figure),
            )
            for p in sizes
        ]
        return Part(title, unit, found)

    ranks = patterns.RANKS
    return [
        part("messages of a part, mean", "messages", "messages_avg", lambda m: m.num_messages / ranks),
        part("length of a message, mean", "units", "length_avg", lambda m: float(m.entries()[2].mean())),
    ]


def _splitting_leads(times: dict[str, float]) -> bool:
    return min(times["rs_nh"], times["rs_nlh"]) < LEVEL * min(times.values())


def figure15(lab: Lab, quick: bool) -> Reproduction:
    """The largest mesh on a 64-node iPSC/860."""
    claims, found = [], {}
    for unit in (64,) if quick else (16, 64, 256):
        times = _times(lab, CUBE, ON_CUBE, lambda s, u=unit: like_mesh(53961, u, s, 64))
        found[unit] = times
        claims.append(
            Claim(
                f"unit {unit} bytes: a schedule with split messages (RS_NH or RS_NLH) is the fastest",
                _splitting_leads(times),
                _text(times),
                MESH,
            )
        )
    if not quick:
        own = _times(lab.with_few(), CUBE, ON_CUBE, lambda s: halos.euler(53961, s, 64, 64))
        claims.append(
            Claim(
                f"the same on a mesh of our own: {claims[1].text}",
                _splitting_leads(own),
                _text(own),
            )
        )
    curves = [_curves("iPSC/860, mesh of 53961 points", found)]
    title = "airfoil mesh of 53961 points on a 64-node iPSC/860"
    return Reproduction("000-fig15", title, claims=claims, curves=curves)


def _region(
    lab: Lab,
    machine: str,
    algorithms: Sequence[str],
    make: Callable[[int], CommMatrix],
    where: str,
    expected: tuple[str, ...],
) -> Claim:
    times = _times(lab, machine, algorithms, make)
    return Claim(f"{where}: {' or '.join(expected)} is the fastest", _lowest(times) in expected, _text(times))


def figure16(lab: Lab, quick: bool) -> Reproduction:
    """Regions on the CM-5."""
    ranks = patterns.RANKS
    claims = [
        _region(lab, MACHINE, ON_CM5[:3], lambda s, d=d, b=b: patterns.uniform(d, b, s, ranks), where, best)
        for d, b, where, best in (
            (4, 4096, "few large messages (d = 4, 4 KiB)", ("rs_n",)),
            (16, 4096, "d = 16, 4 KiB", ("rs_n",)),
            (31, 256, "all to all (d = 31, 256 bytes)", ("lp",)),
            (31, 4096, "all to all (d = 31, 4 KiB)", ("lp",)),
        )
    ]
    return Reproduction("000-fig16", "where each algorithm is the fastest on a 32-node CM-5", claims=claims)


def figure17(lab: Lab, quick: bool) -> Reproduction:
    """Regions on the iPSC/860."""
    avoiding = ("rs_nl", "rs_nlh")
    claims = [
        _region(lab, CUBE, ON_CUBE[:4], lambda s, d=d, b=b: patterns.uniform(d, b, s, 64), where, best)
        for d, b, where, best in (
            (2, 16, "few small messages (d = 2, 16 bytes)", ("ac",)),
            (4, 16384, "few large messages (d = 4, 16 KiB)", avoiding),
            (63, 16384, "all to all (d = 63, 16 KiB)", ("lp",)),
        )
    ]
    return Reproduction(
        "000-fig17", "where each algorithm is the fastest on a 64-node iPSC/860", claims=claims
    )


def section7(lab: Lab, quick: bool) -> Reproduction:
    """The orders of scheduling cost S and of communication cost C, "in general"."""
    lab = lab.with_few(draws=10)
    tests: list[tuple[str, str, Callable[[int], CommMatrix]]] = [
        ("CM-5, d = 16, 1 to 32 units of 512 bytes", MACHINE, lambda s: patterns.non_uniform(16, 512, s)),
        (
            "CM-5, mesh of 9428 points, unit 256 bytes",
            MACHINE,
            lambda s: like_mesh(9428, 256, s),
        ),
        (
            "iPSC/860, d = 16, 1 to 32 units of 512 bytes",
            CUBE,
            lambda s: patterns.non_uniform(16, 512, s, 64),
        ),
        (
            "iPSC/860, mesh of 53961 points, unit 256 bytes",
            CUBE,
            lambda s: like_mesh(53961, 256, s, 64),
        ),
    ]
    claims = []
    for where, machine, make in tests[:: 2 if quick else 1]:
        names = ("ac", "lp", "rs_n", "rs_nh") if machine == MACHINE else ("ac", "rs_n", "rs_nl", "rs_nlh")
        plans = {a: mean(lab.planning_ms(machine, a, make(s)) for s in range(lab.seeds)) for a in names}
        costs = _times(lab, machine, names, make)
        claims += _steps(f"{where}: S", names, plans) + _steps(f"{where}: C", names[::-1], costs)
    notes = ["iPSC/860 without LP, which alone exchanges in pairs there and so stands apart (figs 13 and 17)"]
    return Reproduction(
        "000-s7", "orders of scheduling cost and communication cost", claims=claims, notes=notes
    )


def _steps(what: str, names: Sequence[str], costs: dict[str, float]) -> list[Claim]:
    """Each next to the one that the text has after it; level within 3 %."""
    return [
        Claim(
            f"{what}({a}) <= {what[-1]}({b})",
            costs[a] <= LEVEL * costs[b],
            _text(costs),
            "said of the general case",
        )
        for a, b in pairwise(names)
    ]

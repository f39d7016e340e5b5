# SPDX-License-Identifier: BSD-3-Clause
"""000, figures 2, 3 and 12 to 17: NICE on a 32-node CM-5 and a 64-node iPSC/860. The paper prints no
numbers, so claims are tested.

The claims are the text's statements about the figures. Figures 16 and 17 show where each algorithm is the
fastest. Their axes are not in the text, so only the statements of s.6, s.7 and 003 about the regions are
compared with the simulation. Figure 2 is figure 1 of 003.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import mean, stdev

from nuice._core import CommMatrix

from nuice import halos
from nuice.pattern_figures import like_mesh, mesh_numbers

from . import patterns
from .paper003 import MACHINE
from .report import LEVEL, Cell, Curves, Part, Reproduction, least, ranked, reproduces
from .runs import Lab

CUBE = "ipsc860-64"
ON_CM5 = ("ac", "lp", "rs_n", "rs_nh")
ON_CUBE = ("ac", "lp", "rs_n", "rs_nl", "rs_nh", "rs_nlh")


def _text(times: dict[str, float]) -> str:
    return ranked(times, ".3g")


def _curves(title: str, found: dict[int, dict[str, float]]) -> Curves:
    """Returns the curves by the unit's size."""
    names = next(iter(found.values()))
    lines = {name: [(float(unit), times[name]) for unit, times in found.items()] for name in names}
    return Curves(title, "unit, bytes", "ms", lines)


@reproduces("000-fig3", "permutations of 1 KiB on a 32-node iPSC/860")
def figure3(found: Reproduction, lab: Lab, quick: bool) -> None:
    """Circuits block each other on the hypercube."""
    samples = 100 if quick else 1000
    times = [lab.run(CUBE, "rs_n", patterns.permutation(1024, seed), seed) for seed in range(samples)]
    free = lab.run(CUBE, "lp", patterns.to_one(1, 1024), 0)
    found.claim(
        "a random permutation still performs reasonably: on average under five messages' time",
        mean(times) < 5 * free,
        f"mean {mean(times):.3f}, most {max(times):.3f} ms; one message {free:.3f} ms; "
        f"standard deviation {100 * stdev(times) / mean(times):.0f} % of the mean",
    )


@reproduces("000-fig12", "messages of 1 to 32 units on a 32-node CM-5")
def figure12(found: Reproduction, lab: Lab, quick: bool) -> None:
    for degree in (4, 16):
        by_unit = {
            unit: lab.times(MACHINE, ON_CM5, lambda s, d=degree, u=unit: patterns.non_uniform(d, u, s))
            for unit in ((1024,) if quick else (16, 128, 1024))
        }
        found.curves.append(_curves(f"CM-5, d = {degree}, 1 to 32 units", by_unit))
        for unit, times in by_unit.items():
            text = f"d = {degree}, unit {unit} bytes: splitting large messages (RS_NH) is the fastest"
            if unit >= 100:
                found.claim(text, least(times) == "rs_nh", _text(times))


OUR_LEVEL = (
    "RS_NLH keeps every link and port to one transfer and cuts long messages by a level of our own, as the "
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


@reproduces("000-fig13", "messages of 1 to 32 units, d = 32, on a 64-node iPSC/860")
def figure13(found: Reproduction, lab: Lab, quick: bool) -> None:
    """Pairs exchange both ways at once."""
    by_unit = {}
    for unit in (256,) if quick else (64, 256, 1024):
        times = lab.times(CUBE, ON_CUBE, lambda s, u=unit: patterns.non_uniform(32, u, s, 64))
        by_unit[unit], lp = times, times["lp"]
        others = [time for name, time in times.items() if name not in ("lp", "rs_nlh")]
        where = f"d = 32, unit {unit} bytes: LP is faster than"
        found.claim(f"{where} AC, RS_N, RS_NL and RS_NH", lp < LEVEL * min(others), _text(times))
        found.claim(f"{where} RS_NLH", lp < LEVEL * times["rs_nlh"], _text(times), OUR_LEVEL)
    found.notes = [PAIRS]
    found.curves = [_curves("iPSC/860, d = 32, 1 to 32 units", by_unit)]


@reproduces("000-fig14", "airfoil meshes on a 32-node CM-5")
def figure14(found: Reproduction, lab: Lab, quick: bool) -> None:
    few = lab.with_few()
    for points, unit in ((2800, 512),) if quick else ((2800, 512), (9428, 256), (53961, 128)):
        times = lab.times(MACHINE, ON_CM5, lambda s, p=points, u=unit: like_mesh(p, u, s))
        text = f"{points} points, unit {unit} bytes: RS_NH is the fastest"
        found.claim(text, least(times) == "rs_nh", _text(times))
        by_unit = {
            u: few.times(MACHINE, ON_CM5, lambda s, p=points, u=u: like_mesh(p, u, s))
            for u in (unit // 8, unit // 2, 2 * unit)
        }
        found.curves.append(_curves(f"CM-5, mesh of {points} points", by_unit))
        own = few.times(MACHINE, ON_CM5, lambda s, p=points, u=unit: halos.euler(p, s, unit_bytes=u))
        found.claim(f"the same on a mesh of our own: {text}", least(own) == "rs_nh", _text(own))
    found.parts = _mesh_parts(few, (2800,) if quick else (2800, 9428, 53961))


def _mesh_parts(lab: Lab, sizes: Sequence[int]) -> list[Part]:
    """Compares NUICE's meshes with the numbers that 004 s.5 prints for the papers' halos."""

    def part(title: str, unit: str, key: str, figure: Callable[[CommMatrix], float]) -> Part:
        cells = []
        for points in sizes:
            ours = mean(figure(halos.euler(points, seed, unit_bytes=1)) for seed in range(lab.seeds))
            printed = mesh_numbers(points)[key]
            cells.append(Cell((("points", points),), "a mesh of our own", printed, ours))
        return Part(title, unit, cells)

    ranks = patterns.RANKS
    return [
        part("messages of a part, mean", "messages", "messages_avg", lambda m: m.num_messages / ranks),
        part("length of a message, mean", "units", "length_avg", lambda m: float(m.entries()[2].mean())),
    ]


def _splitting_leads(times: dict[str, float]) -> bool:
    return min(times["rs_nh"], times["rs_nlh"]) < LEVEL * min(times.values())


@reproduces("000-fig15", "airfoil mesh of 53961 points on a 64-node iPSC/860")
def figure15(found: Reproduction, lab: Lab, quick: bool) -> None:
    by_unit = {}
    for unit in (64,) if quick else (16, 64, 256):
        times = lab.times(CUBE, ON_CUBE, lambda s, u=unit: like_mesh(53961, u, s, 64))
        by_unit[unit] = times
        text = f"unit {unit} bytes: a schedule with split messages (RS_NH or RS_NLH) is the fastest"
        found.claim(text, _splitting_leads(times), _text(times), MESH)
    if not quick:
        own = lab.with_few().times(CUBE, ON_CUBE, lambda s: halos.euler(53961, s, 64, 64))
        text = f"the same on a mesh of our own: {found.claims[1].text}"
        found.claim(text, _splitting_leads(own), _text(own))
    found.curves = [_curves("iPSC/860, mesh of 53961 points", by_unit)]


@reproduces("000-fig16", "where each algorithm is the fastest on a 32-node CM-5")
def figure16(found: Reproduction, lab: Lab, quick: bool) -> None:
    for degree, size, where, expected in (
        (4, 4096, "few large messages (d = 4, 4 KiB)", ("rs_n",)),
        (16, 4096, "d = 16, 4 KiB", ("rs_n",)),
        (31, 256, "all to all (d = 31, 256 bytes)", ("lp",)),
        (31, 4096, "all to all (d = 31, 4 KiB)", ("lp",)),
    ):
        times = lab.times(MACHINE, ON_CM5[:3], lambda s, d=degree, b=size: patterns.uniform(d, b, s))
        _claim_fastest(found, where, expected, times)


@reproduces("000-fig17", "where each algorithm is the fastest on a 64-node iPSC/860")
def figure17(found: Reproduction, lab: Lab, quick: bool) -> None:
    for degree, size, where, expected in (
        (2, 16, "few small messages (d = 2, 16 bytes)", ("ac",)),
        (4, 16384, "few large messages (d = 4, 16 KiB)", ("rs_nl", "rs_nlh")),
        (63, 16384, "all to all (d = 63, 16 KiB)", ("lp",)),
    ):
        times = lab.times(CUBE, ON_CUBE[:4], lambda s, d=degree, b=size: patterns.uniform(d, b, s, 64))
        _claim_fastest(found, where, expected, times)


def _claim_fastest(
    found: Reproduction, where: str, expected: tuple[str, ...], times: dict[str, float]
) -> None:
    text = f"{where}: {' or '.join(expected)} is the fastest"
    found.claim(text, least(times) in expected, _text(times))


@reproduces("000-s7", "orders of scheduling cost and communication cost")
def section7(found: Reproduction, lab: Lab, quick: bool) -> None:
    """The orders of scheduling cost S and of communication cost C, "in general"."""
    lab = lab.with_few(draws=10)
    on_cm5, on_cube = ("ac", "lp", "rs_n", "rs_nh"), ("ac", "rs_n", "rs_nl", "rs_nlh")
    units, mesh = "d = 16, 1 to 32 units of 512 bytes", "mesh of {} points, unit 256 bytes"
    cases: list[tuple[str, str, Sequence[str], Callable[[int], CommMatrix]]] = [
        (f"CM-5, {units}", MACHINE, on_cm5, lambda s: patterns.non_uniform(16, 512, s)),
        (f"CM-5, {mesh.format(9428)}", MACHINE, on_cm5, lambda s: like_mesh(9428, 256, s)),
        (f"iPSC/860, {units}", CUBE, on_cube, lambda s: patterns.non_uniform(16, 512, s, 64)),
        (f"iPSC/860, {mesh.format(53961)}", CUBE, on_cube, lambda s: like_mesh(53961, 256, s, 64)),
    ]
    for where, machine, names, make in cases[:: 2 if quick else 1]:
        plans = {a: mean(lab.planning_ms(machine, a, make(s)) for s in range(lab.seeds)) for a in names}
        _claim_steps(found, f"{where}: S", names, plans)
        _claim_steps(found, f"{where}: C", names[::-1], lab.times(machine, names, make))
    found.notes = [
        "iPSC/860 without LP, which alone exchanges in pairs there and so stands apart (figs 13 and 17)"
    ]


def _claim_steps(found: Reproduction, what: str, names: Sequence[str], costs: dict[str, float]) -> None:
    """Compares each cost with the one that follows it in the text; costs within 3 % count as level."""
    for a, b in pairwise(names):
        text = f"{what}({a}) <= {what[-1]}({b})"
        found.claim(text, costs[a] <= LEVEL * costs[b], _text(costs), "said of the general case")

# SPDX-License-Identifier: BSD-3-Clause
"""001, tables 5, 11 and 12 and figures 5 to 8: complete exchange and irregular patterns.

The machine is the CM-5 of 1992, whose software could only send synchronously. Figures have no numbers:
claims come from the text.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from statistics import mean

from nuice._core import CommMatrix

from nuice import halos

from . import patterns
from .report import Curves, Part, Reproduction, least, listed, most, reproduces
from .runs import Lab
from .tables import Row, cells, ours_by_row, printed

MACHINE = "cm5-sync"
GATHERED = "cm5-sync/gathered"  # messages that are gathered and scattered by index
ALGORITHMS = ("ls", "ps", "bs", "gs")
EXCHANGES = ("lex", "pex", "rex", "bex")
ELEMENT = 8  # bytes of a complex number in single precision; the paper does not say


def _complete(lab: Lab, ranks: int, num_bytes: int, algorithms: Iterable[str]) -> dict[str, float]:
    """Returns the milliseconds of a complete exchange by algorithm."""
    matrix = patterns.complete(max(1, num_bytes), ranks)
    return {name: lab.run(MACHINE, name, matrix, 0) for name in algorithms}


FFT_NOTE = (
    "one computing time for each array and machine, from the column BEX; exchanges are simulated with 8 "
    "bytes an element (which the paper does not say)"
)
REX_ON_256 = (
    "REX moves n / 2 messages in each of log2 n steps, four times the bytes of PEX on 256 nodes, and half of "
    "these steps cross the thinned part of the tree all at once. Table 5 of the same paper agrees with ours: "
    "on 256 nodes it has REX no faster than PEX and BEX (0.313, 0.314, 0.312 s for 1024 x 1024; 2.160, "
    "1.738, 1.668)"
)
SMALL_BEX = (
    "the bytes of such a message take 32 of 160 us, and half of the ranks send while the others take in: the "
    "root is not busy often enough for its contention to show. Table 11 prints BS and PS within 0.3 % at 75 %"
)
SIZES = (1, 256, 512, 1024, 2048)


@reproduces("001-fig5", "complete exchange on 32 nodes by size of the messages")
def figure5(found: Reproduction, lab: Lab, quick: bool) -> None:
    sizes = SIZES[1::3] if quick else SIZES
    times = {size: _complete(lab, 32, size, EXCHANGES) for size in sizes}
    small, large = times[256], times[2048]
    seen, few = listed(large), [small[name] for name in EXCHANGES[1:]]
    much_slower = large["lex"] > 3 * max(large[a] for a in ("pex", "bex"))
    found.claim("LEX is much slower than the others", much_slower, seen)
    found.claim("LEX is the slowest", most(large) == "lex", seen)
    found.claim(
        "small messages: PEX, REX and BEX can hardly be told apart on the scale of LEX",
        max(few) - min(few) < 0.1 * large["lex"],
        listed(small),
    )
    found.claim("2048 bytes: PEX is much faster than REX", 1.2 * large["pex"] < large["rex"], seen)
    found.claim("2048 bytes: BEX is faster than PEX", large["bex"] < 0.99 * large["pex"], seen)
    found.curves = [_curves("complete exchange, 32 nodes", "bytes", times)]


def _curves(title: str, x: str, times: dict[int, dict[str, float]]) -> Curves:
    names = next(iter(times.values()))
    lines = {a: [(float(at), found[a]) for at, found in times.items()] for a in names}
    return Curves(title, x, "ms", lines)


def _by_machine(lab: Lab, quick: bool, num_bytes: int) -> dict[int, dict[str, float]]:
    sizes = (32, 64) if quick else (32, 64, 128, 256)
    return {n: _complete(lab, n, num_bytes, EXCHANGES[1:]) for n in sizes}


@reproduces("001-fig6", "complete exchange of 0 and 256 bytes by size of the machine")
def figure6(found: Reproduction, lab: Lab, quick: bool) -> None:
    empty, small = (_by_machine(lab, quick, num_bytes) for num_bytes in (1, 256))
    for n, times in empty.items():
        seen = listed(times) + " (1 byte)"
        found.claim(f"empty messages, {n} nodes: REX is the fastest", least(times) == "rex", seen)
    few, seen = small[32], listed(small[32])
    found.claim("256 bytes, 32 nodes: PEX before REX", few["pex"] < few["rex"], seen)
    faster = few["bex"] < 0.999 * few["pex"]
    found.claim("256 bytes, 32 nodes: BEX is faster than PEX", faster, seen, SMALL_BEX)
    if not quick:
        many, text = small[256], "256 bytes, 256 nodes: REX before PEX"
        found.claim(text, many["rex"] < many["pex"], listed(many), REX_ON_256)
    for num_bytes, times in ((0, empty), (256, small)):
        found.curves.append(_curves(f"complete exchange, {num_bytes} bytes", "nodes", times))


@reproduces("001-fig7", "complete exchange of 512 bytes by size of the machine")
def figure7(found: Reproduction, lab: Lab, quick: bool) -> None:
    _large_messages(found, lab, quick, 512)


@reproduces("001-fig8", "complete exchange of 1920 bytes by size of the machine")
def figure8(found: Reproduction, lab: Lab, quick: bool) -> None:
    _large_messages(found, lab, quick, 1920)


def _large_messages(found: Reproduction, lab: Lab, quick: bool, num_bytes: int) -> None:
    times = _by_machine(lab, quick, num_bytes)
    for n in (32, 64):
        found.claim(f"{n} nodes: BEX and PEX before REX", most(times[n]) == "rex", listed(times[n]))
    if num_bytes > 1000:
        few = times[32]
        found.claim("32 nodes: BEX is faster than PEX", few["bex"] < 0.99 * few["pex"], listed(few))
    if not quick:
        many = times[256]
        found.claim("256 nodes: REX is the fastest", least(many) == "rex", listed(many), REX_ON_256)
    found.curves = [_curves(f"complete exchange, {num_bytes} bytes", "nodes", times)]


@reproduces("001-table5", "2-D FFT with four complete exchanges on a CM-5")
def table5(found: Reproduction, lab: Lab, quick: bool) -> None:
    """The computation is the same with every exchange."""
    rows = printed("001_table5", quick, "ranks", (32,))

    def size(row: Row) -> int:
        return (row["side"] // row["ranks"]) ** 2 * ELEMENT

    def exchange_s(row: Row, algorithm: str) -> float:
        return 1e-3 * _complete(lab, row["ranks"], size(row), [algorithm])[algorithm]

    computing = {(row["ranks"], row["side"]): max(0.0, row["bex"] - exchange_s(row, "bex")) for row in rows}
    of_fft = cells(
        rows,
        ("ranks", "side"),
        EXCHANGES,
        lambda row, a: computing[row["ranks"], row["side"]] + exchange_s(row, a),
        largest=size,
        fitted=lambda row, column: column == "bex",
    )
    times = ours_by_row(of_fft)
    for ((_, ranks), (_, side)), time in times.items():
        slowest = time["lex"] > 1.1 * max(time[a] for a in EXCHANGES[1:])
        text = f"{ranks} nodes, {side} x {side}: LEX is by far the slowest"
        found.claim(text, slowest, listed(time, unit="s"))
    largest = times[("ranks", 32), ("side", 2048)]
    ascending = all(largest[a] < largest[b] for a, b in pairwise(("bex", "pex", "rex")))
    found.claim("32 nodes, 2048 x 2048: BEX before PEX before REX", ascending, listed(largest, unit="s"))
    found.parts, found.notes = [Part("time of the FFT", "s", of_fft)], [FFT_NOTE]


CLOSE = "printed are BS and PS within 0.3 % of each other; NUICE's are means over ten patterns of our own"


@reproduces("001-table11", "random patterns on a 32-node CM-5, synchronous sends")
def table11(found: Reproduction, lab: Lab, quick: bool) -> None:
    """With the claims of 001 s.4.5."""

    def ours(row: Row, algorithm: str) -> float:
        percent, size = row["density"], row["bytes"]
        return lab.mean_ms(MACHINE, algorithm, lambda seed: patterns.density(percent, size, seed))

    rows = printed("001_table11", quick, "bytes", (256,))
    costs = cells(
        rows, ("density", "bytes"), ALGORITHMS, ours, fitted=lambda row, column: column in ("ls", "ps")
    )
    for ((_, density), (_, num_bytes)), times in ours_by_row(costs).items():
        where, seen = f"density {density} %, {num_bytes} bytes", listed(times)
        found.claim(f"{where}: LS is the slowest", most(times) == "ls", seen)
        if density < 50:
            found.claim(f"{where}: GS is the fastest", least(times) == "gs", seen)
        if density > 50:
            better = max(times["ps"], times["bs"]) < times["gs"]
            found.claim(f"{where}: GS is slower than PS and BS", better, seen)
            found.claim(f"{where}: BS is the fastest", least(times) == "bs", seen, CLOSE)
        near = abs(times["ps"] / times["bs"] - 1) < 0.12
        found.claim(f"{where}: PS and BS are comparable (within 12 %, as printed)", near, seen)
    found.parts = [Part("cost of the exchange", "ms", costs)]


MESH_POINTS = {"Euler 545": 545, "Euler 2K": 2800, "Euler 3K": 3600, "Euler 9K": 9428}


def real_pattern(problem: str, seed: int) -> CommMatrix:
    """Returns a pattern that stands for the problem of that name in 001 table 12."""
    points = MESH_POINTS.get(problem)
    return halos.euler(points, seed) if points else halos.conjugate_gradients(seed)


@reproduces("001-table12", "patterns of a conjugate gradient and an Euler solver on a 32-node CM-5")
def table12(found: Reproduction, lab: Lab, quick: bool) -> None:
    """Real problems. Their patterns are not printed, so NUICE's are halos of its own meshes."""
    rows = printed("001_table12", quick, "problem", ("conjugate gradient 16K", "Euler 545", "Euler 2K"))
    lab, keys = lab.with_few(), ("problem",)

    def time_ms(row: Row, algorithm: str) -> float:
        return lab.mean_ms(GATHERED, algorithm, lambda seed: real_pattern(row["problem"], seed))

    def number(row: Row, column: str) -> float:
        pairs = patterns.RANKS * (patterns.RANKS - 1)
        sizes = [real_pattern(row["problem"], seed).entries()[2] for seed in range(lab.seeds)]
        if column == "density":
            return mean(100 * len(of_seed) / pairs for of_seed in sizes)
        return mean(float(of_seed.mean()) for of_seed in sizes)

    costs = cells(rows, keys, ALGORITHMS, time_ms, fitted=lambda row, column: column == "gs")
    for row, times in zip(rows, ours_by_row(costs).values(), strict=True):
        seen = listed(times) + f" (printed: {listed({a: row[a] for a in ALGORITHMS})})"
        as_printed = least(times) == "gs" and most(times) == "ls"
        found.claim(f"{row['problem']}: GS is the fastest, LS the slowest", as_printed, seen)
    found.parts = [
        Part("cost of the exchange, values picked up and put down one by one", "ms", costs),
        Part("part of all pairs that exchange", "%", cells(rows, keys, ("density",), number)),
        Part("mean size of a message", "bytes", cells(rows, keys, ("bytes",), number)),
    ]
    found.notes = [
        "the paper's patterns are not printed; NUICE's are halos of meshes made for this (nuice.halos)",
        "one number is fitted, to the column GS: what a byte costs that is gathered and scattered by index",
    ]

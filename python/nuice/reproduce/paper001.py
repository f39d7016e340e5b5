# SPDX-License-Identifier: BSD-3-Clause
"""001, tables 5, 11 and 12 and figures 5 to 8, 10 and 11: complete exchange, irregular patterns and
broadcast.

The CM-5 of 1992, whose software could only send synchronously. Figures print no numbers: claims from the
text.
"""

from __future__ import annotations

from itertools import pairwise
from statistics import mean

from .._core import CommMatrix, Piece, Schedule, Transfer
from . import meshes, patterns
from .report import Claim, Part, Reproduction
from .runs import Lab
from .tables import Row, cells, printed

MACHINE = "cm5-sync"
GATHERED = "cm5-sync/gathered"  # messages that are picked up and put down by index
ALGORITHMS = ("ls", "ps", "bs", "gs")
EXCHANGES = ("lex", "pex", "rex", "bex")
ELEMENT = 8  # bytes of a complex number in single precision; the paper does not say


def _complete(lab: Lab, algorithm: str, ranks: int, num_bytes: int) -> float:
    return lab.run(MACHINE, algorithm, patterns.complete(max(1, num_bytes), ranks), 0)


def _text(times: dict[str, float]) -> str:
    return ", ".join(f"{name} {time:.3g}" for name, time in times.items()) + " ms"


def table5(lab: Lab, quick: bool) -> Reproduction:
    """A 2-D FFT. The computation is the same with every exchange, so differences compare: LEX beside BEX."""
    rows = printed("001_table5", quick, "ranks", (32,))
    for row in rows:
        row["lex - bex"] = row["lex"] - row["bex"]

    def ours(row: Row, _: str) -> float:
        size = (row["side"] // row["ranks"]) ** 2 * ELEMENT
        lex, bex = (_complete(lab, name, row["ranks"], size) for name in ("lex", "bex"))
        return 1e-3 * (lex - bex)

    found = cells(
        rows,
        ("ranks", "side"),
        ("lex - bex",),
        ours,
        largest=lambda row: (row["side"] // row["ranks"]) ** 2 * ELEMENT,
    )
    largest = {name: _complete(lab, name, 32, 64 * 64 * ELEMENT) for name in EXCHANGES}
    claims = [
        Claim("LEX is the slowest on all arrays", all(c.ours > 0 for c in found), "see the differences"),
        Claim(
            "32 nodes, 2048 x 2048: BEX and PEX before REX",
            max(largest["bex"], largest["pex"]) < largest["rex"],
            _text(largest),
        ),
    ]
    part = Part("time of the FFT with LEX less the time with BEX", "s", found)
    return Reproduction("001-table5", "2-D FFT with four complete exchanges on a CM-5", [part], claims)


def table11(lab: Lab, quick: bool) -> Reproduction:
    """Random patterns."""
    rows = printed("001_table11", quick, "bytes", (256,))
    found = cells(
        rows,
        ("density", "bytes"),
        ALGORITHMS,
        lambda row, a: lab.mean_ms(
            MACHINE, a, lambda seed: patterns.density(row["density"], row["bytes"], seed)
        ),
    )
    part = Part("cost of the exchange", "ms", found)
    return Reproduction("001-table11", "random patterns on a 32-node CM-5, synchronous sends", [part])


MESH_POINTS = {"Euler 545": 545, "Euler 2K": 2800, "Euler 3K": 3600, "Euler 9K": 9428}


def real_pattern(problem: str, seed: int) -> CommMatrix:
    """What 001 table 12 calls by that name, or rather one of our own."""
    points = MESH_POINTS.get(problem)
    return meshes.euler(points, seed) if points else meshes.conjugate_gradients(seed)


def table12(lab: Lab, quick: bool) -> Reproduction:
    """Real problems. Their patterns are not printed: ours are halos of meshes of our own."""
    rows = printed("001_table12", quick, "problem", ("conjugate gradient 16K", "Euler 545", "Euler 2K"))
    lab = lab.with_few()

    def time_ms(row: Row, algorithm: str) -> float:
        return lab.mean_ms(GATHERED, algorithm, lambda seed: real_pattern(row["problem"], seed))

    def number(row: Row, column: str) -> float:
        pairs = patterns.RANKS * (patterns.RANKS - 1)
        found = [real_pattern(row["problem"], seed).entries()[2] for seed in range(lab.seeds)]
        if column == "density":
            return mean(100 * len(sizes) / pairs for sizes in found)
        return mean(float(sizes.mean()) for sizes in found)

    times = cells(rows, ("problem",), ALGORITHMS, time_ms, fitted=lambda *_: True)
    claims = []
    for row in rows:
        found = {c.column: c.ours for c in times if c.row == (("problem", row["problem"]),)}
        claims.append(
            Claim(
                f"{row['problem']}: GS is the fastest, LS the slowest",
                min(found, key=found.__getitem__) == "gs" and max(found, key=found.__getitem__) == "ls",
                _text(found) + f" (printed: {_text({a: row[a] for a in ALGORITHMS})})",
            )
        )
    return Reproduction(
        "001-table12",
        "patterns of a conjugate gradient and an Euler solver on a 32-node CM-5",
        [
            Part("cost of the exchange, values picked up and put down one by one", "ms", times),
            Part("part of all pairs that exchange", "%", cells(rows, ("problem",), ("density",), number)),
            Part("mean size of a message", "bytes", cells(rows, ("problem",), ("bytes",), number)),
        ],
        claims,
        notes=[
            "the paper's patterns are not printed; ours are halos of meshes made for this (meshes.py)",
            "one number is fitted to the times: what a byte costs that is picked up and put down by index",
        ],
    )


def figure5(lab: Lab, quick: bool) -> Reproduction:
    """Complete exchange on 32 nodes by size."""
    small, large = ({name: _complete(lab, name, 32, size) for name in EXCHANGES} for size in (256, 2048))
    others = [large[name] for name in EXCHANGES[1:]]
    return Reproduction(
        "001-fig5",
        "complete exchange on 32 nodes by size of the messages",
        claims=[
            Claim("LEX is much slower than the others", large["lex"] > 3 * max(others), _text(large)),
            Claim(
                "small messages: PEX, REX and BEX can hardly be told apart on the scale of LEX",
                max(small["pex"], small["rex"], small["bex"]) - min(small["pex"], small["rex"], small["bex"])
                < 0.1 * large["lex"],
                _text(small),
            ),
            Claim("2048 bytes: PEX is much faster than REX", 1.2 * large["pex"] < large["rex"], _text(large)),
            Claim("2048 bytes: BEX is no slower than PEX", large["bex"] <= 1.01 * large["pex"], _text(large)),
        ],
    )


_AGAINST_TABLE5 = (
    "table 5 of the same paper has REX no faster than PEX and BEX on 256 nodes: 0.313, 0.314 and 0.312 s for "
    "1024 x 1024; 2.160, 1.738 and 1.668 s for 2048 x 2048"
)


def _by_machine(lab: Lab, num_bytes: int, sizes: tuple[int, ...]) -> dict[int, dict[str, float]]:
    return {n: {a: _complete(lab, a, n, num_bytes) for a in ("pex", "rex", "bex")} for n in sizes}


def figure6(lab: Lab, quick: bool) -> Reproduction:
    """0 and 256 bytes on 32 to 256 nodes."""
    sizes = (32, 64) if quick else (32, 64, 128, 256)
    empty, small = (_by_machine(lab, num_bytes, sizes) for num_bytes in (1, 256))
    claims = [
        Claim(
            f"empty messages, {n} nodes: REX is the fastest",
            times["rex"] < min(times["pex"], times["bex"]),
            _text(times) + " (1 byte)",
        )
        for n, times in empty.items()
    ]
    few, many = small[sizes[0]], small[sizes[-1]]
    claims.append(Claim(f"256 bytes, {sizes[0]} nodes: PEX before REX", few["pex"] < few["rex"], _text(few)))
    if not quick:
        claims.append(Claim("256 bytes, 256 nodes: REX before PEX", many["rex"] < many["pex"], _text(many)))
    return Reproduction(
        "001-fig6", "complete exchange of 0 and 256 bytes by size of the machine", claims=claims
    )


def figure7(lab: Lab, quick: bool) -> Reproduction:
    return _large_messages(lab, quick, "001-fig7", 512)


def figure8(lab: Lab, quick: bool) -> Reproduction:
    return _large_messages(lab, quick, "001-fig8", 1920)


def _large_messages(lab: Lab, quick: bool, name: str, num_bytes: int) -> Reproduction:
    sizes = (32,) if quick else (32, 256)
    found = _by_machine(lab, num_bytes, sizes)
    few = found[32]
    claims = [Claim("32 nodes: BEX and PEX before REX", max(few["pex"], few["bex"]) < few["rex"], _text(few))]
    if not quick:
        many = found[256]
        claims.append(
            Claim("256 nodes: REX is the fastest", many["rex"] < min(many["pex"], many["bex"]), _text(many))
        )
    title = f"complete exchange of {num_bytes} bytes by size of the machine"
    return Reproduction(name, title, claims=claims, notes=[] if quick else [_AGAINST_TABLE5])


def broadcast_steps(algorithm: str, ranks: int) -> list[list[tuple[int, int]]]:
    """Who sends to whom in each step, rank 0 first: LIB one after the other, REB by halves (001 fig. 9)."""
    if algorithm == "lib":
        return [[(0, dst)] for dst in range(1, ranks)]
    steps = []
    distance = ranks // 2
    while distance:
        steps.append([(src, src + distance) for src in range(0, ranks, 2 * distance)])
        distance //= 2
    return steps


def _broadcast(lab: Lab, algorithm: str, ranks: int, num_bytes: int) -> float:
    """Every copy is a message of its own; a rank sends in a later phase than it received in, as REB needs."""
    steps = broadcast_steps(algorithm, ranks)
    pairs = [pair for step in steps for pair in step]
    matrix = patterns.from_pairs(ranks, pairs, num_bytes)
    phases = [
        [Transfer(s, d, [Piece(matrix.find(s, d) or 0, 0, num_bytes)]) for s, d in step] for step in steps
    ]
    return lab.run_schedule(MACHINE, "pex", matrix, Schedule.from_phases(ranks, phases))


def figure10(lab: Lab, quick: bool) -> Reproduction:
    """LIB and REB on 32 nodes. The system's broadcast uses the control network, which is not modelled."""
    times = {size: {a: _broadcast(lab, a, 32, size) for a in ("lib", "reb")} for size in (16, 1024, 8192)}
    return Reproduction(
        "001-fig10",
        "broadcast on 32 nodes",
        claims=[
            Claim(f"{size} bytes: LIB is much slower than REB", found["lib"] > 3 * found["reb"], _text(found))
            for size, found in times.items()
        ],
        notes=["the system's broadcast is not simulated: it uses the control network"],
    )


def figure11(lab: Lab, quick: bool) -> Reproduction:
    """REB by size of the machine: one more step per doubling."""
    sizes = (32, 64, 128, 256)
    times = [_broadcast(lab, "reb", n, 2048) for n in sizes]
    steps = [b - a for a, b in pairwise(times)]
    return Reproduction(
        "001-fig11",
        "recursive broadcast by size of the machine",
        claims=[
            Claim(
                "every doubling of the machine adds the same time",
                max(steps) < 1.25 * min(steps),
                ", ".join(f"{n}: {t:.3g}" for n, t in zip(sizes, times, strict=True)) + " ms (2048 bytes)",
            )
        ],
        notes=["the system's broadcast is not simulated: it uses the control network"],
    )

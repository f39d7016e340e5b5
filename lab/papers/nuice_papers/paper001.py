# SPDX-License-Identifier: BSD-3-Clause
"""001, tables 5, 11 and 12 and figures 5 to 8: complete exchange and irregular patterns.

The CM-5 of 1992, whose software could only send synchronously. Figures come without numbers: claims from the
text.
"""

from __future__ import annotations

from itertools import pairwise
from statistics import mean

from nuice._core import CommMatrix

from nuice import halos

from . import patterns
from .report import Claim, Curves, Part, Reproduction
from .runs import Lab
from .tables import Row, cells, printed

MACHINE = "cm5-sync"
GATHERED = "cm5-sync/gathered"  # messages that are picked up and put down by index
ALGORITHMS = ("ls", "ps", "bs", "gs")
EXCHANGES = ("lex", "pex", "rex", "bex")
ELEMENT = 8  # bytes of a complex number in single precision; the paper does not say


def _complete(lab: Lab, algorithm: str, ranks: int, num_bytes: int) -> float:
    return lab.run(MACHINE, algorithm, patterns.complete(max(1, num_bytes), ranks), 0)


def _text(times: dict[str, float], unit: str = "ms") -> str:
    return ", ".join(f"{name} {time:.4g}" for name, time in times.items()) + f" {unit}"


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


def table5(lab: Lab, quick: bool) -> Reproduction:
    """A 2-D FFT: the computation is the same with every exchange."""
    rows = printed("001_table5", quick, "ranks", (32,))

    def size(row: Row) -> int:
        return (row["side"] // row["ranks"]) ** 2 * ELEMENT

    def exchange_s(row: Row, algorithm: str) -> float:
        return 1e-3 * _complete(lab, algorithm, row["ranks"], size(row))

    computing = {(row["ranks"], row["side"]): max(0.0, row["bex"] - exchange_s(row, "bex")) for row in rows}
    found = cells(
        rows,
        ("ranks", "side"),
        EXCHANGES,
        lambda row, a: computing[row["ranks"], row["side"]] + exchange_s(row, a),
        largest=size,
        fitted=lambda row, column: column == "bex",
    )
    times = {
        row: {c.column: c.ours for c in found if c.row == row} for row in dict.fromkeys(c.row for c in found)
    }
    claims = [
        Claim(
            f"{key[0][1]} nodes, {key[1][1]} x {key[1][1]}: LEX is by far the slowest",
            time["lex"] > 1.1 * max(time[a] for a in EXCHANGES[1:]),
            _text(time, "s"),
        )
        for key, time in times.items()
    ]
    largest = times[("ranks", 32), ("side", 2048)]
    claims.append(
        Claim(
            "32 nodes, 2048 x 2048: BEX before PEX before REX",
            _ascending(largest, ("bex", "pex", "rex")),
            _text(largest, "s"),
        )
    )
    part = Part("time of the FFT", "s", found)
    return Reproduction(
        "001-table5", "2-D FFT with four complete exchanges on a CM-5", [part], claims, [FFT_NOTE]
    )


def _ascending(times: dict[str, float], names: tuple[str, ...]) -> bool:
    return all(times[a] < times[b] for a, b in pairwise(names))


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
        fitted=lambda row, column: column in ("ls", "ps"),
    )
    part = Part("cost of the exchange", "ms", found)
    times = {
        row: {c.column: c.ours for c in found if c.row == row} for row in dict.fromkeys(c.row for c in found)
    }
    claims = [claim for row, time in times.items() for claim in _claims_of_table11(dict(row), time)]
    return Reproduction("001-table11", "random patterns on a 32-node CM-5, synchronous sends", [part], claims)


CLOSE = "printed are BS and PS within 0.3 % of each other; ours are means over ten patterns of our own"


def _claims_of_table11(row: dict[str, int], times: dict[str, float]) -> list[Claim]:
    """001 s.4.5."""
    where, seen = f"density {row['density']} %, {row['bytes']} bytes", _text(times)
    claims = [Claim(f"{where}: LS is the slowest", max(times, key=times.__getitem__) == "ls", seen)]
    if row["density"] < 50:
        claims.append(Claim(f"{where}: GS is the fastest", min(times, key=times.__getitem__) == "gs", seen))
    if row["density"] > 50:
        better = max(times["ps"], times["bs"]) < times["gs"]
        claims.append(Claim(f"{where}: GS is slower than PS and BS", better, seen))
        claims.append(
            Claim(f"{where}: BS is the fastest", min(times, key=times.__getitem__) == "bs", seen, CLOSE)
        )
    near = abs(times["ps"] / times["bs"] - 1) < 0.12
    claims.append(Claim(f"{where}: PS and BS are comparable (within 12 %, as printed)", near, seen))
    return claims


MESH_POINTS = {"Euler 545": 545, "Euler 2K": 2800, "Euler 3K": 3600, "Euler 9K": 9428}


def real_pattern(problem: str, seed: int) -> CommMatrix:
    """What 001 table 12 calls by that name, or rather one of our own."""
    points = MESH_POINTS.get(problem)
    return halos.euler(points, seed) if points else halos.conjugate_gradients(seed)


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

    times = cells(rows, ("problem",), ALGORITHMS, time_ms, fitted=lambda row, column: column == "gs")
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
            "the paper's patterns are not printed; ours are halos of meshes made for this (nuice.halos)",
            "one number is fitted, to the column GS: what a byte costs that is gathered and scattered by "
            "index",
        ],
    )


SIZES = (1, 256, 512, 1024, 2048)


def figure5(lab: Lab, quick: bool) -> Reproduction:
    """Complete exchange on 32 nodes by size."""
    sizes = SIZES[1::3] if quick else SIZES
    times = {size: {name: _complete(lab, name, 32, size) for name in EXCHANGES} for size in sizes}
    small, large = times[256], times[2048]
    few = [small[name] for name in EXCHANGES[1:]]
    claims = [
        Claim(
            "LEX is much slower than the others",
            large["lex"] > 3 * max(large[a] for a in ("pex", "bex")),
            _text(large),
        ),
        Claim("LEX is the slowest", max(large, key=large.__getitem__) == "lex", _text(large)),
        Claim(
            "small messages: PEX, REX and BEX can hardly be told apart on the scale of LEX",
            max(few) - min(few) < 0.1 * large["lex"],
            _text(small),
        ),
        Claim("2048 bytes: PEX is much faster than REX", 1.2 * large["pex"] < large["rex"], _text(large)),
        Claim("2048 bytes: BEX is faster than PEX", large["bex"] < 0.99 * large["pex"], _text(large)),
    ]
    lines = {a: [(float(size), found[a]) for size, found in times.items()] for a in EXCHANGES}
    return Reproduction(
        "001-fig5",
        "complete exchange on 32 nodes by size of the messages",
        claims=claims,
        curves=[Curves("complete exchange, 32 nodes", "bytes", "ms", lines)],
    )


def _by_machine(lab: Lab, num_bytes: int, sizes: tuple[int, ...]) -> dict[int, dict[str, float]]:
    return {n: {a: _complete(lab, a, n, num_bytes) for a in ("pex", "rex", "bex")} for n in sizes}


def _curves(num_bytes: int, times: dict[int, dict[str, float]]) -> Curves:
    names = ("pex", "rex", "bex")
    lines = {a: [(float(n), found[a]) for n, found in times.items()] for a in names}
    return Curves(f"complete exchange, {num_bytes} bytes", "nodes", "ms", lines)


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
    claims.append(
        Claim(
            "256 bytes, 32 nodes: BEX is faster than PEX",
            few["bex"] < 0.999 * few["pex"],
            _text(few),
            SMALL_BEX,
        )
    )
    if not quick:
        claims.append(
            Claim("256 bytes, 256 nodes: REX before PEX", many["rex"] < many["pex"], _text(many), REX_ON_256)
        )
    return Reproduction(
        "001-fig6",
        "complete exchange of 0 and 256 bytes by size of the machine",
        claims=claims,
        curves=[_curves(0, empty), _curves(256, small)],
    )


def figure7(lab: Lab, quick: bool) -> Reproduction:
    return _large_messages(lab, quick, "001-fig7", 512)


def figure8(lab: Lab, quick: bool) -> Reproduction:
    return _large_messages(lab, quick, "001-fig8", 1920)


def _large_messages(lab: Lab, quick: bool, name: str, num_bytes: int) -> Reproduction:
    sizes = (32, 64) if quick else (32, 64, 128, 256)
    found = _by_machine(lab, num_bytes, sizes)
    claims = [
        Claim(
            f"{n} nodes: BEX and PEX before REX",
            max(found[n]["pex"], found[n]["bex"]) < found[n]["rex"],
            _text(found[n]),
        )
        for n in (32, 64)
    ]
    if num_bytes > 1000:
        claims.append(
            Claim(
                "32 nodes: BEX is faster than PEX",
                found[32]["bex"] < 0.99 * found[32]["pex"],
                _text(found[32]),
            )
        )
    if not quick:
        many = found[256]
        claims.append(
            Claim(
                "256 nodes: REX is the fastest",
                many["rex"] < min(many["pex"], many["bex"]),
                _text(many),
                REX_ON_256,
            )
        )
    title = f"complete exchange of {num_bytes} bytes by size of the machine"
    return Reproduction(name, title, claims=claims, curves=[_curves(num_bytes, found)])

# SPDX-License-Identifier: BSD-3-Clause
"""001, figures 10 and 11: broadcast by LIB, REB and the system, which uses the control network.

The system's broadcast takes what 004 table 3 (concatenation) gives a word for each word, whatever the number
of nodes; nothing of 001 is fitted.
"""

from __future__ import annotations

from itertools import pairwise

from nuice._core import Piece, Schedule, Transfer

from nuice import _core

from . import patterns
from .paper001 import MACHINE
from .report import Claim, Curves, Reproduction
from .runs import Lab

NOTE = (
    "the system's broadcast: 6.5 us a word by the control network, from 004 table 3; nothing of 001 is fitted"
)


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


def _system(lab: Lab, num_bytes: int) -> float:
    return 1e3 * _core.control_broadcast_s(lab.machine(MACHINE), num_bytes)


def _text(times: dict[str, float]) -> str:
    return ", ".join(f"{name} {time:.3g}" for name, time in times.items()) + " ms"


def figure10(lab: Lab, quick: bool) -> Reproduction:
    """On 32 nodes by size."""
    sizes = (16, 256, 512, 1024, 2048, 4096, 8192)
    times = {
        size: {a: _broadcast(lab, a, 32, size) for a in ("lib", "reb")} | {"system": _system(lab, size)}
        for size in sizes
    }
    claims = [
        Claim(
            f"{size} bytes: LIB is much slower than REB",
            times[size]["lib"] > 3 * times[size]["reb"],
            _text(times[size]),
        )
        for size in (16, 1024, 8192)
    ]
    for size in sizes:
        found = times[size]
        if size < 1024:
            claims.append(
                Claim(f"{size} bytes: the system before REB", found["system"] < found["reb"], _text(found))
            )
        elif size > 1024:
            claims.append(
                Claim(f"{size} bytes: REB before the system", found["reb"] < found["system"], _text(found))
            )
    lines = {a: [(float(size), found[a]) for size, found in times.items()] for a in ("lib", "reb", "system")}
    curves = [Curves("broadcast, 32 nodes", "bytes", "ms", lines)]
    return Reproduction("001-fig10", "broadcast on 32 nodes", claims=claims, notes=[NOTE], curves=curves)


def figure11(lab: Lab, quick: bool) -> Reproduction:
    """By size of the machine: REB takes one more step per doubling, the system does not mind."""
    sizes = (32, 64, 128, 256)
    times = {b: [_broadcast(lab, "reb", n, b) for n in sizes] for b in (256, 1024, 2048, 4096, 8192)}
    system = {b: _system(lab, b) for b in times}
    steps = [b - a for a, b in pairwise(times[2048])]
    claims = [
        Claim(
            "every doubling of the machine adds the same time",
            max(steps) < 1.25 * min(steps),
            ", ".join(f"{n}: {t:.3g}" for n, t in zip(sizes, times[2048], strict=True)) + " ms (2048 bytes)",
        )
    ]
    for num_bytes, expected in ((256, "system"), (1024, "system"), (4096, "reb"), (8192, "reb")):
        found = {"reb": times[num_bytes][-1], "system": system[num_bytes]}
        other = "reb" if expected == "system" else "system"
        claims.append(
            Claim(
                f"256 nodes, {num_bytes} bytes: {expected} before {other}",
                found[expected] < found[other],
                _text(found),
            )
        )
    lines = {
        f"reb {b}": [(float(n), t) for n, t in zip(sizes, found, strict=True)] for b, found in times.items()
    }
    lines |= {f"system {b}": [(float(n), t) for n in sizes] for b, t in system.items()}
    curves = [Curves("broadcast by size of the machine", "nodes", "ms", lines)]
    return Reproduction(
        "001-fig11", "recursive broadcast by size of the machine", claims=claims, notes=[NOTE], curves=curves
    )

# SPDX-License-Identifier: BSD-3-Clause
"""001, figures 10 and 11: broadcast by LIB, REB and the system, which uses the control network.

The system's broadcast takes per word the time that 004 table 3 (concatenation) gives, for any number of
nodes. Nothing of 001 is fitted.
"""

from __future__ import annotations

from itertools import pairwise

from nuice._core import Piece, Schedule, Transfer

from nuice import _core

from . import patterns
from .paper001 import MACHINE
from .report import Curves, Reproduction, listed, reproduces
from .runs import Lab

NOTE = (
    "the system's broadcast: 6.5 us a word by the control network, from 004 table 3; nothing of 001 is fitted"
)


def broadcast_steps(algorithm: str, ranks: int) -> list[list[tuple[int, int]]]:
    """Returns (sender, receiver) of each step, rank 0 first: LIB one after the other, REB by halves (001
    fig. 9)."""
    if algorithm == "lib":
        return [[(0, dst)] for dst in range(1, ranks)]
    steps = []
    distance = ranks // 2
    while distance:
        steps.append([(src, src + distance) for src in range(0, ranks, 2 * distance)])
        distance //= 2
    return steps


def _broadcast(lab: Lab, algorithm: str, ranks: int, num_bytes: int) -> float:
    """Simulates a broadcast. Every copy is a separate message. A rank sends in a later phase than the one in
    which it received, as REB needs."""
    steps = broadcast_steps(algorithm, ranks)
    pairs = [pair for step in steps for pair in step]
    matrix = patterns.from_pairs(ranks, pairs, num_bytes)
    phases = [
        [Transfer(s, d, [Piece(matrix.find(s, d) or 0, 0, num_bytes)]) for s, d in step] for step in steps
    ]
    return lab.run_schedule(MACHINE, "pex", matrix, Schedule.from_phases(ranks, phases))


def _system(lab: Lab, num_bytes: int) -> float:
    return 1e3 * _core.control_broadcast_s(lab.machine(MACHINE), num_bytes)


@reproduces("001-fig10", "broadcast on 32 nodes")
def figure10(found: Reproduction, lab: Lab, quick: bool) -> None:
    """By size."""
    times = {
        size: {a: _broadcast(lab, a, 32, size) for a in ("lib", "reb")} | {"system": _system(lab, size)}
        for size in (16, 256, 512, 1024, 2048, 4096, 8192)
    }
    for size in (16, 1024, 8192):
        much_slower = times[size]["lib"] > 3 * times[size]["reb"]
        found.claim(f"{size} bytes: LIB is much slower than REB", much_slower, listed(times[size], ".3g"))
    for size, of in times.items():
        if size < 1024:
            found.claim(f"{size} bytes: the system before REB", of["system"] < of["reb"], listed(of, ".3g"))
        elif size > 1024:
            found.claim(f"{size} bytes: REB before the system", of["reb"] < of["system"], listed(of, ".3g"))
    lines = {a: [(float(size), of[a]) for size, of in times.items()] for a in ("lib", "reb", "system")}
    found.curves, found.notes = [Curves("broadcast, 32 nodes", "bytes", "ms", lines)], [NOTE]


@reproduces("001-fig11", "recursive broadcast by size of the machine")
def figure11(found: Reproduction, lab: Lab, quick: bool) -> None:
    """Checks that REB takes one more step per doubling of the nodes, and that the system's time does not
    grow."""
    nodes = (32, 64, 128, 256)
    reb = {b: {n: _broadcast(lab, "reb", n, b) for n in nodes} for b in (256, 1024, 2048, 4096, 8192)}
    system = {b: _system(lab, b) for b in reb}
    steps = [b - a for a, b in pairwise(reb[2048].values())]
    found.claim(
        "every doubling of the machine adds the same time",
        max(steps) < 1.25 * min(steps),
        ", ".join(f"{n}: {t:.3g}" for n, t in reb[2048].items()) + " ms (2048 bytes)",
    )
    for num_bytes, first, other in (
        (256, "system", "reb"),
        (1024, "system", "reb"),
        (4096, "reb", "system"),
        (8192, "reb", "system"),
    ):
        of = {"reb": reb[num_bytes][256], "system": system[num_bytes]}
        text = f"256 nodes, {num_bytes} bytes: {first} before {other}"
        found.claim(text, of[first] < of[other], listed(of, ".3g"))
    lines = {f"reb {b}": [(float(n), t) for n, t in of.items()] for b, of in reb.items()}
    lines |= {f"system {b}": [(float(n), t) for n in nodes] for b, t in system.items()}
    found.curves = [Curves("broadcast by size of the machine", "nodes", "ms", lines)]
    found.notes = [NOTE]

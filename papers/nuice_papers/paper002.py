# SPDX-License-Identifier: BSD-3-Clause
"""002, figures 31 to 38: Wolff's cluster algorithm and Lee's maze routing in five message-passing schemes.

NUICE's are runs of nuice-wolff and nuice-lee on a simulated CM-5. They take hours of one core, so they are
made by bench/run.py irregular_smpi --record and shipped: 002_simulated.csv.
Figures 14 to 18 are in paper002_primitives.py; 29, 30, 33 and 34 draw what 31 and 32 print.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from . import printed_tables
from .report import Cell, Curves, Part, Reproduction, least, reproduces
from .runs import Lab

_RECORDED = Path(__file__).parent / "data" / "002_simulated.csv"
SCHEMES = ("SSR-C-NO", "AMP-C-NO", "ASR-C-O", "AM-NC-O", "ST-NC-O")
FITTED = {("wolff", None, 16, 256): "AM-NC-O", ("lee", 25, 32, 256): "ASR-C-O"}
PRINTED_SYNC = {"wolff": "local", "lee": "global"}  # synchronisation of the schemes without coalescing
# Messages in each direction that end a cycle, locally and globally; figs 35 and 36 count them too (s.6).
ENDS_OF_A_CYCLE = {"wolff": 2, "lee": 1}
TIE = 1.001  # the paper prints 8.641 and 8.639
NOTE = "ours: bench/run.py irregular_smpi, the real programs under SimGrid, recorded in 002_simulated.csv"

Key = tuple[str, int | None, int, int]  # program, walls, ranks, size


@cache
def simulated() -> dict[Key, dict[tuple[str, str], dict[str, Any]]]:
    """Returns for each case the recorded run of each (scheme, synchronisation)."""
    runs: dict[Key, dict[tuple[str, str], dict[str, Any]]] = {}
    for row in printed_tables.rows(_RECORDED):
        key = (row["program"], row["walls"], row["ranks"], row["size"])
        runs.setdefault(key, {})[row["scheme"], row["sync"]] = row
    return runs


def _run(key: Key, scheme: str, sync: str | None = None) -> dict[str, Any] | None:
    of = simulated().get(key, {})
    if sync is not None:
        return of.get((scheme, sync))
    if scheme in ("AM-NC-O", "ST-NC-O"):
        return of.get((scheme, PRINTED_SYNC[key[0]]))
    return next((row for (name, _), row in of.items() if name == scheme), None)


def _where(key: Key) -> str:
    program, walls, ranks, size = key
    return f"{program}{f', {walls} % walls' if walls else ''}, {ranks} ranks, N = {size}"


def _row(key: Key) -> tuple[tuple[str, Any], ...]:
    _, walls, ranks, size = key
    return (("ranks", ranks) if walls is None else ("walls", walls), ("size", size))


def _speed_ups(found: Reproduction, rows: list[tuple[Key, dict[str, Any]]]) -> None:
    cells = []
    for key, row in rows:
        ours = {scheme: run["simulated"] for scheme in SCHEMES if (run := _run(key, scheme)) is not None}
        cells += [
            Cell(_row(key), scheme, row[scheme], speed_up, fitted=FITTED.get(key) == scheme)
            for scheme, speed_up in ours.items()
        ]
        if len(ours) == len(SCHEMES):
            _claim_orders(found, key, row, ours)
    found.parts, found.notes = [Part("speed-up over the sequential program", "", cells)], [NOTE]


def _claim_orders(found: Reproduction, key: Key, printed: dict[str, Any], ours: dict[str, float]) -> None:
    """Tests the statements of s.6 on the performance of the schemes."""
    seen = ", ".join(f"{scheme} {ours[scheme]:.2f} [{printed[scheme]:.2f}]" for scheme in SCHEMES)
    where, send_receive = _where(key), max(ours["SSR-C-NO"], ours["ASR-C-O"])
    fastest = min(ours["AM-NC-O"], ours["ST-NC-O"]) > max(ours[scheme] for scheme in SCHEMES[:3])
    found.claim(f"{where}: active messages without coalescing are the fastest", fastest, seen)
    before = ours["AMP-C-NO"] > send_receive
    found.claim(f"{where}: AM-PUT before any scheme of send/receive", before, seen)
    found.claim(f"{where}: asynchronous send/receive is the slowest", least(ours) == "ASR-C-O", seen)
    if key[3] == 256:
        ratio = ours["AM-NC-O"] / send_receive
        text = f"{where}: active messages are about two to three times as fast as send/receive"
        found.claim(text, 2 / 1.2 < ratio < 3 * 1.2, f"{ratio:.2f} times; {seen}")
    if printed["ST-NC-O"] > TIE * printed["AM-NC-O"]:
        better = ours["AM-NC-O"] < ours["ST-NC-O"] < 1.1 * ours["AM-NC-O"]
        found.claim(f"{where}: Strata is marginally better than CMAML", better, seen, SAME_PROGRAM)


def _of_wolff(table: str) -> list[tuple[Key, dict[str, Any]]]:
    return [(("wolff", None, row["ranks"], row["size"]), row) for row in printed_tables.table(table)]


def _of_lee(table: str) -> list[tuple[Key, dict[str, Any]]]:
    return [(("lee", row["walls"], 32, row["size"]), row) for row in printed_tables.table(table)]


@reproduces("002-fig31", "Wolff's cluster algorithm on a simulated CM-5")
def figure31(found: Reproduction, lab: Lab, quick: bool) -> None:
    _speed_ups(found, _of_wolff("002_fig31"))


@reproduces("002-fig32", "Lee's maze routing on a simulated CM-5")
def figure32(found: Reproduction, lab: Lab, quick: bool) -> None:
    rows = _of_lee("002_fig32")
    _speed_ups(found, rows)
    for scheme in SCHEMES:
        for size in (256, 512, 1024):
            few, many = (_run(("lee", walls, 32, size), scheme) for walls in (25, 50))
            printed = {row["walls"]: row[scheme] for _, row in rows if row["size"] == size}
            if few is None or many is None or printed[25] < 1.1 * printed[50]:
                continue
            ours = (few["simulated"], many["simulated"])
            seen = f"{ours[0]:.2f} and {ours[1]:.2f}, printed {printed[25]} and {printed[50]}"
            text = f"{scheme}, N = {size}: more efficient with 25 % walls than with 50 %"
            found.claim(text, ours[0] > ours[1], seen, MAZES)


SAME_PROGRAM = (
    "both are one program of NUICE with other costs of a packet, which are little compared with the sites of "
    "a long cycle: which rank waits for which then decides. What else Strata saves is not printed"
)
MAZES = (
    "the mazes of 002 are not printed: ours have walls in blocks and nets as long as take about its cycles"
)


def _traffic(found: Reproduction, rows: list[tuple[Key, dict[str, Any]]], most: int) -> None:
    """Compares the traffic. The length of Lee's nets is fitted to the printed number of cycles."""
    cycles, items = [], []
    program = rows[0][0][0]
    ends = ENDS_OF_A_CYCLE[program]
    for key, row in rows:
        run = _run(key, "AM-NC-O")
        if run is None:
            continue
        cycles.append(Cell(_row(key), "cycles", row["cycles"], run["cycles"], fitted=program == "lee"))
        sides = [side for side in ("left", "right") if run[side] is not None]
        items += [Cell(_row(key), side, row[side], run[side] + ends) for side in sides]
    found.parts, found.notes = [Part("cycles", "", cycles)], [NOTE]
    if items:
        title = "active messages that a node sends in a cycle, the most of all nodes"
        found.parts.append(Part(title, "", items))
        sites = max(cell.ours for cell in items) - ends  # NUICE: one site per message; 002: two
        text = f"without what ends a cycle, no more than {most} sites go either way in one"
        reason = "NUICE's has width 1 throughout, 002 the best of several"
        found.claim(text, sites <= most, f"at most {sites:.2f}", reason)


@reproduces("002-fig35", "Wolff: active messages and cycles")
def figure35(found: Reproduction, lab: Lab, quick: bool) -> None:
    _traffic(found, _of_wolff("002_fig35"), 8)


@reproduces("002-fig36", "Lee: active messages and cycles")
def figure36(found: Reproduction, lab: Lab, quick: bool) -> None:
    _traffic(found, _of_lee("002_fig36"), 6)


def _ends_of_cycles(found: Reproduction, program: str, better: str, reason: str) -> None:
    """With CMAML; Strata's program is the same (note to s.7). A claim for a curve: s.6 has it for all N."""
    other = {"local": "global", "global": "local"}[better]
    lines: dict[str, list[tuple[float, float]]] = {}
    runs: dict[str, list[tuple[int, float, float]]] = {}
    for key in sorted(simulated(), key=lambda k: (k[1] or 0, k[2], k[3])):
        first, second = (_run(key, "AM-NC-O", sync) for sync in (better, other))
        if key[0] != program or first is None or second is None:
            continue
        part = f"{key[1]} % walls" if key[1] else f"{key[2]} ranks"
        runs.setdefault(part, []).append((key[3], first["simulated"], second["simulated"]))
        for sync, run in ((better, first), (other, second)):
            lines.setdefault(f"{part} {sync}", []).append((float(key[3]), run["simulated"]))
    for part, of in runs.items():
        text = f"{program}, {part}: the {better} end of a cycle is better, at every N"
        seen = ", ".join(f"N = {n}: {a:.2f} {better}, {b:.2f} {other}" for n, a, b in of)
        found.claim(text, all(a > b for _, a, b in of), f"speed-up {seen}", reason)
    found.notes = [NOTE]
    found.curves = [Curves(found.title, "N", "speed-up", lines)] if lines else []


@reproduces("002-fig37", "wolff: local and global ends of cycles")
def figure37(found: Reproduction, lab: Lab, quick: bool) -> None:
    _ends_of_cycles(found, "wolff", "local", "")


@reproduces("002-fig38", "lee: local and global ends of cycles")
def figure38(found: Reproduction, lab: Lab, quick: bool) -> None:
    reason = (
        "ours ends a cycle with one message each way; 002 fig. 27 has two and waits for the answer, and its "
        "handlers only deposit (s.5). With both, tried at N = 256, the local end is ahead by 3.5 and 5.5 % "
        "instead of 7 and 10; what managing several buffers costs in addition (s.6) is not printed"
    )
    _ends_of_cycles(found, "lee", "global", reason)

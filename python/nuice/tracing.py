# SPDX-License-Identifier: BSD-3-Clause
"""Traces of real exchanges, from the files that every rank writes with the option trace (NUICE_TRACE=DIR).

Usage:
    for exchange in nuice.tracing.load("trace-folder"):     # one for every bind(), the oldest first
        run = exchange.runs[-1]                             # one for every start()
        print(run.seconds, run.waits(), run.transfers())

A rank's file (src/exchange/bind/trace.cpp) is a line of JSON, followed by notes. Times are converted to rank
0's clock with the offset that bind() measured; clock_error_s is the error of this offset. The k-th send
between two ranks belongs to the k-th arrival, because MPI keeps the order of messages. Cost: O(notes *
log(notes)).
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._core import CommMatrix
from .errors import Error
from .ranges import MOST_OF_ANYTHING, amount, whole

FORMAT = 2
KINDS = ("start", "wait", "sent", "landed", "message", "step", "over")
START, WAIT, SENT, LANDED, MESSAGE, STEP, OVER = range(len(KINDS))
NOTE = np.dtype([("at_s", "<f8"), ("kind", "<i4"), ("partner", "<i4"), ("bytes", "<i8")])
FROM_OTHERS = (LANDED, MESSAGE)  # the notes that end a wait for another rank


@dataclass(frozen=True)
class Transfer:
    """A transfer. begin_s: the time when the sender began. end_s: the time when the receiver had the data.
    Both times are counted from the beginning of the run. bytes: the size; 0 if unknown.
    """

    src: int
    dst: int
    begin_s: float
    end_s: float
    bytes: int


@dataclass(frozen=True)
class Wait:
    """A wait of rank `rank` for rank `waits_for`. what: "message" if the rank waited for a message, "send" if
    it waited until its own message was received.
    """

    rank: int
    waits_for: int
    what: str
    begin_s: float
    end_s: float


@dataclass(frozen=True)
class Run:
    """One exchange, from the earliest start() on any rank to the end on the last rank. notes: the notes of
    every rank, with times since begin_s.
    """

    notes: dict[int, NDArray[Any]]
    begin_s: float
    seconds: float
    complete: bool  # whether every rank has reached its end

    def transfers(self) -> list[Transfer]:
        sent: dict[tuple[int, int], list[Any]] = defaultdict(list)
        landed: dict[tuple[int, int], list[Any]] = defaultdict(list)
        for rank, notes in self.notes.items():
            came = LANDED if (notes["kind"] == LANDED).any() else MESSAGE
            for note in notes[notes["kind"] == SENT]:
                sent[rank, int(note["partner"])].append(note)
            for note in notes[notes["kind"] == came]:
                landed[int(note["partner"]), rank].append(note)
        found = []
        for (src, dst), notes in sent.items():
            for a, b in zip(notes, landed.get((src, dst), []), strict=False):
                size = int(max(a["bytes"], b["bytes"]))
                found.append(Transfer(src, dst, float(a["at_s"]), float(b["at_s"]), size))
        return sorted(found, key=lambda t: t.begin_s)

    def waits(self) -> list[Wait]:
        """Returns the waits: the gaps between two notes of a rank inside a waiting call, and the event that
        ended each gap.
        """
        return [wait for rank, notes in self.notes.items() for wait in _waits_of(rank, notes)]


def _waits_of(rank: int, notes: NDArray[Any]) -> list[Wait]:
    found = []
    waiting, last_s, sent_to = False, 0.0, -1
    for note in notes:
        kind, partner, at_s = int(note["kind"]), int(note["partner"]), float(note["at_s"])
        if waiting and at_s > last_s:
            if kind in FROM_OTHERS:
                found.append(Wait(rank, partner, "message", last_s, at_s))
            elif kind in (STEP, OVER) and sent_to >= 0:
                found.append(Wait(rank, sent_to, "send", last_s, at_s))
        if kind == WAIT:
            waiting = True
        elif kind == OVER:
            waiting = False
        elif kind == SENT:
            sent_to = partner
        last_s = at_s
    return found


@dataclass(frozen=True)
class ExchangeTrace:
    """The exchange of one bind(). entries: rows of phase, destination, bytes, source, bytes."""

    key: int
    num_ranks: int
    scheduler: str
    executor: str
    num_phases: int
    entries: dict[int, NDArray[np.int64]]
    notes: dict[int, NDArray[Any]]
    lost_notes: int
    clock_error_s: float

    @cached_property
    def runs(self) -> list[Run]:
        """The runs for which all ranks have notes. If a rank has lost early notes, these are only the latest
        runs."""
        starts = {rank: np.flatnonzero(notes["kind"] == START) for rank, notes in self.notes.items()}
        count = min(len(at) for at in starts.values())
        return [self._run(starts, count - k) for k in range(count)]

    def _run(self, starts: dict[int, NDArray[np.int64]], from_the_end: int) -> Run:
        parts = {}
        for rank, notes in self.notes.items():
            at = starts[rank]
            first = at[len(at) - from_the_end]
            last = at[len(at) - from_the_end + 1] if from_the_end > 1 else len(notes)
            parts[rank] = notes[first:last].copy()
        begin_s = min(float(part["at_s"][0]) for part in parts.values())
        for part in parts.values():
            part["at_s"] -= begin_s
        seconds = max(float(part["at_s"][-1]) for part in parts.values())
        complete = len(parts) == self.num_ranks and all((p["kind"] == OVER).any() for p in parts.values())
        return Run(parts, begin_s, seconds, complete)

    def matrix(self) -> CommMatrix:
        """Returns the matrix of bytes that the plan carries, without messages of ranks to themselves. Not for
        plans that forward messages.
        """
        sizes: dict[tuple[int, int], int] = defaultdict(int)
        for rank, rows in self.entries.items():
            for _, to, size, _, _ in rows.tolist():
                if to >= 0:
                    sizes[rank, to] += size
        return CommMatrix.from_messages(self.num_ranks, [(s, d, b) for (s, d), b in sizes.items()])

    def waited(self, run: Run) -> list[dict[str, Any]]:
        """Returns which rank waited for which rank, as dicts with rank, waits_for, seconds, times and what;
        the longest waits come first.
        """
        sums: dict[tuple[int, int], list[Wait]] = defaultdict(list)
        for wait in run.waits():
            sums[wait.rank, wait.waits_for].append(wait)
        rows = [
            {
                "rank": rank,
                "waits_for": other,
                "seconds": sum(w.end_s - w.begin_s for w in waits),
                "times": len(waits),
                "what": ", ".join(sorted({w.what for w in waits})),
            }
            for (rank, other), waits in sums.items()
        ]
        return sorted(rows, key=lambda row: -row["seconds"])


def load(folder: str | PathLike[str]) -> list[ExchangeTrace]:
    """Reads a trace. Raises nuice.Error with code "io" if there is no trace, "parse" for a file that is not a
    trace or is truncated.
    """
    ranks: dict[int, dict[int, tuple[dict[str, Any], NDArray[Any]]]] = defaultdict(dict)
    for path in sorted(Path(folder).glob("*.trace")):
        header, notes = _read(path)
        ranks[header["key"]][header["rank"]] = header, notes
    if not ranks:
        raise Error(
            f"{folder}: no *.trace in it; run the program with NUICE_TRACE={folder}, a folder of all hosts",
            "io",
        )
    return [_joined(key, ranks[key]) for key in sorted(ranks)]


def _read(path: Path) -> tuple[dict[str, Any], NDArray[Any]]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Error(f"{path}: {error.strerror}", "io") from None
    line, _, body = data.partition(b"\n")
    try:
        header = json.loads(line)
        if header["nuice_trace"] != FORMAT:
            raise Error(f"{path}: format {header['nuice_trace']}, this nuice reads {FORMAT}", "parse")
        if len(body) != header["kept"] * NOTE.itemsize:
            raise Error(f"{path}: {header['kept']} notes announced, {len(body)} bytes found", "parse")
        notes = np.frombuffer(body, dtype=NOTE).copy()
        _require_sound(header, notes)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Error(f"{path}: not a trace of nuice", "parse") from None
    notes["at_s"] += header["offset_s"]
    return header, notes


def _require_sound(header: dict[str, Any], notes: NDArray[Any]) -> None:
    """Checks that every number is within its range. Raises the errors that _read() names."""
    last = whole(header["ranks"], 1) - 1
    whole(header["key"], 0, 2**64)
    whole(header["rank"], 0, last)
    whole(header["kept"], 0, whole(header["notes"], 0))
    whole(header["phases"], 0)
    amount(header["clock_error_s"])
    amount(abs(header["offset_s"]))
    kinds = {"scheduler": str, "executor": str, "entries": list}
    if not all(isinstance(header[name], kind) for name, kind in kinds.items()):
        raise TypeError(header)
    for phase, to, sent, source, received in header["entries"]:
        whole(phase, 0), whole(to, -1, last), whole(sent, 0), whole(source, -1, last), whole(received, 0)
    is_sound = np.abs(notes["at_s"]) <= MOST_OF_ANYTHING  # false for NaN
    is_sound &= (notes["kind"] >= 0) & (notes["kind"] < len(KINDS))
    is_sound &= (notes["partner"] >= -1) & (notes["partner"] <= last)
    if not is_sound.all():
        raise ValueError("notes")


def _joined(key: int, ranks: dict[int, tuple[dict[str, Any], NDArray[Any]]]) -> ExchangeTrace:
    first = next(iter(ranks.values()))[0]
    return ExchangeTrace(
        key=key,
        num_ranks=first["ranks"],
        scheduler=first["scheduler"],
        executor=first["executor"],
        num_phases=first["phases"],
        entries={r: np.array(h["entries"], dtype=np.int64).reshape(-1, 5) for r, (h, _) in ranks.items()},
        notes={r: notes for r, (_, notes) in sorted(ranks.items())},
        lost_notes=sum(h["notes"] - h["kept"] for h, _ in ranks.values()),
        clock_error_s=max(h["clock_error_s"] for h, _ in ranks.values()),
    )


def trace_events(exchange: ExchangeTrace) -> dict[str, Any]:
    """Returns a trace in JSON for Perfetto and Chrome (ui.perfetto.dev). It has one process per rank, with
    the rank's sends, receives and waits.
    """
    events: list[dict[str, Any]] = []
    origin_s = min((run.begin_s for run in exchange.runs), default=0.0)
    for rank in exchange.notes:
        events.append({"name": "process_name", "ph": "M", "pid": rank, "args": {"name": f"rank {rank}"}})
        for lane, name in enumerate(("sends", "receives", "waits")):
            events.append(
                {"name": "thread_name", "ph": "M", "pid": rank, "tid": lane, "args": {"name": name}}
            )
    for number, run in enumerate(exchange.runs):
        shift_s = run.begin_s - origin_s

        def add(rank: int, lane: int, name: str, begin_s: float, end_s: float, args: dict[str, Any]) -> None:
            at_us = 1e6 * (begin_s + shift_s)  # noqa: B023 - called in this turn only
            lasts_us = 1e6 * max(end_s - begin_s, 0.0)
            events.append(
                {
                    "name": name,
                    "cat": "nuice",
                    "ph": "X",
                    "pid": rank,
                    "tid": lane,
                    "ts": at_us,
                    "dur": lasts_us,
                }
                | {"args": args}
            )

        for t in run.transfers():
            args = {"exchange": number, "bytes": t.bytes}
            add(t.src, 0, f"to rank {t.dst}", t.begin_s, t.end_s, args)
            add(t.dst, 1, f"from rank {t.src}", t.begin_s, t.end_s, args)
        for w in run.waits():
            args = {"exchange": number, "for": w.what}
            add(w.rank, 2, f"waits for rank {w.waits_for}", w.begin_s, w.end_s, args)
    return {"traceEvents": events, "displayTimeUnit": "ms"}

# SPDX-License-Identifier: BSD-3-Clause
"""Communication matrices from records of other tools: mpiP reports and OTF2 traces.

Usage:
    report = nuice.importing.read_mpip("amg2013.64.241221.1.mpiP")
    report.exchanges[0].matrix()        # of the whole run
    report.exchanges[0].one(100)        # of one of 100 iterations
    for exchange in nuice.importing.read_otf2("scorep-trace").exchanges: print(exchange.site)

An mpiP report has only totals, and an OTF2 trace is summed over the run. The number of messages of a pair
tells whether its exchange was repeated: a pair in a solver has one message per iteration, but a pair in the
set-up has only a few messages (Exchange.classes).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ._core import CommMatrix
from .errors import Error

BEGIN_OF_MATRIX = "Start Communication Matrix"
END_OF_MATRIX = "End Communication Matrix"
SEVERAL = 4  # factor within which numbers of messages belong to the same class


@dataclass(frozen=True)
class Exchange:
    """The messages that were sent from one place of the program, or from all places (site ""), as sums for
    each pair of ranks."""

    site: str
    ranks: int
    src: Any = field(repr=False)
    dst: Any = field(repr=False)
    bytes: Any = field(repr=False)  # the bytes of all calls together
    calls: Any = field(repr=False)

    def matrix(self, chosen: Any = slice(None)) -> CommMatrix:
        """Returns the matrix of the whole run."""
        return self._of(np.asarray(self.bytes), chosen)

    def one(self, iterations: int = 0, chosen: Any = slice(None)) -> CommMatrix:
        """Returns the matrix of one exchange if the record consists of `iterations` exchanges. If iterations
        is 0, returns the matrix of the mean message of every pair.
        """
        parts = iterations or np.maximum(self.calls, 1)
        return self._of(np.rint(np.asarray(self.bytes) / parts).astype(np.int64), chosen)

    def classes(self) -> list[dict[str, Any]]:
        """Groups pairs by their number of messages, the largest first: repeated exchanges, then set-up."""
        order = np.argsort(-np.asarray(self.calls), kind="stable")
        found: list[list[int]] = []
        for at in order.tolist():
            if not found or self.calls[at] * SEVERAL < self.calls[found[-1][0]]:
                found.append([])
            found[-1].append(at)
        return [
            {
                "pairs": len(chosen),
                "calls_most": int(self.calls[chosen[0]]),
                "calls_median": float(np.median(self.calls[chosen])),
                "bytes": int(np.sum(self.bytes[chosen])),
                "chosen": np.array(chosen),
            }
            for chosen in found
        ]

    def _of(self, sizes: Any, chosen: Any) -> CommMatrix:
        arrays = (np.ascontiguousarray(part[chosen], dtype=np.int64) for part in (self.src, self.dst, sizes))
        return CommMatrix.from_arrays(self.ranks, *arrays)


@dataclass(frozen=True)
class Imported:
    """An imported record. exchanges: first that of the whole program, then those of each place, sorted by
    descending bytes. call_sites: sums per call site, if the report contains them.
    """

    ranks: int
    exchanges: tuple[Exchange, ...]
    call_sites: tuple[dict[str, Any], ...] = ()


def read_mpip(path: str | Path) -> Imported:
    """Reads the communication matrix of a report, and its sums by call site. Raises nuice.Error with code
    "io" or "parse".

    mpiP reports have no destinations by call site. Reports of older versions have no matrix, and thus no
    destinations at all.
    """
    try:
        lines = Path(path).read_text(errors="replace").splitlines()
    except OSError as error:
        raise Error(f"{path}: {error.strerror}", "io") from None
    ranks = sum(line.startswith("@ MPI Task Assignment") for line in lines)
    if not ranks:
        raise Error(f"{path}: no report of mpiP: it names no MPI task", "parse")
    begin = next((at for at, line in enumerate(lines) if BEGIN_OF_MATRIX in line), None)
    if begin is None:
        raise Error(f"{path}: has no communication matrix; this mpiP did not record destinations", "parse")
    rows = []
    for number, line in enumerate(lines[begin + 1 :], begin + 2):
        if END_OF_MATRIX in line:
            break
        words = line.split()
        if len(words) != 4 or not all(word.isdecimal() for word in words):
            if words and words[0].isdecimal():
                raise Error(f"{path}:{number}: four numbers are expected: from, to, bytes, messages", "parse")
            continue
        rows.append([int(word) for word in words])
        if max(rows[-1][:2]) >= ranks:
            raise Error(f"{path}:{number}: rank {max(rows[-1][:2])} of {ranks}", "parse")
    else:
        raise Error(f"{path}: ends within the communication matrix", "parse")
    table = np.array(rows, dtype=np.int64).reshape(-1, 4)
    table = table[(table[:, 2] > 0) & (table[:, 0] != table[:, 1])]
    whole = Exchange("", ranks, table[:, 0], table[:, 1], table[:, 2], table[:, 3])
    return Imported(ranks, (whole,), tuple(_call_sites(lines)))


def _call_sites(lines: list[str]) -> list[dict[str, Any]]:
    """Returns the call sites that sent messages, sorted by descending bytes."""
    names, sums = {}, defaultdict(lambda: np.zeros(2))
    section = ""
    for line in lines:
        words = line.split()
        if line.startswith("@---"):
            section = line
        elif "Callsites:" in section and len(words) >= 5 and words[0].isdecimal():
            names[int(words[0])] = (words[-1], words[-2])
        elif "Message Sent" in section and len(words) == 8 and words[2].isdecimal():
            sums[int(words[1])] += (float(words[3]), float(words[7]))
    rows = [
        {
            "site": site,
            "call": names.get(site, ("?", "?"))[0],
            "from": names.get(site, ("?", "?"))[1],
            "calls": int(calls),
            "bytes": int(num_bytes),
        }
        for site, (calls, num_bytes) in sums.items()
    ]
    return sorted(rows, key=lambda row: -row["bytes"])


def read_otf2(path: str | Path) -> Imported:
    """Reads the point-to-point messages of a trace, grouped by the function that sent them. The path is the
    trace's folder or its .otf2 file.

    Needs the package otf2 (PyPI). Raises nuice.Error with code "io", "parse" or "not_applicable".
    """
    try:
        import otf2
    except ImportError:
        raise Error(
            "traces are read by the Python package otf2: pip install otf2", "not_applicable"
        ) from None
    anchor = Path(path)
    if anchor.is_dir():
        anchor = next(iter(sorted(anchor.glob("*.otf2"))), anchor / "traces.otf2")
    if not anchor.is_file():
        raise Error(f"{anchor}: no such trace", "io")
    try:
        with otf2.reader.open(str(anchor)) as trace:
            return _read_trace(otf2, trace)
    except otf2.error.Error as error:
        raise Error(f"{anchor}: {error}", "parse") from None


def _read_trace(otf2: Any, trace: Any) -> Imported:
    world = _world(otf2, trace)
    sends = (otf2.events.MpiSend, otf2.events.MpiIsend)
    stacks: dict[Any, list[str]] = defaultdict(list)
    sums: dict[str, dict[tuple[int, int], list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for location, event in trace.events:
        stack = stacks[location]
        if isinstance(event, otf2.events.Enter):
            stack.append(event.region.name)
        elif isinstance(event, otf2.events.Leave):
            if stack:
                stack.pop()
        elif isinstance(event, sends):
            to = event.communicator.group.members[event.receiver]
            pair = world[location], world[to if to in world else trace.definitions.locations[to]]
            place = next((name for name in reversed(stack) if not name.startswith(("MPI_", "PMPI_"))), "")
            for site in {"", place}:
                total = sums[site][pair]
                total[0] += event.msg_length
                total[1] += 1
    return Imported(len(world), tuple(_exchanges(len(world), sums)))


def _world(otf2: Any, trace: Any) -> dict[Any, int]:
    """Returns the rank of every location that MPI knows."""
    kind = otf2.GroupType.COMM_LOCATIONS
    for group in trace.definitions.groups:
        if group.group_type == kind and group.members:
            return {location: rank for rank, location in enumerate(group.members)}
    raise Error("the trace names no ranks: it is of no MPI program", "parse")


def _exchanges(ranks: int, sums: dict[str, dict[tuple[int, int], list[int]]]) -> list[Exchange]:
    found = []
    for site, pairs in sums.items():
        rows = [(src, dst, *total) for (src, dst), total in sorted(pairs.items()) if src != dst and total[0]]
        table = np.array(rows, dtype=np.int64).reshape(-1, 4)
        found.append(Exchange(site, ranks, *table.T))
    return sorted(found, key=lambda exchange: (exchange.site != "", -int(np.sum(exchange.bytes))))

# SPDX-License-Identifier: BSD-3-Clause
"""The exchanges of an unmodified program, from the files that its ranks wrote (`nuice run --record`).

Usage:
    recording = nuice.recording.load("nuice-record")
    for exchange in recording.exchanges:        # the most expensive first
        print(exchange.call, exchange.site, exchange.num_calls, exchange.share, exchange.patterns[0].matrix())

A rank's file (src/run/write.cpp) lists the rank's communicators by world ranks, the rows that the rank sent
(destinations and bytes alternately), and its series. A series contains all calls of one MPI function from one
place in the program over one communicator. It has, for each call, the row that was sent and the time that the
call took. Series of different ranks are matched by communicator, function and place, and call by call from
the first, because MPI has the same order of collective calls on all ranks. Cost: O(calls x ranks) numbers.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._core import CommMatrix
from .errors import Error
from .ranges import amount, whole

if TYPE_CHECKING:
    import numpy as np

FORMAT = 1
NO_CALL = -2  # the row of a rank that made fewer calls
NOT_KEPT = -1  # a row for which the recorder had no room
MOST_NUMBERS = 2**28  # calls x ranks of a series


@dataclass(frozen=True)
class Pattern:
    """A communication matrix, as rows of all ranks, and the number of exchanges with this matrix."""

    rows: tuple[tuple[int, ...], ...]
    num_calls: int
    seconds: float

    def matrix(self) -> CommMatrix:
        """Returns the matrix of bytes; ranks are numbered within the communicator."""
        messages = [
            (src, row[i], row[i + 1]) for src, row in enumerate(self.rows) for i in range(0, len(row), 2)
        ]
        return CommMatrix.from_messages(len(self.rows), messages)


@dataclass(frozen=True)
class RecordedExchange:
    """The calls from one place of the program over one communicator.

    seconds: the total time of these calls. waiting_s: the time by which a call takes longer than on the
    fastest rank of this call, summed over the calls. Both are means over the ranks. share: `seconds` divided
    by the time from MPI_Init to MPI_Finalize.
    """

    call: str
    site: tuple[str, ...]
    ranks: tuple[int, ...]
    num_calls: int
    seconds: float
    waiting_s: float
    bytes_per_call: float
    share: float
    patterns: tuple[Pattern, ...] = field(repr=False)

    @property
    def repeats(self) -> float:
        """The share of the calls that exchanged the same matrix as an earlier call."""
        return 1 - len(self.patterns) / self.num_calls if self.num_calls else 0.0


@dataclass(frozen=True)
class Recording:
    """The record of one run. exchanges: the most expensive exchange first."""

    num_ranks: int
    hosts: tuple[str, ...]
    mpi: str
    seconds: float
    exchanges: tuple[RecordedExchange, ...]


def load(folder: str | Path) -> Recording:
    """Reads a record. Raises nuice.Error with code "io" if there are no files, "parse" for a damaged file,
    "mismatch" for files of several runs.
    """
    files = [_read(path) for path in sorted(Path(folder).glob("rank-*.json"))]
    if not files:
        raise Error(f"{folder}: no rank-*.json in it, which `nuice run --record {folder}` writes", "io")
    num_ranks = files[0]["ranks"]
    found = {file["rank"] for file in files}
    if any(file["ranks"] != num_ranks for file in files) or not found <= set(range(num_ranks)):
        raise Error(f"{folder}: its files are of different runs; record into a new folder", "mismatch")
    seconds = max(file["seconds"] for file in files)
    series: dict[tuple, dict[int, tuple[dict, dict]]] = defaultdict(dict)
    for file in files:
        names = _communicator_names(file)
        for one in file["series"]:
            place = tuple(file["sites"][one["site"]])
            series[names[one["communicator"]], one["call"], place][file["rank"]] = (file, one)
    exchanges = [_merged(*key, by_rank, seconds) for key, by_rank in series.items()]
    exchanges.sort(key=lambda exchange: -exchange.seconds)
    hosts = tuple(dict.fromkeys(file["host"] for file in files))
    return Recording(num_ranks, hosts, files[0]["mpi"], seconds, tuple(exchanges))


def _read(path: Path) -> dict[str, Any]:
    try:
        file = json.loads(path.read_text())
        if file["format"] != FORMAT:
            raise Error(f"{path}: format {file['format']}, but this nuice reads format {FORMAT}", "parse")
        _require_sound(file)
        return file
    except OSError as error:
        raise Error(f"{path}: {error.strerror}", "io") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Error(f"{path}: not a record of `nuice run --record`", "parse") from None


def _require_sound(file: dict[str, Any]) -> None:
    """Checks that every number is within its range, and that every list has its stated length. Raises the
    errors that _read() names.
    """
    last = whole(file["ranks"], 1) - 1
    whole(file["rank"], 0, last)
    amount(file["seconds"])
    texts = [file["host"], file["mpi"], *(name for site in file["sites"] for name in site)]
    groups = file.get("communicators", [])
    for ranks in groups:
        if len({whole(rank, 0, last) for rank in ranks}) != len(ranks):
            raise ValueError(ranks)
    for row in file["rows"]:
        if len(row) % 2:
            raise ValueError(row)
        for partner, size in zip(row[::2], row[1::2], strict=True):
            whole(partner, 0, last), whole(size, 0)
    for one in file["series"]:
        texts.append(one["call"])
        whole(one["site"], 0, len(file["sites"]) - 1)
        if file["rank"] not in groups[whole(one["communicator"], 0, len(groups) - 1)]:
            raise ValueError(one)
        runs = [(whole(row, NOT_KEPT, len(file["rows"]) - 1), whole(n, 0)) for row, n in one["row_runs"]]
        kept = len([amount(us) for us in one["call_us"]])
        if sum(n for _, n in runs) != kept or kept > whole(one["calls"], 1):
            raise ValueError(one)
        amount(one["seconds"]), amount(one["bytes"])
    if not all(isinstance(text, str) for text in texts):
        raise TypeError(texts)


def _communicator_names(file: dict[str, Any]) -> list[tuple]:
    """Returns a key for a communicator: its members, and its number among the communicators with the same
    members. The key is equal on all ranks of the communicator.
    """
    seen: dict[tuple, int] = defaultdict(int)
    names = []
    for ranks in map(tuple, file.get("communicators", [])):
        names.append((ranks, seen[ranks]))
        seen[ranks] += 1
    return names


def _merged(
    name: tuple, call: str, site: tuple, by_rank: dict[int, tuple[dict, dict]], run_s: float
) -> RecordedExchange:
    import numpy as np

    ranks = name[0]
    series = [by_rank[rank][1] if rank in by_rank else None for rank in ranks]
    num_calls = max(one["calls"] for one in series if one)
    kept = max(len(one["call_us"]) for one in series if one)
    if kept * len(ranks) > MOST_NUMBERS:
        raise Error(f"{call}: {kept} calls of {len(ranks)} ranks are more than can be compared", "limit")
    numbers = np.full((len(ranks), kept), NO_CALL)
    seconds = np.full((len(ranks), kept), np.nan)
    for i, one in enumerate(series):
        if one is None:
            continue
        values = [value for value, count in one["row_runs"] for _ in range(count)]
        numbers[i, : len(values)] = values
        seconds[i, : len(values)] = 1e-6 * np.array(one["call_us"])
    total_s = sum(one["seconds"] for one in series if one) / len(ranks)
    waiting_s = (
        float(np.nansum(seconds - np.nanmin(seconds, axis=0, initial=np.inf)) / len(ranks)) if kept else 0.0
    )
    return RecordedExchange(
        call=call,
        site=site,
        ranks=ranks,
        num_calls=num_calls,
        seconds=total_s,
        waiting_s=min(waiting_s, total_s),
        bytes_per_call=sum(one["bytes"] for one in series if one) / num_calls,
        share=total_s / run_s if run_s else 0.0,
        patterns=_patterns(ranks, by_rank, numbers, seconds),
    )


def _patterns(
    ranks: tuple, by_rank: dict[int, tuple[dict, dict]], numbers: np.ndarray, seconds: np.ndarray
) -> tuple[Pattern, ...]:
    """Returns the patterns, by descending share of the time."""
    import numpy as np

    if not numbers.size:
        return ()
    columns, which = np.unique(numbers, axis=1, return_inverse=True)
    calls = np.bincount(which.ravel())
    spent = np.bincount(which.ravel(), weights=np.nan_to_num(np.nanmax(seconds, axis=0)))
    patterns = []
    for i in np.argsort(-spent):
        rows = [
            tuple(by_rank[rank][0]["rows"][number]) if number >= 0 else ()
            for rank, number in zip(ranks, columns[:, i], strict=True)
        ]
        patterns.append(Pattern(tuple(rows), int(calls[i]), float(spent[i])))
    return tuple(patterns)

# SPDX-License-Identifier: BSD-3-Clause
"""Statistics of runs. Ratios are formed within a run, because both of its values had the same background
load."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any

MEDIAN = "exchange_seconds_median"


def middle(records: Iterable[Mapping], key: str = MEDIAN) -> float:
    """Returns the median over the records of the value under this key."""
    return median(record[key] for record in records)


def median_ratio(ours: Iterable[float], theirs: Iterable[float]) -> float:
    """Returns the median of the ratios of pairs."""
    return median(a / b for a, b in zip(ours, theirs, strict=True))


def quantile(values: Sequence[float], share: float) -> float:
    """Returns the smallest value that is at least as large as this share of the values."""
    return sorted(values)[max(0, math.ceil(len(values) * share) - 1)]


def timed(call: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> tuple[float, Any]:
    """Calls a function. Returns the seconds and its result."""
    begin = clock()
    result = call()
    return clock() - begin, result


def medians_of(found: Mapping[str, list[Mapping]]) -> dict[str, list[float]]:
    """Returns by method the median of every run."""
    return {method: [record[MEDIAN] for record in records] for method, records in found.items()}


def in_turns(rounds: int, *ways: Callable[[], Any]) -> list[list[Any]]:
    """Calls all functions in each round, and returns the results of each function. Every other round calls
    them in reverse order."""
    found: list[list[Any]] = [[] for _ in ways]
    for turn in range(rounds):
        order = range(len(ways)) if turn % 2 == 0 else reversed(range(len(ways)))
        for i in order:
            found[i].append(ways[i]())
    return found


def by_method(runs: Sequence[Sequence[Mapping]]) -> dict[str, list[Mapping]]:
    """Returns the records of every method, one from each run."""
    return {records[0]["method"]: list(records) for records in zip(*runs, strict=True)}


def rows_by_method(found: Mapping[str, list[Mapping]], *peers: str) -> Iterator[tuple[dict[str, Any], list]]:
    """Yields a row for every method, with medians over its records and their ratios to the peers; and the
    records."""
    for method, records in found.items():
        row = {"method": method, "exchange_s": middle(records), "phases": records[0]["phases"]}
        row |= {"mpi": records[0]["mpi_library"], "verified": all(r["verified"] for r in records)}
        yield row | {f"to_{peer}": row["exchange_s"] / middle(found[peer]) for peer in peers}, records

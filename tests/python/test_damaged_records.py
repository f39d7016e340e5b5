# SPDX-License-Identifier: BSD-3-Clause
"""Damaged records and traces are read, or refused by a nuice.Error, and nothing else.

What `make fuzz` is for formats that C++ reads. `python tests/python/test_damaged_records.py N`: N of each.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import nuice
import test_recording
import test_tracing
from nuice import recording, tracing

NUMBERS = (0, 1, -1, 2, 2**31, 2**63 - 1, 2**63, 10**30, -(2**63), 0.5, 1e308, -0.0)
VALUES = (None, True, "", "x", [], {}, [[0, 1]], float("nan"), float("inf"), *NUMBERS)


def damaged_bytes(data: bytes, draw: random.Random) -> bytes:
    """A byte, a part or a number of it is another."""
    at, length = draw.randrange(len(data)), draw.randrange(1, 9)
    middle = draw.choice(
        [bytes([draw.randrange(256)]), b"", data[at : at + length] * 2, str(draw.choice(NUMBERS)).encode()]
    )
    return data[:at] + middle + data[at + length :]


def damaged_json(text: bytes, draw: random.Random) -> bytes:
    """A value somewhere in it is another one, or is not there."""
    whole = json.loads(text)
    places = []

    def walk(node: dict | list) -> None:
        for key in node if isinstance(node, dict) else range(len(node)):
            places.append((node, key))
            if isinstance(node[key], dict | list):
                walk(node[key])

    walk(whole)
    node, key = draw.choice(places)
    if draw.random() < 0.2:
        del node[key]
    else:
        node[key] = draw.choice(VALUES)
    return json.dumps(whole).encode()


def read_record(folder: Path) -> None:
    for exchange in recording.load(folder).exchanges:
        assert exchange.repeats <= 1
        for pattern in exchange.patterns:
            pattern.matrix()


def read_trace(folder: Path) -> None:
    for exchange in tracing.load(folder):
        exchange.matrix()
        for run in exchange.runs:
            run.transfers(), exchange.waited(run)
        tracing.trace_events(exchange)


def make_record(folder: Path) -> Path:
    series = test_recording.series([[0, 2], [1, 1], [-1, 1]], [10, 20, 40, 5.5])
    test_recording.write(folder, 0, [[1, 100], [1, 50]], [series])
    test_recording.write(folder, 1, [[0, 7]], [test_recording.series([[0, 3]], [30, 20, 10])])
    return folder / "rank-00000.json"


def make_trace(folder: Path) -> Path:
    test_tracing.two_ranks(folder)
    return folder / "7-rank-1.trace"


def try_out(make: Callable[[Path], Path], read: Callable[[Path], None], times: int, seed: int) -> int:
    """How many of the damaged files were refused."""
    draw = random.Random(seed)
    refused = 0
    with TemporaryDirectory() as name:
        folder = Path(name)
        path = make(folder)
        read(folder)
        line, end, rest = path.read_bytes().partition(b"\n")
        for _ in range(times):
            if draw.random() < 0.5:
                data = damaged_bytes(line + end + rest, draw)
            else:
                data = damaged_json(line, draw) + end + rest
            path.write_bytes(data)
            try:
                read(folder)
            except nuice.Error:
                refused += 1
            except BaseException:
                print("damaged file:", data[:2000])
                raise
    return refused


FORMATS = [(make_record, read_record), (make_trace, read_trace)]


@pytest.mark.parametrize(("make", "read"), FORMATS)
@pytest.mark.filterwarnings("error")
def test_damaged_files_are_read_or_refused(make: Callable, read: Callable) -> None:
    assert 300 < try_out(make, read, 600, 1) < 600


if __name__ == "__main__":
    for make, read in FORMATS:
        times = int(sys.argv[1])
        print(f"{read.__name__}: {times} damaged files, {try_out(make, read, times, 7)} refused")

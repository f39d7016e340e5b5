#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Wherever a rank is stopped for good, all others have a named Error in time; if it is continued, all go on.

usage: stop_test.py STOP_PROGRAM MPIEXEC NUMPROC_FLAG [--all] [--setups A,B] [--every N]

A few points; --all: every Nth one (1) of these setups of stop_program.
"""

import argparse
import re
import sys
import unittest
from pathlib import Path
from subprocess import TimeoutExpired

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from mpi_job import run_job

RANKS, VICTIM, AT_ONCE = 4, 1, 4
WATCHDOG_S = 2
SLACK_S = 8  # for roll calls, and for ranks that wait for a core
SETUPS = [
    "async",
    "phased",
    "few",
    "combined",
    "memory",
    "depend",
    "distributed",
    "auto",
    "exchanger",
]
LINE = re.compile(r"^case (\d+) rank (\d+) ([\d.]+) (.*)$", re.MULTILINE)
FROM_HERE = re.compile(r"^(timeout|mpi|state): ")
ASKED = argparse.Namespace()


def run(cases: list[str]) -> dict[str, dict[int, tuple[float, str]]]:
    """What the ranks of each case say last, and when; of a rank that stops for good, what it says before."""
    command = [ASKED.mpiexec, ASKED.flag, str(RANKS * len(cases)), ASKED.program, *cases]
    try:
        output = run_job(command, 60).stdout
    except TimeoutExpired as error:
        output = (error.stdout or b"").decode(errors="replace")
    said = {case: {} for case in cases}
    for case, rank, when, text in LINE.findall(output):
        heard = said[cases[int(case)]]
        is_woken = int(rank) == VICTIM and VICTIM in heard and case_is_fatal(cases[int(case)])
        if not is_woken:  # to be ended
            heard[int(rank)] = (float(when), text)
    return said


def case_is_fatal(case: str) -> bool:
    return case.startswith("freeze") and "/0/" not in case


def points_of(setup: str) -> int:
    _, text = run([f"freeze/{setup}/0/20"])[f"freeze/{setup}/0/20"][VICTIM]
    return int(text.split("done, ")[1].split()[0])


def what_is_wrong(heard: dict[int, tuple[float, str]]) -> str:
    """Of a rank that stops for good."""
    if VICTIM not in heard:
        return "it stopped nowhere"
    begin, _ = heard[VICTIM]
    if silent := set(range(RANKS)) - set(heard):
        return f"ranks {sorted(silent)} say nothing"
    for rank, (when, text) in heard.items():
        if rank == VICTIM or text.startswith("done"):  # all that this one waited for had happened
            continue
        if not FROM_HERE.match(text):
            return f"rank {rank}: {text}"
        if when - begin > WATCHDOG_S + SLACK_S:
            return f"rank {rank} after {when - begin:.1f} s: {text}"
    return ""


def freeze(cases: list[str]) -> tuple[list[str], int, float]:
    """What was wrong, in how many cases a rank was stopped, and when the last Error came, in s."""
    wrong, num_points, last_s = [], 0, 0.0
    for begin in range(0, len(cases), AT_ONCE):
        for case, heard in run(cases[begin : begin + AT_ONCE]).items():
            stopped_s, where = heard.get(VICTIM, (0, "stops nowhere"))
            num_points += where.startswith("stops before")
            if problem := what_is_wrong(heard):
                wrong.append(f"{case}, which {where}: {problem}")
                print(wrong[-1], flush=True)
            elif times := [when for when, text in heard.values() if "gives up" in text]:
                last_s = max(last_s, max(times) - stopped_s)
    return wrong, num_points, last_s


class Stops(unittest.TestCase):
    def test_for_good(self):
        # Among them: a communicator is made, the ranks of a host are found, and they tell each other what
        # they have. All of these were blocking calls of MPI once.
        points = [("async", 5), ("async", 20), ("combined", 60), ("memory", 40)]
        if ASKED.all:
            points = [
                (setup, point)
                for setup in ASKED.setups
                for point in range(1, points_of(setup) + 1, ASKED.every)
            ]
        wrong, num_points, last_s = freeze(
            [f"freeze/{setup}/{point}/{WATCHDOG_S}" for setup, point in points]
        )
        print(f"{num_points} points, the last error {last_s:.2f} s after the stop, {len(wrong)} wrong")
        self.assertEqual(wrong, [])

    def test_that_go_on(self):
        points = [("async", 5), ("phased", 20), ("combined", 60), ("memory", 40)]
        cases = [f"pause/{setup}/{point}/20" for setup, point in points]
        for case, heard in run(cases).items():
            self.assertEqual(
                {rank: text[:4] for rank, (_, text) in heard.items()},
                dict.fromkeys(range(RANKS), "done"),
                case,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    ASKED.program, ASKED.mpiexec, ASKED.flag = sys.argv[1:4]
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--setups", type=lambda text: text.split(","), default=SETUPS)
    parser.add_argument("--every", type=int, default=1)
    parser.parse_args(sys.argv[4:], ASKED)
    unittest.main(argv=sys.argv[:1])

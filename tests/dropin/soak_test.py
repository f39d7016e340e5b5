#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Replaced calls of every kind in any order over twenty communicators; each byte is compared.

NUICE_LONG_TESTS=1: 100,000 calls on 8 ranks in each case (make test-all).

usage: soak_test.py LIBRARY BLOCKING_PROGRAM BACKGROUND_PROGRAM MPIEXEC NUMPROC_FLAG
"""

import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from dropin_run import counts, run_under

LIBRARY, BLOCKING, BACKGROUND, MPIEXEC, FLAG = sys.argv[1:6]
IS_LONG = os.environ.get("NUICE_LONG_TESTS") == "1"
HOUR_S = 3600


class Soak(unittest.TestCase):
    def run_right(self, ranks, *words, least=20, mode="on", force="1", **settings):
        """Of the words an int is the number of calls, 100,000 where tests are long."""
        words = [str(100_000 if IS_LONG and isinstance(word, int) else word) for word in words]
        settings |= {"NUICE_DROPIN": mode, "NUICE_DROPIN_FORCE": force, "NUICE_DROPIN_WATCHDOG": "30"}
        limit_s = 4 * HOUR_S if IS_LONG else 100
        done = run_under(
            LIBRARY, [MPIEXEC, FLAG], 8 if IS_LONG else ranks, words, limit_s=limit_s, **settings
        )
        self.assertEqual((done.returncode, done.stdout), (0, "all right\n"), done.stderr)
        self.assertGreater(counts(done)[0], least, done.stderr)
        return counts(done)

    def test_blocking_calls(self):
        self.run_right(4, BLOCKING, 200, "soak", least=200, NUICE_DROPIN_UNASKED="500")

    def test_blocking_calls_in_turns_with_mpi(self):
        _, left = self.run_right(4, BLOCKING, 300, "soak", force="hosts", NUICE_DROPIN_UNASKED="50")
        self.assertGreater(left, 20)

    def test_calls_in_the_background(self):
        for ranks in (8,) if IS_LONG else (2, 3, 8):
            with self.subTest(ranks=ranks):
                self.run_right(ranks, BACKGROUND, "soak", 1000, "14")

    def test_calls_in_the_background_by_grants(self):
        self.run_right(4, BACKGROUND, "soak", 300, "5", NUICE_DROPIN_UNASKED="60")

    def test_calls_in_the_background_beside_those_of_mpi(self):
        self.run_right(4, BACKGROUND, "soak", 200, "6", force="hosts", NUICE_DROPIN_UNASKED="50")

    def test_calls_in_the_background_equal_those_of_mpi(self):
        self.run_right(4, BACKGROUND, "soak", 200, "7", mode="check")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

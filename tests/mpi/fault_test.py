#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A rank that is stopped for a second only delays an exchange; one that dies is reported by all others.

usage: fault_test.py FAULT_PROGRAM MPIEXEC NUMPROC_FLAG
"""

import re
import subprocess
import sys
import unittest

PROGRAM, MPIEXEC, FLAG = sys.argv[1:4]
RANKS, VICTIM = 4, 1


def run(how, executor, *launcher_options):
    command = [MPIEXEC, *launcher_options, FLAG, str(RANKS), PROGRAM, how, executor]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    lines = re.findall(r"^rank (\d+) (.*)$", done.stdout, re.MULTILINE)
    return done, {int(rank): text for rank, text in lines}


class Faults(unittest.TestCase):
    def test_a_rank_that_stops_and_goes_on(self):
        done, said = run("pause", "credit")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(said, {rank: "done" for rank in range(RANKS)})

    def test_a_rank_that_dies(self):
        version = subprocess.run([MPIEXEC, "--version"], capture_output=True, text=True).stdout
        if "Open MPI" not in version:
            self.skipTest("only Open MPI's fault tolerance is known to let the other ranks live")
        for executor in ("async", "phased", "barrier", "credit"):
            done, said = run("kill", executor, "--with-ft", "ulfm")
            for rank in set(range(RANKS)) - {VICTIM}:
                heard = said.get(rank, "nothing")
                self.assertRegex(heard, r"^(mpi|timeout): .*rank 1\b", executor + done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A rank that dies or never comes back is named by all; stop_test.py has those that go on.

usage: fault_test.py FAULT_PROGRAM MPIEXEC NUMPROC_FLAG
"""

import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from mpi_job import run_job

PROGRAM, MPIEXEC, FLAG = sys.argv[1:4]
RANKS, VICTIM = 4, 1
SURVIVORS = set(range(RANKS)) - {VICTIM}
VERSION = subprocess.run([MPIEXEC, "--version"], capture_output=True, text=True).stdout
IS_OPENMPI_5 = re.search(r"Open MPI\) 5|prterun|PRRTE", VERSION) is not None


def run(cases, *launcher_options):
    """What the ranks of each case say, by case and rank; all of them in one start."""
    command = [MPIEXEC, *launcher_options, FLAG, str(RANKS * len(cases)), PROGRAM, *cases]
    done = run_job(command, 100)
    said = {case: {} for case in cases}
    for case, rank, text in re.findall(r"^case (\d+) rank (\d+) (.*)$", done.stdout, re.MULTILINE):
        said[cases[int(case)]][int(rank)] = text
    return done, said


class Faults(unittest.TestCase):
    def test_the_watchdog_leads_to_the_rank_at_fault(self):
        cases = ["freeze/async/all/2", "freeze/phased/ring/2", "freeze/pairwise/all/2"]
        cases += ["freeze/depend/all/2", "freeze/combined/all/2", "freeze/combined/ring/2"]
        cases += ["freeze/memory/all/2", "freeze/memory/ring/2"]
        options = []
        if IS_OPENMPI_5:  # with that option it does not end all ranks when one dies
            options = ["--continuous"]
            cases += ["kill/phased/all/2", "kill/depend/ring/2"]
        done, said = run(cases, *options)
        for case, heard in said.items():
            message = f"{case}: {done.stdout}{done.stderr}"
            self.assertEqual(set(heard), SURVIVORS, message)
            waits_for = {}
            for rank, text in heard.items():
                self.assertRegex(text, rf"^timeout: rank {rank} gives up after [\d.]+ s", message)
                named = re.findall(r"rank (\d+)", text.split("waits for")[1])
                waits_for[rank] = {int(other) for other in named}
            for rank in SURVIVORS:  # a rank that waits for one that waits ... for the victim
                blamed = {rank}
                for _ in range(RANKS):
                    blamed |= set().union(*(waits_for.get(named, set()) for named in blamed))
                self.assertIn(VICTIM, blamed, message)

    def test_planning_and_binding_are_watched(self):
        cases = ["plan_freeze/phased/all/2", "bind_freeze/phased/all/2"]
        if IS_OPENMPI_5:
            cases += ["plan/async/all/2", "bind/depend/all/2"]
        done, said = run(cases, *(["--continuous"] if IS_OPENMPI_5 else []))
        for case, heard in said.items():
            message = f"{case}: {done.stdout}{done.stderr}"
            self.assertEqual(set(heard), SURVIVORS, message)
            for rank in SURVIVORS:
                self.assertRegex(heard[rank], rf"^timeout: rank {rank} gives up after .* s in \w+; ", message)
                self.assertRegex(heard[rank], rf"no answer from .*rank {VICTIM}", message)

    @unittest.skipUnless(IS_OPENMPI_5, "only Open MPI 5 has a fault tolerance that is known here")
    def test_a_rank_that_dies_is_named_without_a_watchdog(self):
        cases = [
            *("kill/async/all/0", "kill/phased/ring/0", "kill/depend/ring/0"),
            *("plan/phased/all/0", "bind/phased/all/0", "bind/depend/all/0"),
            *("late/phased/all/0", "late/depend/all/0"),
            *("kill/combined/all/0", "kill/combined/ring/0", "bind/combined/all/0"),
            *("kill/memory/all/0", "kill/memory/ring/0", "bind/memory/all/0"),
        ]
        self.expect_death_named(cases)

    @unittest.skipUnless(IS_OPENMPI_5, "as above")
    def test_a_rank_that_dies_while_halos_are_made_is_named(self):
        self.expect_death_named([f"halo/async/ring/{watchdog_s}" for watchdog_s in (0, *range(20, 25))])

    def expect_death_named(self, cases):
        done, said = run(cases, "--with-ft", "ulfm")
        for case, heard in said.items():
            message = f"{case}: {done.stdout}{done.stderr}"
            self.assertEqual(set(heard), SURVIVORS, message)
            for text in heard.values():
                self.assertRegex(text, rf"^mpi: .*; dead: rank {VICTIM}$", message)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

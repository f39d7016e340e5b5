#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Replaced calls under an unmodified program: every result is that of MPI, errors name the pair.

usage: replace_test.py LIBRARY PROGRAM MPIEXEC NUMPROC_FLAG
"""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from dropin_run import counts, run_under

LIBRARY, PROGRAM, MPIEXEC, FLAG = sys.argv[1:5]
SOURCE = str(Path(__file__).parent / "fortran_program.f90")
MPIFORT = shutil.which("mpifort.openmpi", path="/usr/bin")


def run(ranks, *arguments, program=PROGRAM, mpiexec=(MPIEXEC,), **settings):
    return run_under(LIBRARY, [*mpiexec, FLAG], ranks, [program, *arguments], **settings)


class Replace(unittest.TestCase):
    def expect_right(self, done, replaced, left):
        self.assertEqual((done.returncode, done.stdout), (0, "all right\n"), done.stderr)
        self.assertEqual(counts(done), (replaced, left), done.stderr)

    def test_every_call_equals_that_of_mpi(self):
        for ranks in (2, 3, 4):
            done = run(ranks, "6", NUICE_DROPIN="check", NUICE_DROPIN_FORCE="1")
            with self.subTest(ranks=ranks):
                self.assertEqual((done.returncode, done.stdout), (0, "all right\n"), done.stderr)
                # MPI_COMM_WORLD in two rounds of six, a split one in two: its parts may have one rank.
                self.assertGreater(counts(done)[0], 200)

    def test_every_message_by_grants(self):
        self.expect_right(
            run(4, "3", NUICE_DROPIN="on", NUICE_DROPIN_FORCE="1", NUICE_DROPIN_UNASKED="1"), 144, 0
        )

    def test_values_that_are_none_are_told_once(self):
        wrong = {"WATCHDOG": "nan", "UNASKED": "abc", "MAX_COMMS": "-5", "VERBOSE": "yes"}
        for name, value in wrong.items():
            done = run(2, "3", NUICE_DROPIN="on", NUICE_DROPIN_FORCE="1", **{f"NUICE_DROPIN_{name}": value})
            self.assertEqual((done.returncode, done.stdout), (0, "all right\n"), done.stderr)
            self.assertEqual(done.stderr.count(f'nuice: NUICE_DROPIN_{name}="{value}" is not a '), 1, done.stderr)
        done = run(2, "3", NUICE_DROPIN="recrod")
        self.assertIn('NUICE_DROPIN="recrod" is not a word of off, on, check, record; off is taken', done.stderr)

    def test_one_host_stays_with_mpi(self):
        done = run(4, "3", NUICE_DROPIN="on")
        self.assertEqual((done.returncode, done.stdout, counts(done)), (0, "all right\n", None), done.stderr)
        self.assertIn("all ranks are on one host: nothing is replaced", done.stderr)

    def test_one_host_is_found_without_the_launcher(self):
        unknown = {"OMPI_COMM_WORLD_LOCAL_SIZE": "0", "MPI_LOCALNRANKS": "0"}
        self.expect_right(run(4, "3", NUICE_DROPIN="on", **unknown), 0, 144)

    def turns(self, **slow):
        """48 calls of one communicator, every rank as if a host of its own: (replaced, left to MPI)."""
        done = run(3, "48", "turns", NUICE_DROPIN="on", NUICE_DROPIN_FORCE="hosts", **slow)
        self.assertEqual((done.returncode, done.stdout), (0, "all right\n"), done.stderr)
        return counts(done)

    def test_slow_calls_of_mpi_are_replaced(self):
        # Calls 1 to 4 by MPI. Far ahead then: no other trial before call 112.
        self.assertEqual(self.turns(SLOW_MPI_MS="100"), (44, 4))

    def test_what_is_faster_by_mpi_is_left_to_mpi(self):
        # Calls 5 to 7 by us. Far behind: no other trial before call 448.
        self.assertEqual(self.turns(SLOW_US_MS="100", SLOW_MPI_MS="1"), (3, 45))

    def test_large_exchanges_are_replaced_from_call_2_on(self):
        # Call 1 by MPI, which takes more than half as long again: its first turn is call 64.
        self.assertEqual(self.turns(SLOW_MPI_MS="400", LARGE="1"), (47, 1))

    def test_large_exchanges_that_mpi_does_faster_are_left_to_it(self):
        # Calls 2 to 15 and 17 by us; the next trial is at call 1088.
        self.assertEqual(self.turns(SLOW_US_MS="20", SLOW_MPI_MS="1", LARGE="1"), (15, 33))

    def test_what_was_faster_is_shared_by_communicators_of_the_same_ranks(self):
        # Of the first one calls 1 to 4 by MPI; of the second none, as MPI's first turn is call 64.
        self.assertEqual(self.turns(SLOW_MPI_MS="100", TWO="1"), (44 + 48, 4))

    def test_what_was_faster_holds_for_other_communicators(self):
        # Of the second one, whose ranks are in another order, call 1 by MPI.
        self.assertEqual(self.turns(SLOW_MPI_MS="100", TWO="-1"), (44 + 47, 4 + 1))

    def test_what_mpi_did_faster_holds_for_other_communicators(self):
        # Of the second one calls 10 to 12 are ours, as it is asked at call 8.
        self.assertEqual(self.turns(SLOW_US_MS="100", SLOW_MPI_MS="1", TWO="-1"), (3 + 3, 45 + 45))
        # Where it has the same ranks, its shadow is there: calls 10 to 12 again.
        self.assertEqual(self.turns(SLOW_US_MS="100", SLOW_MPI_MS="1", TWO="1"), (3 + 3, 45 + 45))

    def test_neighbours_of_the_third_communicator(self):
        # Nobody is asked for it. Of MPI_Alltoallv calls 5 to 12 are ours, as on any communicator.
        done = run(3, "12", "ring", NUICE_DROPIN="on", NUICE_DROPIN_FORCE="hosts", SLOW_MPI_MS="100")
        self.expect_right(done, 8 + 12, 4)

    def test_large_exchanges_over_tcp_are_replaced_from_the_first_call_on(self):
        def calls(number, **settings):
            settings |= {"NUICE_DROPIN_FORCE": "tcp", "LARGE": "1"}  # every rank as if it had talked by TCP
            done = run(3, number, "turns", NUICE_DROPIN="on", **settings)
            self.assertEqual((done.returncode, done.stdout), (0, "all right\n"), done.stderr)
            return counts(done)

        self.assertEqual(calls("12", SLOW_US_MS="20", SLOW_MPI_MS="1"), (12, 0))
        # Slower than MPI, whose first turn is call 64: calls 1 to 63 and 65.
        self.assertEqual(calls("80", SLOW_US_MS="5", SLOW_MPI_MS="1"), (64, 16))
        self.assertEqual(calls("80", SLOW_MPI_MS="400"), (79, 1))
        # Of another communicator with the same ranks, or with these the other way round.
        for second in ("1", "-1"):
            self.assertEqual(calls("17", TWO=second), (17 + 17, 0))

    def test_short_messages_cost_no_shadow(self):
        self.assertEqual(self.turns(SHORT="1"), (0, 48))

    def test_off_does_nothing(self):
        done = run(2, "2", NUICE_DROPIN="off")
        self.assertEqual((done.returncode, done.stdout, counts(done)), (0, "all right\n", None), done.stderr)

    def test_communicators_run_out(self):
        done = run(4, "6", NUICE_DROPIN="on", NUICE_DROPIN_FORCE="1", NUICE_DROPIN_MAX_COMMS="1")
        self.assertEqual((done.returncode, done.stdout), (0, "all right\n"), done.stderr)
        replaced, left = counts(done)
        # All but those of parts: duplicates and neighbourhoods of MPI_COMM_WORLD share its shadow.
        self.assertEqual((replaced, left), (228, 60))

    def test_ends_that_differ_are_named(self):
        done = run(2, "0", "mismatch", NUICE_DROPIN="on", NUICE_DROPIN_FORCE="1")
        self.assertIn("rank 0 -> rank 1: rank 0 sends 90000 bytes, but rank 1 expects 70000", done.stderr)
        self.assertNotEqual(done.returncode, 0)  # though MPI's errors return there

    @unittest.skipIf(MPIFORT is None, "no Fortran MPI in /usr/bin")
    def test_fortran_by_mpi_f08(self):
        with tempfile.TemporaryDirectory() as folder:
            program = f"{folder}/exchanges"
            subprocess.run([MPIFORT, "-o", program, SOURCE, "-J", folder], check=True)
            for ranks, by_us in ((2, 1), (3, 4)):  # on two, both neighbours of a rank are the same
                done = run(
                    ranks,
                    program=program,
                    mpiexec=("/usr/bin/mpiexec.openmpi", "--oversubscribe"),
                    NUICE_DROPIN="check",
                    NUICE_DROPIN_FORCE="1",
                )
                self.assertEqual((done.returncode, done.stdout.split()), (0, ["done"]), done.stderr)
                self.assertEqual(counts(done), (by_us, 4 - by_us), done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

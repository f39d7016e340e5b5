#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Replaced calls that go on in the background: nonblocking and persistent all-to-alls of a program.

usage: background_test.py LIBRARY PROGRAM MPIEXEC NUMPROC_FLAG
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
SOURCE = str(Path(__file__).parent / "fortran_background_program.f90")
MPIFORT = shutil.which("mpifort.openmpi", path="/usr/bin")


def run(ranks, *arguments, program=PROGRAM, mpiexec=(MPIEXEC,), **settings):
    settings = {"NUICE_DROPIN": "on", "NUICE_DROPIN_FORCE": "1", **settings}
    return run_under(LIBRARY, [*mpiexec, FLAG], ranks, [program, *arguments], **settings)


class Background(unittest.TestCase):
    def expect_right(self, done, least=1):
        self.assertEqual((done.returncode, done.stdout), (0, "all right\n"), done.stderr)
        self.assertGreaterEqual(counts(done)[0], least, done.stderr)

    def expect_counts(self, wanted, *arguments, **settings):
        done = run(3, *arguments, NUICE_DROPIN_FORCE="hosts", **settings)
        self.assertEqual(
            (done.returncode, done.stdout, counts(done)), (0, "all right\n", wanted), done.stderr
        )

    def test_all_are_asked_by_a_collective_call_behind(self):
        # Behind the second call; the third is ours.
        self.expect_counts((18, 2), "asked", "20", "60000")
        self.expect_counts((0, 20), "asked", "20", "90")

    def test_all_are_asked_by_the_making_of_a_persistent_one(self):
        self.expect_counts((1, 0), "init", "20", "60000")
        self.expect_counts((0, 1), "init", "20", "9000")

    # Slowed calls take a tenth of a second: a busy machine may take hundredths for any.

    def test_neighbours_calls_are_left_to_mpi_where_it_is_faster(self):
        # The 8th and the 16th MPI_Allreduce are meetings. Ours are calls 1 to 8, MPI's 9 to 16.
        for how in ("wait", "block"):
            with self.subTest(how=how):
                call = ("tried", "graph", how, "100", "3000")
                self.expect_counts((8, 92), *call, SLOW_US_MS="100", SLOW_MPI_MS="1")
                self.expect_counts((92, 8), *call, SLOW_MPI_MS="100")

    def test_calls_of_all_are_tried(self):
        # Asked behind call 2; the meetings are behind calls 9 and 17. Ours are calls 10 to 17.
        call = ("tried", "all", "wait", "100", "9000")
        self.expect_counts((8, 92), *call, SLOW_US_MS="100", SLOW_MPI_MS="1")
        self.expect_counts((91, 9), *call, SLOW_MPI_MS="100")

    def test_ranks_that_are_none_of_it_meet_too(self):
        done = run(5, "tried", "grid", "wait", "40", "3000", NUICE_DROPIN_FORCE="hosts", SLOW_MPI_MS="100")
        self.assertEqual(
            (done.returncode, done.stdout, counts(done)), (0, "all right\n", (32, 8)), done.stderr
        )

    def test_ranks_that_are_apart_go_one_way(self):
        for ranks in (2, 3, 5, 8):
            with self.subTest(ranks=ranks):
                done = run(ranks, "apart", "210", NUICE_DROPIN_FORCE="hosts", NUICE_DROPIN_UNASKED="300")
                self.expect_right(done, 60)
                self.assertGreater(counts(done)[1], 60, done.stderr)

    def test_programs_that_block_elsewhere_come_to_their_end(self):
        for ranks in (2, 3, 4):
            with self.subTest(ranks=ranks):
                self.expect_right(run(ranks, "progress"), 100)

    def test_that_holds_in_check_mode(self):
        self.expect_right(run(3, "progress", NUICE_DROPIN="check"), 100)

    def test_a_thread_that_blocks(self):
        self.expect_right(run(3, "threads", NUICE_DROPIN="check"), 20)

    def test_requests_that_are_freed(self):
        self.expect_right(run(3, "free"), 3)

    def test_nothing_is_cancelled(self):
        self.expect_right(run(3, "cancel", NUICE_DROPIN="check"))

    def test_ends_that_differ_are_named(self):
        done = run(2, "mismatch")
        self.assertIn("rank 0 -> rank 1: rank 0 sends 90000 bytes, but rank 1 expects 70000", done.stderr)
        self.assertNotEqual(done.returncode, 0)  # though MPI's errors return there

    def test_a_rank_that_does_not_come_is_named(self):
        for where, code in (("wait", 1), ("free", 1), ("finalize", 0)):
            with self.subTest(where=where):
                done = run(3, "late", where, NUICE_DROPIN_WATCHDOG="1")
                self.assertIn("nothing has moved for 1.000000 s; waiting for rank 2", done.stderr)
                self.assertIn(f"code {code}", done.stdout, done.stderr)

    def test_one_host_stays_with_mpi(self):
        done = run(3, "soak", "5", NUICE_DROPIN_FORCE="0")
        self.assertEqual((done.returncode, done.stdout, counts(done)), (0, "all right\n", None), done.stderr)

    @unittest.skipIf(MPIFORT is None, "no Fortran MPI in /usr/bin")
    def test_fortran_by_mpi_f08(self):
        with tempfile.TemporaryDirectory() as folder:
            program = f"{folder}/background"
            subprocess.run([MPIFORT, "-o", program, SOURCE, "-J", folder], check=True)
            done = run(
                3,
                program=program,
                mpiexec=("/usr/bin/mpiexec.openmpi", "--oversubscribe"),
                NUICE_DROPIN="check",
            )
            self.assertEqual((done.returncode, done.stdout.split()), (0, ["done"]), done.stderr)
            self.assertEqual(counts(done), (8, 0), done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

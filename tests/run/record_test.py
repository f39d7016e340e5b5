#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The recorder under an unmodified program: every call with its bytes, and nothing changed where it is off.

usage: record_test.py RECORDER PROGRAM MPIEXEC NUMPROC_FLAG
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LIBRARY, PROGRAM, MPIEXEC, FLAG = sys.argv[1:5]
RANKS = 4


def run(folder, *arguments):
    settings = {"LD_PRELOAD": LIBRARY, "NUICE_RECORD_DIR": str(folder)}
    command = [MPIEXEC, FLAG, str(RANKS), PROGRAM, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=os.environ | settings)


def series_of(folder, rank):
    """Calls with the rows that they sent, one by one."""
    file = json.loads((Path(folder) / f"rank-{rank:05d}.json").read_text())
    found = []
    for one in file["series"]:
        rows = [file["rows"][row] for row, count in one["row_runs"] for _ in range(count)]
        found += [(one["call"], dict(zip(row[::2], row[1::2], strict=True))) for row in rows]
    return file, found


def to_right_and_0(rank, num_bytes):
    row = {(rank + 1) % RANKS: num_bytes}
    row[0] = row.get(0, 0) + 2 * num_bytes
    return row


def expected(rank):
    right = (rank + 1) % RANKS
    everybody = range(RANKS)
    return [
        *[("MPI_Alltoallv", to_right_and_0(rank, 8))] * 3,
        ("MPI_Alltoallw", to_right_and_0(rank, 16)),
        ("MPI_Alltoall", dict.fromkeys(everybody, 12)),
        ("MPI_Alltoall", dict.fromkeys(everybody, 20)),
        ("MPI_Ialltoallv", to_right_and_0(rank, 16)),
        ("MPI_Neighbor_alltoallv", {right: 28}),
        ("MPI_Ineighbor_alltoall", {right: 9}),
        *[("point to point", {right: 800})] * 3,
        *[("point to point", {right: 200})] * 3,
        ("point to point", {right: 300}),
    ]


class Record(unittest.TestCase):
    def check(self, *arguments, all_end=True):
        with tempfile.TemporaryDirectory() as folder:
            done = run(folder, *arguments)
            there = {rank for rank in range(RANKS) if (Path(folder) / f"rank-{rank:05d}.json").exists()}
            if all_end:
                self.assertEqual(there, set(range(RANKS)), done.stderr)
            self.assertTrue(there, done.stderr)
            for rank in there:
                file, found = series_of(folder, rank)
                self.assertEqual(found, expected(rank))
                self.assertEqual((file["rank"], file["ranks"]), (rank, RANKS))
                self.assertEqual(file["communicators"][0], list(range(RANKS)))
                for one in file["series"]:
                    self.assertEqual(len(one["call_us"]), one["calls"])
                    self.assertLess(0, one["seconds"])
                    self.assertLessEqual(one["seconds"], file["seconds"])
                    site = file["sites"][one["site"]][0]
                    self.assertIn(Path(PROGRAM).name, site)
            return done

    def test_every_call_with_its_bytes(self):
        self.assertEqual(self.check().returncode, 0)

    def test_a_program_that_ends_without_finalize(self):
        self.check("exit", all_end=False)  # the launcher ends the others with the first

    def test_without_a_folder_nothing_is_written(self):
        before = os.listdir()
        done = run("")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(os.listdir(), before)

    def test_a_folder_that_cannot_be_made_is_said_and_the_program_goes_on(self):
        done = run("/proc/nuice/record")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("cannot write its record", done.stderr)

    def test_processes_without_mpi_are_left_alone(self):
        done = subprocess.run(
            ["ls", "/"],
            capture_output=True,
            text=True,
            env=os.environ | {"LD_PRELOAD": LIBRARY, "NUICE_RECORD_DIR": "/proc/nuice/record"},
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

# SPDX-License-Identifier: BSD-3-Clause
"""The command line and output of nuice-am-bench.

Usage: bench_cli_test.py NUICE_AM_BENCH MPIEXEC...   (MPIEXEC ends with the option for the number of ranks)
"""

import json
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "tests/support"))
from mpi_job import run_ranks

BENCH: str
MPIEXEC: list[str]
TINY = ["--reps", "1", "--warmup", "0", "--work", "0.01"]


def run(ranks: int, *arguments: str) -> subprocess.CompletedProcess:
    command = [*MPIEXEC, str(ranks), BENCH, *arguments]
    return run_ranks(command, 100)


class CommandLine(unittest.TestCase):
    def test_json_has_a_row_for_every_method_of_every_group(self):
        done = run(2, *TINY, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        patterns = {row["pattern"] for row in rows}
        small = {"pingpong", "flood", "roundtrip", "twoway", "coalesced"}
        others = {"block", "shift", "polling", "computing", "fanin", "collective", "alltoall"}
        others |= {"histogram", "index-gather"}
        self.assertEqual(patterns, small | others)
        methods = {row["method"] for row in rows if row["pattern"] == "flood"}
        self.assertLessEqual({"am:mpi", "am:shm", "mpi:ring", "mpi:isend"}, methods)
        for row in rows:
            self.assertGreaterEqual(row["seconds_high"], row["seconds_low"])
            self.assertGreater(row["seconds_best"], 0, row)

    def test_only_the_methods_and_sizes_that_are_asked_for(self):
        done = run(2, *TINY, "--json", "--groups", "flood", "--methods", "am:mpi,mpi:ring", "--bytes", "8")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual({row["method"] for row in rows}, {"am:mpi", "mpi:ring"})
        self.assertEqual({row["bytes"] for row in rows}, {8})

    def test_table_on_three_ranks(self):
        done = run(3, *TINY, "--groups", "flood,fanin,shift")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("fanin, 4096 bytes, d=2", done.stdout)

    def test_wrong_use_is_exit_code_2(self):
        for ranks, arguments, text in [
            (2, ["--groups", "everything"], "--groups"),
            (2, ["--transports", "pigeon"], "--transports"),
            (2, ["--reps", "0"], "--reps"),
            (1, [], "two ranks"),
        ]:
            done = run(ranks, *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertEqual(done.stdout, "")
            self.assertIn(text, done.stderr)

    def test_help(self):
        done = run(1, "--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("coalesced", done.stdout)


if __name__ == "__main__":
    BENCH, *MPIEXEC = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])

# SPDX-License-Identifier: BSD-3-Clause
"""nuice-bench as people and programs meet it: exit codes, stdout and stderr.

Usage: bench_cli_test.py CLASS NUICE_BENCH MPIEXEC...   (MPIEXEC ends with the option for the number of ranks)
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from mpi_job import run_ranks

BENCH: str
MPIEXEC: list[str]

FOUR_RANKS = """%%MatrixMarket matrix coordinate integer general
% a ring, a message to itself, an empty row (4) and an empty column (1)
4 4 5
1 2 1000
2 3 70000
3 4 1
3 2 17
2 2 5
"""


def run(ranks: int, *arguments: str) -> subprocess.CompletedProcess:
    command = [*MPIEXEC, str(ranks), BENCH, *arguments]
    return run_ranks(command, 280)


class Bench(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.matrix = self.write("four.mtx", FOUR_RANKS)

    def write(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def lines(self, ranks: int, *arguments: str) -> list[dict]:
        done = run(ranks, *arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def assert_refused(self, done: subprocess.CompletedProcess, text: str):
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stdout, "")
        ours = [line for line in done.stderr.splitlines() if line.startswith("nuice-bench: ")]
        self.assertEqual(len(ours), 1, done.stderr)
        self.assertIn(text, ours[0])


class CommandLine(Bench):
    def test_an_error_is_an_object_too(self):
        for words in (("--matrix", "none.mtx"), ("--no-such-option",)):
            done = run(2, *words, "--json")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(json.loads(done.stdout)["error"]["code"], ("io", "invalid_argument"))

    def test_json_has_one_object_per_method(self):
        methods = "ac,lp,gm,cgm,rs_n,rs_n:pairwise,coloring,coloring:async"
        methods += ",alltoallv,neighbor,isend,persistent,nbx"
        lines = self.lines(
            4, "--matrix", self.matrix, "--schedulers", methods, "--reps", "3", "--seed", "5", "--batch", "2"
        )
        self.assertEqual([line["method"] for line in lines], methods.split(","))
        for line in lines:
            self.assertIs(line["verified"], True)
            self.assertIsNone(line["refused"])
            self.assertEqual((line["ranks"], line["messages"], line["max_degree"]), (4, 4, 2))
            self.assertEqual((line["bound_bytes"], line["bytes_moved"]), (70000, 71023))
            self.assertEqual(
                (line["matrix"], line["reps"], line["seed"], line["batch"]), (self.matrix, 3, 5, 2)
            )
            least, median, most = (line[f"exchange_seconds_{x}"] for x in ("min", "median", "max"))
            self.assertTrue(0 < least <= median <= most)
            self.assertGreater(line["ratio_to_best_mpi"], 0)
            self.assertIn(line["best_mpi"], ("alltoallv", "neighbor", "isend", "persistent", "nbx"))
        planned, peers = lines[:8], lines[8:]
        self.assertEqual([line["phases"] for line in peers], [None] * 5)
        self.assertEqual(min(line["ratio_to_best_mpi"] for line in peers), 1)
        self.assertEqual(planned[0]["phases"], 1)
        self.assertEqual(planned[6]["phases"], 2)
        self.assertEqual(
            [line["executor"] for line in planned[4:8]], ["phased", "pairwise", "phased", "async"]
        )
        for line in planned:
            parts = [line[f"{part}_seconds"] for part in ("gather", "schedule", "check", "bind")]
            self.assertTrue(all(0 < part <= line["plan_seconds"] for part in parts), parts)

    def test_settings_of_mpi_are_named(self):
        words = ("--matrix", self.matrix, "--schedulers", "isend", "--reps", "1")
        os.environ["FI_NUICE_NO_SUCH"] = "1"
        os.environ["OMPI_MCA_btl_nuice_no_such"] = "1"  # noqa: SIM112  # Open MPI's names are in lower case
        self.addCleanup(os.environ.pop, "FI_NUICE_NO_SUCH")
        self.addCleanup(os.environ.pop, "OMPI_MCA_btl_nuice_no_such")
        (line,) = self.lines(4, *words)
        found = line["mpi_settings"]
        self.assertEqual(found["connections"], 0)  # all ranks are here
        self.assertIn("OMPI_MCA_btl_nuice_no_such", found["unknown"])
        self.assertNotIn("OMPI_MCA_btl_nuice_no_such", found["variables"])
        self.assertEqual(
            "FI_NUICE_NO_SUCH" in found["environment"], "FI_NUICE_NO_SUCH" not in found["unknown"]
        )
        last = run(4, *words).stdout.splitlines()[-2:]
        self.assertTrue(last[0].startswith("MPI settings found: "), last)
        self.assertIn("no TCP connection to another host", last[1])

    def test_table_is_for_people(self):
        done = run(4, "--matrix", self.matrix, "--schedulers", "coloring,neighbor", "--reps", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("4 ranks, 4 messages", done.stdout)
        self.assertIn("Every byte was verified", done.stdout)
        rows = [line.split() for line in done.stdout.splitlines()]
        self.assertIn(["coloring", "phased", "2"], [row[:3] for row in rows])

    def test_without_a_peer_nothing_is_compared(self):
        (line,) = self.lines(
            4, "--matrix", self.matrix, "--schedulers", "lp", "--reps", "1", "--warmup", "0", "--settle", "1"
        )
        self.assertIsNone(line["best_mpi"])
        self.assertIsNone(line["ratio_to_best_mpi"])
        self.assertIsNone(line["reuses_to_pay_off"])

    def test_synchronous_sends(self):
        options = ("--schedulers", "ac,coloring:async", "--max-sends-in-flight", "1", "--reps", "2")
        lines = self.lines(4, "--matrix", self.matrix, *options)
        self.assertEqual([line["max_sends_in_flight"] for line in lines], [1, 1])

    def test_forwarding_and_the_cost_of_a_phase(self):
        options = (
            "--schedulers",
            "rex,rex:pairwise,rex:async,kpbs",
            "--reps",
            "2",
            "--phase-cost-bytes",
            "7",
        )
        lines = self.lines(4, "--matrix", self.matrix, *options)
        self.assertEqual([line["verified"] for line in lines], [True, True, None, True])
        self.assertIn("use an executor with phases (phased, pairwise", lines[2]["refused"])
        self.assertEqual({line["phase_cost_bytes"] for line in lines}, {7})

    def test_broadcasts(self):
        for group, members in (((), 5), (("--group", "1,4"), 3), (("--group", "3"), 1)):
            words = ("--broadcast", "70001", "--root", "3", *group, "--reps", "3")
            lines = self.lines(5, *words)
            self.assertEqual([line["method"] for line in lines], ["lib", "reb", "reb:async", "bcast"])
            self.assertEqual([line["phases"] for line in lines[:1]], [members - 1])
            for line in lines:
                self.assertEqual((line["ranks"], line["root"], line["members"]), (5, 3, members))
                self.assertIs(line["verified"], True)
                self.assertEqual(line["best_mpi"], "bcast")
                self.assertGreater(line["ratio_to_best_mpi"], 0)
        done = run(2, "--broadcast", "0", "--reps", "1")
        self.assertIn("broadcast of 0 bytes from rank 0: 2 ranks", done.stdout)
        self.assert_refused(run(2, "--broadcast", "8", "--root", "2"), "the root is rank 2, there are 2")
        self.assert_refused(run(2, "--broadcast", "8", "--group", "1,1"), "rank 1 is twice in the group")

    def test_one_rank_and_nothing_to_send(self):
        head = "%%MatrixMarket matrix coordinate integer general\n"
        alone = self.write("alone.mtx", head + "1 1 1\n1 1 99\n")
        empty = self.write("empty.mtx", head + "3 3 0\n")
        for ranks, matrix in ((1, alone), (3, empty)):
            lines = self.lines(ranks, "--matrix", matrix, "--reps", "2")
            self.assertEqual(len(lines), 6)
            self.assertTrue(all(line["verified"] for line in lines))

    def test_nobody_reads_what_it_prints(self):
        read_end, write_end = os.pipe()
        os.close(read_end)
        with open(write_end, "w") as pipe:
            alone = [BENCH, "--broadcast", "1", "--schedulers", "bcast", "--reps", "1"]
            done = subprocess.run(alone, stdout=pipe, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, "a message and no signal")
        self.assertIn("nuice-bench: what it printed could not be written", done.stderr)

    def test_wrong_words(self):
        broken = self.write("broken.mtx", FOUR_RANKS.replace("70000", "many"))
        for ranks, words, text in (
            (3, [self.matrix], "is a matrix for 4 ranks, but 3 were started: use mpiexec -n 4"),
            (2, [str(self.folder / "none.mtx")], "none.mtx"),
            (4, [broken], "broken.mtx:5"),
            (2, [self.matrix, "--schedulers", "lp,fastest"], 'unknown scheduler "fastest"; known: ac, lp'),
        ):
            with self.subTest(text):
                self.assert_refused(run(ranks, "--matrix", *words), text)

    def test_help(self):
        done = run(2, "--help")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout.count("--schedulers"), 1, "printed once, not by every rank")


class OnTheFly(Bench):
    """What needs active messages."""

    def test_scheduling_on_the_fly(self):
        methods = "drs_n,drs_n:rma,drs_n:list,drs_n:early,drs_n:refuse:mpi,alltoallv"
        words = ("--schedulers", methods, "--reps", "3", "--drs-delay-us", "5", "--drs-early-bytes", "100")
        *ours, peer = self.lines(4, "--matrix", self.matrix, *words)
        self.assertEqual([line["method"] for line in ours] + ["alltoallv"], methods.split(","))
        for line in ours:
            self.assertIs(line["verified"], True)
            self.assertIsNone(line["scheduler"])
            self.assertIsNone(line["phases"])
            waits = "list" in line["method"] or "early" in line["method"]
            expected = 1 if waits else 1 + line["refusals_per_message"]
            self.assertAlmostEqual(line["inquiries_per_message"], expected)
        self.assertIsNone(peer["inquiries_per_message"])
        table = run(4, "--matrix", self.matrix, "--schedulers", "drs_n:list", "--reps", "1").stdout
        self.assertIn("drs_n:list: 1.00 inquiries and", table)

    def test_receive_lists(self):
        lines = self.lines(4, "--matrix", self.matrix, "--receive-lists", "--reps", "3")
        ways = ["gather", "count", "consensus", "am_count", "am_quiesce"]
        self.assertEqual([line["receive_list"] for line in lines], ways)
        for line in lines:
            self.assertTrue(0 < line["seconds_min"] <= line["seconds_median"] <= line["seconds_max"])
        table = run(4, "--matrix", self.matrix, "--receive-lists", "--reps", "1").stdout
        self.assertIn("quiesce", table)


class LargeMessage(Bench):
    """Needs about 5 GB of memory."""

    def test_what_does_not_fit_in_an_int_is_refused_by_name(self):
        head = "%%MatrixMarket matrix coordinate integer general\n"
        matrix = self.write("large.mtx", head + "2 2 2\n1 2 2200000000\n2 1 8\n")
        words = "coloring,drs_n,drs_n:rma,drs_n:list:mpi,alltoallv,neighbor,isend"
        methods = ("--schedulers", words, "--reps", "1", "--warmup", "0")
        planned, *on_the_fly, _, _, _ = lines = self.lines(2, "--matrix", matrix, *methods)
        peers = lines[-3:]
        for line in (planned, *on_the_fly):
            self.assertIs(line["verified"], True)
        self.assertIsNone(planned["best_mpi"])
        for line in peers:
            self.assertIsNone(line["verified"])
            self.assertIn("2200000000 bytes", line["refused"])


if __name__ == "__main__":
    CASE, BENCH, *MPIEXEC = sys.argv[1:]
    unittest.main(argv=[sys.argv[0], CASE], verbosity=2)

# SPDX-License-Identifier: BSD-3-Clause
"""From nuice-calibrate to `nuice-bench --schedulers auto`, as people and programs meet them.

Usage: calibrate_cli_test.py NUICE_CALIBRATE NUICE_BENCH MPIEXEC...   (MPIEXEC ends with the option for
the number of ranks)
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

CALIBRATE: str
BENCH: str
MPIEXEC: list[str]

THREE_RANKS = """%%MatrixMarket matrix coordinate integer general
3 3 5
1 2 1000
2 3 7000
3 1 20
2 1 300
1 3 40
"""


def run(
    ranks: int, program: str, *arguments: str, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess:
    command = [*MPIEXEC, str(ranks), program, *arguments]
    return run_ranks(command, 200, environment)


class CalibrateThenChoose(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def objects(self, done: subprocess.CompletedProcess) -> list[dict]:
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_a_calibrated_machine_is_what_auto_chooses_for(self):
        machine = self.folder / "mine.toml"
        quick = ("--reps", "3", "--patience", "0")
        found = self.objects(run(3, CALIBRATE, *quick, "--json", "-o", str(machine)))
        keys = {line["key"] for line in found if "key" in line}
        expected = "send_overhead latency bandwidth duplex loss_per_sender barrier_level copy slowdown"
        self.assertLessEqual(set(expected.split()), keys)
        for line in found:
            self.assertEqual((line["ranks"], line["hosts"]), (3, 1))
            if line.get("value") is not None:
                self.assertLessEqual(line["low"], line["high"])
        self.assertGreaterEqual(sum("check" in line for line in found), 5)
        self.assertEqual(os.listdir(self.folder), ["mine.toml"])
        self.assertIn("in the middle half of 3", machine.read_text())

        matrix = self.folder / "three.mtx"
        matrix.write_text(THREE_RANKS)
        common = ("--matrix", str(matrix), "--machine", str(machine), "--reps", "3")
        methods = "auto,auto:phased,coloring:phased,isend"
        lines = self.objects(run(3, BENCH, *common, "--schedulers", methods, "--json"))
        self.assertEqual([line["method"] for line in lines], methods.split(","))
        for line in lines[:2]:
            self.assertIs(line["verified"], True)
            self.assertGreater(line["predicted_seconds"], 0)
            self.assertAlmostEqual(
                line["measured_over_predicted"],
                line["exchange_seconds_median"] / line["predicted_seconds"],
                delta=0.05 * line["measured_over_predicted"],
            )
            self.assertIn(line["choice"].split(":")[0], line["advice"]["sentence"])
            self.assertEqual(line["choice"].split(":")[1], line["executor"])
        self.assertEqual(lines[1]["executor"], "phased")
        self.assertIsNone(lines[3]["predicted_seconds"])
        done = run(3, BENCH, *common, "--schedulers", "auto")
        self.assertEqual(done.returncode, 0, done.stderr)
        for text in ("predicted ms", "times the prediction", "The machine is"):
            self.assertIn(text, done.stdout)

    def test_wrong_command_lines(self):
        for ranks, arguments, text in (
            (1, (), "two ranks"),
            (2, ("--topology", "star:3"), "unknown topology"),
            (3, ("--topology", "crossbar:2"), "crossbar:2"),
        ):
            done = run(ranks, CALIBRATE, *arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(text, done.stderr)
        self.assertIn("--save", run(1, CALIBRATE, "--help").stdout)

    def test_errors_are_objects_with_json_and_exit_with_2(self):
        quick = ("--reps", "3", "--patience", "0", "--json")
        done = run(1, CALIBRATE, *quick)
        self.assertEqual((done.returncode, json.loads(done.stdout)["error"]["code"]), (2, "invalid_argument"))
        done = run(2, CALIBRATE, *quick, "-o", "/proc/no/such.toml")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(json.loads(done.stdout.splitlines()[-1])["error"]["code"], "io")
        homeless = {"HOME": "", "XDG_CONFIG_HOME": ""}
        done = run(2, CALIBRATE, *quick, "--save", environment=homeless)
        self.assertEqual((done.returncode, json.loads(done.stdout)["error"]["code"]), (2, "io"))
        self.assertIn("no home", done.stderr)


if __name__ == "__main__":
    CALIBRATE, BENCH, *MPIEXEC = sys.argv[1:]
    unittest.main(argv=sys.argv[:1], verbosity=2)

# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the programs share.

usage: NAME_test.py PROGRAM MPIEXEC...      (MPIEXEC ends with the option for the number of ranks)
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path


class ProgramTest(unittest.TestCase):
    program: str
    mpiexec: list[str]

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def start(self, ranks: int, *arguments: object) -> subprocess.CompletedProcess:
        """On that many ranks; 0: one rank without mpiexec, which starts faster."""
        mpiexec = [*self.mpiexec, str(ranks)] if ranks > 0 else []
        command = [*mpiexec, self.program, *map(str, arguments)]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=120, check=False, cwd=self.folder
        )

    def report(self, ranks: int, *arguments: object) -> dict:
        """The one JSON object of a run that succeeds."""
        done = self.start(ranks, *arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        (line,) = done.stdout.splitlines()
        return json.loads(line)

    def assert_refused(self, text: str, ranks: int, *arguments: object) -> None:
        """Exit code 2, nothing on stdout, and one line that says so."""
        done = self.start(ranks, *arguments)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count(text), 1, done.stderr)

    def assert_refuses_wrong_options(self) -> None:
        self.assert_refused("no-such", 2, "--no-such-option")
        self.assert_refused('unknown scheduler "fastest"', 0, "--scheduler", "fastest")
        self.assert_refused('unknown executor "fast"', 0, "--executor", "fast")
        helped = self.start(2, "--help")
        self.assertEqual(helped.returncode, 0)
        self.assertEqual(helped.stdout.count("--pattern"), 1, helped.stdout)


def main() -> None:
    ProgramTest.program = sys.argv[1]
    ProgramTest.mpiexec = sys.argv[2:]
    unittest.main(module="__main__", argv=sys.argv[:1])

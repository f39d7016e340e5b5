#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two jobs that share a host's memory at the same time do not disturb each other, also with two users.

usage: two_jobs_test.py AM_MPI_TEST MPIEXEC NUMPROC_FLAG
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, MPIEXEC, FLAG = sys.argv[1:4]
COMMAND = [
    MPIEXEC,
    FLAG,
    "2",
    PROGRAM,
    "--gtest_brief=1",
    "--gtest_filter=*shm_*Put*:*shm_ReplyStorm*:SharedMemory.*",
]
OTHER_USER = 65534


def start(user=None):
    """Starts a job with its own home folder."""
    home = tempfile.mkdtemp()
    words = COMMAND
    if user is not None:
        os.chown(home, user, user)
        words = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *COMMAND]
    environment = os.environ | {"HOME": home, "TMPDIR": home}
    process = subprocess.Popen(
        words, env=environment, cwd=home, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return process, home


class TwoJobs(unittest.TestCase):
    def expect_success(self, jobs):
        for process, home in jobs:
            said, _ = process.communicate(timeout=150)
            shutil.rmtree(home, ignore_errors=True)
            self.assertEqual(process.returncode, 0, said)

    def test_of_one_user(self):
        self.expect_success([start(), start()])

    def test_of_two_users(self):
        if os.geteuid() != 0 or shutil.which("setpriv") is None:
            self.skipTest("needs root and setpriv, to be another user")
        can_read = subprocess.run(
            [
                "setpriv",
                f"--reuid={OTHER_USER}",
                f"--regid={OTHER_USER}",
                "--clear-groups",
                "test",
                "-x",
                PROGRAM,
            ]
        )
        if can_read.returncode != 0:
            self.skipTest("another user may not read this folder")
        self.expect_success([start(), start(OTHER_USER)])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

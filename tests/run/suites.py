#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of mpi4py and MPICH under the libraries for unmodified programs: what passes without them passes with
them. `make test-suites` says where the sources come from.

LIBRARY: what is preloaded, such as libnuice_flow.so, with every connection governed.

usage: suites.py LIBRARY MPIEXEC [--mpi4py DIR] [--mpich SOURCE BUILD]
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

CALLS = re.compile(r"alltoall|neighbor|dist_graph|cart_create", re.IGNORECASE)
MPI4PY_TESTS = "test_cco|test_comm_topo"
MPICH_FOLDERS = ["coll", "topo", "f77/coll", "f08/coll"]


class Run(NamedTuple):
    passed: bool
    text: str


class Suites:
    def __init__(self, library: str, mpiexec: str) -> None:
        self.mpiexec = mpiexec
        modes = {"LD_PRELOAD": str(Path(library).resolve()), "NUICE_FLOW": "all"}
        self.on = [f"{name}={value}" for name, value in modes.items()]
        self.tests = 0
        self.failed: list[str] = []

    def run(self, ranks: int, words: list[str], good: str, is_on: bool, folder: Path, limit_s: float) -> Run:
        command = [self.mpiexec, "-n", str(ranks), "/usr/bin/env", *(self.on if is_on else []), *words]
        oversubscribed = {"OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=limit_s,
                cwd=folder,
                env=os.environ | oversubscribed,
            )
        except subprocess.TimeoutExpired:
            return Run(False, f"not done after {limit_s:.0f} s")
        text = done.stdout + done.stderr
        passed = done.returncode == 0 and re.search(good, text, re.MULTILINE) is not None
        return Run(passed, text)

    def compare(self, name: str, ranks: int, words: list[str], good: str, folder: Path, limit_s=60.0) -> None:
        if not self.run(ranks, words, good, False, folder, limit_s).passed:
            print(f"without NUICE it does not pass: {name}, {ranks} ranks")
            return
        with_it = self.run(ranks, words, good, True, folder, 3 * limit_s)
        self.tests += 1
        print(f"{'passed' if with_it.passed else 'FAILED'}: {name}, {ranks} ranks")
        if not with_it.passed:
            self.failed.append(name)
            print(with_it.text[-3000:])

    def mpi4py(self, source: Path) -> None:
        words = [sys.executable, "test/main.py", "-i", MPI4PY_TESTS]
        for ranks in (2, 3, 4):
            self.compare("mpi4py", ranks, words, "^OK", source, 400)

    def mpich(self, source: Path, build: Path) -> None:
        for folder in MPICH_FOLDERS:
            listed = build / folder / "testlist"
            lines = (listed if listed.exists() else source / folder / "testlist").read_text().splitlines()
            for line in dict.fromkeys(lines):  # as listed, each once
                name, *words = line.split() or ["#"]
                program = build / folder / name
                if (
                    name.startswith("#")
                    or not program.is_file()
                    or not self.is_concerned(source / folder, name)
                ):
                    continue
                options = [word.removeprefix("arg=") for word in words[1:] if word.startswith("arg=")]
                self.compare(
                    f"{folder}/{name}", int(words[0]), [str(program), *options], "No Errors", program.parent
                )

    @staticmethod
    def is_concerned(folder: Path, name: str) -> bool:
        """Programs named nb... are others, linked with what makes their collectives nonblocking."""
        files = [folder / f"{stem}{end}" for stem in (name, name[2:]) for end in (".c", ".f", ".f90")]
        return any(CALLS.search(file.read_text(errors="replace")) for file in files if file.is_file())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("mpiexec")
    parser.add_argument("--mpi4py", type=Path, metavar="DIR")
    parser.add_argument("--mpich", type=Path, nargs=2, metavar=("SOURCE", "BUILD"), help="of test/mpi")
    options = parser.parse_args()
    suites = Suites(options.library, options.mpiexec)
    if options.mpi4py:
        suites.mpi4py(options.mpi4py.resolve())
    if options.mpich:
        suites.mpich(*(folder.resolve() for folder in options.mpich))
    passed = suites.tests - len(suites.failed)
    print(f"{suites.tests} tests passed without, {passed} with")
    return 1 if suites.failed or suites.tests == 0 else 0


if __name__ == "__main__":
    sys.exit(main())

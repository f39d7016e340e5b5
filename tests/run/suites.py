#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of mpi4py and MPICH under the library for unmodified programs: what passes without it passes with it.

LIBRARY: libnuice_flow.so. --network: on a test network of 4 hosts, as root, with the settings of `nuice run`;
else on this host, where there is no connection to another one. `make test-suites` says where the sources come
from.

--calls: random_calls.py gives the same sum with this Python's mpi4py, whose MPI must be MPIEXEC's.

usage: suites.py LIBRARY MPIEXEC [--network] [--calls] [--mpi4py DIR] [--mpich SOURCE BUILD]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "testbed"))
import launch
import network
import owned

from nuice.cli.running import SETTINGS

MPI4PY_TESTS = "test_(cco|comm_topo|p2p|msg)"
MPICH_FOLDERS = ["coll", "topo", "pt2pt", "f77/coll", "f08/coll"]
# Slow enough that windows are limited, fast enough for tests.
HOSTS = network.Settings(hosts=4, rate="200mbit", queue="32k")


class Run(NamedTuple):
    passed: bool
    text: str
    seconds: float = 0.0
    line: str = ""  # that says so


class ThisHost:
    def __init__(self, mpiexec: str) -> None:
        self.mpiexec = mpiexec
        self.settings = {"NUICE_FLOW": "all"}

    @contextmanager
    def started(self, ranks: int, program: list[str], folder: Path) -> Iterator[subprocess.Popen[str]]:
        command = [self.mpiexec, "-n", str(ranks), *program]
        oversubscribed = {"OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
        process = _start(command, os.environ | oversubscribed, folder)
        try:
            yield process
        finally:
            process.kill()


class Hosts:
    """Ranks are spread over as many hosts as there are."""

    def __init__(self, mpiexec: str, name: str) -> None:
        self.settings = SETTINGS
        self.launcher = launch.find_launcher(mpiexec)
        self.network = network.current(name)

    @contextmanager
    def started(self, ranks: int, program: list[str], folder: Path) -> Iterator[subprocess.Popen[str]]:
        per_host = -(-ranks // self.network.settings.hosts)
        here = replace(self.network, settings=replace(self.network.settings, ranks_per_host=per_host))
        run = secrets.token_hex(8)
        environment = launch.environment(self.launcher, here, run)
        process = _start(launch.command(self.launcher, here, ranks, program), environment, folder)
        try:
            yield process
        finally:
            process.kill()
            owned.kill(owned.namespaces(here.name), run)
            shutil.rmtree(environment["TMPDIR"], ignore_errors=True)


def _start(command: list[str], environment: dict[str, str], folder: Path) -> subprocess.Popen[str]:
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.Popen(command, env=environment, cwd=folder, text=True, errors="replace", **pipes)


class Suites:
    def __init__(self, library: str, place: ThisHost | Hosts) -> None:
        self.place = place
        self.on = place.settings | {"LD_PRELOAD": str(Path(library).resolve())}
        self.tests = self.governed = self.limited = 0
        self.seconds = [0.0, 0.0]
        self.failed: list[str] = []

    def run(
        self, ranks: int, words: list[str], good: str, settings: dict[str, str], folder: Path, limit_s: float
    ) -> Run:
        begin = time.monotonic()
        set_up = ["/usr/bin/env", *(f"{name}={value}" for name, value in settings.items())]
        with self.place.started(ranks, [*set_up, *words], folder) as process:
            try:
                text, _ = process.communicate(timeout=limit_s)
            except subprocess.TimeoutExpired:
                return Run(False, f"not done after {limit_s:.0f} s")
        found = re.search(good, text, re.MULTILINE)
        passed = process.returncode == 0 and found is not None
        return Run(passed, text, time.monotonic() - begin, found[0] if found else "")

    def compare(
        self, name: str, ranks: int, words: list[str], good: str, folder: Path, limit_s=200.0
    ) -> None:
        """good: a line of the output; what it was without must be there with it."""
        without = self.run(ranks, words, good, {}, folder, limit_s)
        if not without.passed:
            why = (without.text.strip().splitlines() or ["no output"])[-1]
            print(f"without NUICE it does not pass: {name}, {ranks} ranks: {why}", flush=True)
            return
        with tempfile.TemporaryDirectory() as reports:
            settings = self.on | {"NUICE_FLOW_REPORT": reports}
            with_it = self.run(ranks, words, re.escape(without.line), settings, folder, 3 * limit_s)
            self._count(Path(reports))
        self.tests += 1
        self.seconds[0] += without.seconds
        self.seconds[1] += with_it.seconds
        times = f"{without.seconds:.1f} and {with_it.seconds:.1f} s"
        print(f"{'passed' if with_it.passed else 'FAILED'}: {name}, {ranks} ranks, {times}", flush=True)
        if not with_it.passed:
            self.failed.append(name)
            print(with_it.text[-3000:], flush=True)

    def _count(self, reports: Path) -> None:
        """Processes that are ended by a signal leave no report."""
        ports = [port for file in reports.iterdir() for port in json.loads(file.read_text())["ports"]]
        self.governed += any(port["segments"] > 0 for port in ports)
        self.limited += any(port["segments"] > 0 and port["share_bytes"] is not None for port in ports)

    def calls(self) -> None:
        folder = Path(__file__).parent.resolve()
        for seed, ranks, rounds in ((1, 4, 10_000), (2, 8, 300), (3, 7, 300)):
            # With its component han, Open MPI 5.0.11 delivers wrong bytes to 8 ranks on 4 hosts, also without
            # NUICE.
            words = ["/usr/bin/env", "OMPI_MCA_coll=^han"]
            words += [sys.executable, str(folder / "random_calls.py"), str(rounds), str(seed)]
            good = r"^sum \w+ of \d+ calls$"
            self.compare(f"random calls, seed {seed}", ranks, words, good, folder, 600)

    def mpi4py(self, source: Path) -> None:
        words = [sys.executable, "test/main.py", "-i", MPI4PY_TESTS]
        for ranks in (2, 4, 8):
            self.compare("mpi4py", ranks, words, "^OK", source, 600)

    def mpich(self, source: Path, build: Path) -> None:
        for folder in MPICH_FOLDERS:
            listed = build / folder / "testlist"
            lines = (listed if listed.exists() else source / folder / "testlist").read_text().splitlines()
            for line in dict.fromkeys(lines):  # as listed, each once
                name, *words = line.split() or ["#"]
                program = build / folder / name
                if name.startswith("#") or not program.is_file():
                    continue
                options = [word.removeprefix("arg=") for word in words[1:] if word.startswith("arg=")]
                self.compare(
                    f"{folder}/{name}", int(words[0]), [str(program), *options], "No Errors", program.parent
                )


@contextmanager
def made_network() -> Iterator[str]:
    name = f"suites{os.getpid()}"
    network.up(HOSTS, name)
    try:
        yield name
    finally:
        network.down(name)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("mpiexec")
    parser.add_argument("--network", action="store_true", help="on a test network, as root")
    parser.add_argument("--calls", action="store_true", help="random_calls.py")
    parser.add_argument("--mpi4py", type=Path, metavar="DIR")
    parser.add_argument("--mpich", type=Path, nargs=2, metavar=("SOURCE", "BUILD"), help="of test/mpi")
    options = parser.parse_args()
    with made_network() if options.network else nullcontext() as name:
        suites = Suites(options.library, Hosts(options.mpiexec, name) if name else ThisHost(options.mpiexec))
        if options.calls:
            suites.calls()
        if options.mpi4py:
            suites.mpi4py(options.mpi4py.resolve())
        if options.mpich:
            suites.mpich(*(folder.resolve() for folder in options.mpich))
    passed = suites.tests - len(suites.failed)
    print(f"{suites.tests} tests passed without in {suites.seconds[0]:.0f} s, {passed} with", end="")
    print(f" in {suites.seconds[1]:.0f} s; {suites.governed} had connections between hosts,", end="")
    print(f" {suites.limited} limited windows at their end")
    return 1 if suites.failed or suites.tests == 0 or (name and not suites.limited) else 0


if __name__ == "__main__":
    sys.exit(main())

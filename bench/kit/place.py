# SPDX-License-Identifier: BSD-3-Clause
"""Where programs run: ranks of this machine, or the hosts of a test network (docs/how-to/testbed.md)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nuice
from nuice.cli.bench import environment, find_program

from .case import CannotRun, Failed
from .process import ROOT, call, objects, scratch
from .stats import by_method

MBIT = 125_000  # bytes per second
KIB = 1024
# The bench's network has a name of its own, so that it can be up next to other users' networks.
os.environ.setdefault("NUICE_TESTBED", f"bench{os.getpid()}")
TESTBED = [sys.executable, str(ROOT / "bench" / "testbed" / "nuice_testbed.py")]


@dataclass(frozen=True)
class Place:
    """ranks: the default number of ranks of a program. settings: of the network; None on this machine."""

    name: str
    ranks: int
    settings: Mapping[str, Any] | None = None

    @property
    def host_bytes_per_s(self) -> float:
        """Returns the bytes per second of all ports of a host, in one direction."""
        assert self.settings is not None
        return megabits(self.settings["rate"]) * MBIT * self.settings["ports_per_host"]

    def run(
        self,
        words: Sequence[Any],
        *,
        ranks: int = 0,
        mpiexec: str = "",
        timeout_s: float = 550,
        flags: Sequence[str] = (),
        settings: Mapping[str, str] | None = None,
        prefix: Sequence[str] = (),
        status: int | None = 0,
    ) -> subprocess.CompletedProcess[str]:
        """Runs a program on MPI ranks. flags: of mpiexec here, of nuice-testbed on a network. settings:
        additional environment. prefix: the command that starts mpiexec. Raises Failed."""
        mpiexec = mpiexec or find_program("mpiexec")
        if self.settings is None:
            start = [*prefix, mpiexec, *flags, "-n", str(ranks or self.ranks)]
        else:
            start = [*TESTBED, "run", "--mpiexec", mpiexec, "--timeout", str(timeout_s), *flags]
            start += ["--ranks", str(ranks)] if ranks else []
        env = environment() | dict(settings or {})
        return call([*start, *words], timeout_s=timeout_s + 20, env=env, status=status)

    def bench(
        self,
        problem: nuice.CommMatrix | Sequence[Any],
        methods: Sequence[str],
        reps: int,
        *more: Any,
        program: str = "",
        words_before: Sequence[str] = (),
        **how: Any,
    ) -> list[dict[str, Any]]:
        """Returns nuice-bench's measurements, one record per method, interleaved and verified. problem: a
        matrix, or options that name another problem. more: further options of nuice-bench. words_before: the
        command that starts each of its ranks. how: arguments of run()."""
        with scratch() as folder:
            words = saved(problem, folder) if isinstance(problem, nuice.CommMatrix) else list(problem)
            words += ["--schedulers", ",".join(methods)] if methods else []
            words += ["--reps", reps, "--json", *more]
            words = [*words_before, program or find_program("nuice-bench"), *words]
            records = objects(self.run(words, **how).stdout)
        if methods and [record["method"] for record in records] != list(methods):
            raise Failed(f"nuice-bench was asked for {', '.join(methods)} and answered {records}")
        return records

    def rdma(
        self, matrix: nuice.CommMatrix, plans: Sequence[tuple[nuice.Plan, str]], reps: int, *more: Any
    ) -> list[dict[str, Any]]:
        """Runs each plan on a lossless fabric by an executor, as RDMA cards do. Returns one record for each.
        Raises Failed, also if the fabric could not keep up."""
        with scratch() as folder:
            words = saved(matrix, folder)
            files = [f"{folder}/{number}.plan" for number in range(len(plans))]
            for file, (plan, _) in zip(files, plans, strict=True):
                plan.save(file)
            named = [f"{file}:{executor}" for file, (_, executor) in zip(files, plans, strict=True)]
            start = [*TESTBED, "rdma", *words, "--plans", ",".join(named), "--reps", reps, *more]
            return objects(call(start, env=environment()).stdout)

    def several(
        self, runs: int, problem: Any, methods: Sequence[str], *rest: Any, **how: Any
    ) -> dict[str, list]:
        """Returns the records of several starts by method. Raises Failed if a method is refused or not
        verified."""
        found = by_method([self.bench(problem, methods, *rest, **how) for _ in range(runs)])
        for record in (record for records in found.values() for record in records):
            if record["refused"] is not None or record["verified"] is False:
                raise Failed(f"{record['method']} on {self.name}: {record['refused'] or 'wrong payload'}")
        return found


def saved(matrix: nuice.CommMatrix, folder: Path) -> list[Any]:
    nuice.save_matrix_market(folder / "matrix.mtx", matrix)
    return ["--matrix", folder / "matrix.mtx"]


def megabits(rate: str) -> int:
    return int(rate.removesuffix("mbit"))


def testbed(*words: str) -> str:
    """Runs nuice-testbed and returns its output."""
    return call([*TESTBED, *words]).stdout


def here(ranks: int) -> Place:
    return Place("shared memory", ranks)


@contextmanager
def network(*words: str, name: str = "") -> Iterator[Place]:
    """Makes a test network by `nuice-testbed up` with these words, and removes it at the end. Raises
    CannotRun."""
    if os.geteuid():
        raise CannotRun("only root can make a test network")
    try:
        testbed("up", *words)
    except Failed as failure:
        raise CannotRun(str(failure)) from None
    try:
        settings = json.loads(testbed("status", "--json"))["settings"]
        yield Place(name or " ".join(words), settings["hosts"] * settings["ranks_per_host"], settings)
    finally:
        testbed("down")


SHAPE = re.compile(r"(\d+)x(\d+)/(\d+)k")


def made_of(name: str) -> list[str]:
    """Returns the words of `nuice-testbed up` for a preset or HOSTSxMBITS/QUEUEk. Further parts may follow
    after colons: a congestion control, rto_min=TIME, ranks=N per host. Examples: "fast:reno",
    "16x100/16k:bbr:ranks=4"."""
    preset, *more = name.split(":")
    if shape := SHAPE.fullmatch(preset):
        hosts, rate, queue = shape.groups()
        words = ["--hosts", hosts, "--rate", f"{rate}mbit", "--queue", f"{queue}k"]
    else:
        words = ["--preset", preset]
    for part in more:
        option, _, value = part.rpartition("=")
        words += [{"rto_min": "--rto-min", "ranks": "--ranks-per-host", "": "--cc"}[option], value]
    return words


@contextmanager
def place(preset: str, ranks: int, *, hosts: int = 0, cc: str = "") -> Iterator[Place]:
    """Returns the test network with this name (made_of), with cc as its congestion control unless the name
    has one. "": this machine."""
    if not preset:
        yield here(ranks)
        return
    words = [*(["--cc", cc] if cc else []), *made_of(preset), *(["--hosts", str(hosts)] if hosts else [])]
    with network(*words, name=preset.partition(":")[0]) as made:
        yield made

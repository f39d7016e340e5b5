#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random faults on a test network, while exchanges and active messages run on it.

  fault_soak.py --minutes 60 --seed 1 --log soak.jsonl          as root; needs `make`

An episode is a network of 4 to 6 hosts, one rank on each running fault_soak_program, and faults by the seed
(with --ranks-per-host 2: of 2 or 3 hosts, where ranks share memory too):

  slow      a port at a tenth of its speed for some seconds     must be survived, every byte right
  pause     a rank stopped (SIGSTOP) for some seconds           likewise
  switch    the network away for some seconds                   likewise
  kill      a rank dies (SIGKILL)                               ends it: all others give up and name it
  freeze    a rank stopped for good                             likewise
  cut       the network away for good                           ends it: all ranks give up in time

Every episode is one line of the log, with its own seed: --replay SEED runs it again. Exit code 1 when bytes
were wrong, somebody hung, or a rank at fault was not named.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "bench" / "testbed"))
import network  # noqa: E402  from there

TESTBED = [sys.executable, str(ROOT / "bench" / "testbed" / "nuice_testbed.py")]
PROGRAM = ROOT / "build" / "release" / "tests" / "soak" / "fault_soak_program"
WATCHDOG_S = 12.0  # above what TCP takes to come back after the longest fault that is to be survived
SLACK_S = 8.0  # for ranks that notice one after the other, on a busy machine
PASSING, FATAL = ("slow", "pause", "switch"), ("kill", "freeze", "cut")
TEXT = re.compile(r"^rank (\d+) ([\d.]+) (\w+: .*)$")


def testbed(*words: str) -> None:
    done = subprocess.run([*TESTBED, *words], capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise RuntimeError(f"nuice-testbed {' '.join(words)}: {done.stderr.strip()}")


def switch(is_up: bool) -> None:
    """Not by the command: starting that takes as long as a fault where the machine has much else to do."""
    network.set_switch(network.current(os.environ["NUICE_TESTBED"]), is_up)


class Episode:
    """One start of the program; what its ranks said, by the time it is over."""

    def __init__(self, seed: int, folder: Path, seconds: float, ranks_per_host: int) -> None:
        self.draw = random.Random(seed)
        self.hosts = max(2, self.draw.choice((4, 5, 6)) // ranks_per_host)
        self.ranks_per_host = ranks_per_host
        self.ranks = self.hosts * ranks_per_host
        self.seconds = seconds
        self.seed = seed
        self.output = folder / "launcher"
        self.said = folder / "ranks"
        self.said.mkdir()
        # Without it Open MPI ends all ranks that have a connection to a dead rank.
        self.launcher = folder / "mpiexec"
        self.launcher.write_text('#!/bin/sh\nexec mpiexec --with-ft ulfm "$@"\n')
        self.launcher.chmod(0o755)
        # How a rank ends, which the launcher does not tell: 128 and the signal.
        self.starter = folder / "start"
        self.starter.write_text(
            f'#!/bin/sh\n"$@"\ncode=$?\necho "process ended with $code" > {self.said}/end.$$\n'
            "[ $code -gt 128 ] && kill -$((code - 128)) $$\nexit $code\n"
        )
        self.starter.chmod(0o755)
        self.faults: list[str] = []
        self.seen: dict[str, dict] = {}  # where ranks and connections stood when something was amiss

    def start(self) -> None:
        longest = self.seconds + 4 * (WATCHDOG_S + SLACK_S)  # the last fault is to meet it at work
        program = [
            str(self.starter),
            str(PROGRAM),
            str(longest),
            str(self.seed),
            str(WATCHDOG_S),
            str(self.said),
        ]
        words = ["run", "--mpiexec", str(self.launcher), "--timeout", str(longest + 30), *program]
        with open(self.output, "w") as output:
            self.process = subprocess.Popen([*TESTBED, *words], stdout=output, stderr=subprocess.STDOUT)
        self.wait_for(lambda: len(self.pids()) == self.ranks, 40, "the program did not start")

    def lines(self) -> list[str]:
        files = [*sorted(self.said.iterdir()), self.output]
        return [
            line for file in files if file.exists() for line in file.read_text(errors="replace").splitlines()
        ]

    def pids(self) -> dict[int, int]:
        found = (re.match(r"rank (\d+) pid (\d+)$", line) for line in self.lines())
        return {int(m[1]): int(m[2]) for m in found if m}

    def rounds(self) -> int:
        return sum(line.startswith("round ") for line in self.lines())

    def errors(self) -> dict[int, tuple[float, str]]:
        found = (TEXT.match(line) for line in self.lines())
        return {int(m[1]): (float(m[2]), m[3]) for m in found if m}

    def wait_for(self, condition, patience_s: float, otherwise: str) -> None:
        end = time.monotonic() + patience_s
        while not condition():
            if time.monotonic() > end:
                raise RuntimeError(otherwise)
            time.sleep(0.05)

    def passing_fault(self, kind: str) -> None:
        rank = self.draw.randrange(self.ranks)
        host = rank // self.ranks_per_host  # as the test network places them
        seconds = round(self.draw.uniform(0.3, 3), 1)
        victim = f"rank {rank}" if kind == "pause" else f"host {host + 1}"
        self.faults.append(f"{kind} {victim} for {seconds} s")
        begin, end = {
            "slow": (
                lambda: testbed("port", str(host + 1), "5mbit"),
                lambda: testbed("port", str(host + 1), "50mbit"),
            ),
            "pause": (
                lambda: os.kill(self.pids()[rank], signal.SIGSTOP),
                lambda: os.kill(self.pids()[rank], signal.SIGCONT),
            ),
            "switch": (lambda: switch(False), lambda: switch(True)),
        }[kind]
        begun = time.monotonic()
        begin()
        time.sleep(seconds)
        end()
        self.faults[-1] += f" ({time.monotonic() - begun:.1f})"
        self.move_on()

    def move_on(self) -> None:
        """Until a round more is over."""
        before = self.rounds()
        self.wait_for(
            lambda: self.rounds() > before or self.errors() or self.process.poll() is not None,
            WATCHDOG_S + SLACK_S,
            f"nothing moves after {self.faults[-1]}",
        )
        if self.errors():
            self.seen["tcp"] = self.connections()
            self.seen["stacks"] = {r: _stack(pid) for r, pid in self.pids().items() if r not in self.errors()}
            raise RuntimeError(f"not survived: {self.faults[-1]}: {self.errors()}")

    def connections(self) -> dict[str, list[str]]:
        """Those with bytes that were not sent, answered or read, by host. "backoff": TCP sends again ever
        more seldom."""
        up = network.current(os.environ["NUICE_TESTBED"])
        found = {}
        for host in up.hosts:
            command = ["ip", "netns", "exec", up.host(host), "ss", "-tinOH", "state", "established"]
            said = subprocess.run(command, capture_output=True, text=True, timeout=10).stdout
            found[str(host)] = [line for line in said.splitlines() if line.split()[:2] != ["0", "0"]]
        return found

    def wait_for_end(self, survivors: set[int]) -> None:
        """Until all of them have given up. Late is not forever: what each waits in is kept, to tell."""

        def over() -> bool:
            return survivors <= set(self.errors())

        try:
            self.wait_for(over, WATCHDOG_S + SLACK_S, f"hang after {self.faults[-1]}")
        except RuntimeError:
            silent = survivors - set(self.errors())
            self.seen["tcp"] = self.connections()
            self.seen["stacks"] = {r: _stack(pid) for r, pid in self.pids().items() if r in silent}
            self.wait_for(over, 30, f"hang after {self.faults[-1]}")
            raise RuntimeError(f"late after {self.faults[-1]}: {self.errors()}") from None

    def reason(self, error: Exception) -> str:
        """A rank that MPI itself has ended by a signal has nothing to say, and is not one that hangs."""
        signals = sorted({line.split("Signal: ")[1] for line in self.lines() if "Signal: " in line})
        return f"crash, {signals}: {error}" if signals else str(error)

    def fatal_fault(self, kind: str) -> dict[str, float]:
        victim = self.draw.randrange(self.ranks)
        self.faults.append(kind if kind == "cut" else f"{kind} rank {victim}")
        survivors = set(range(self.ranks)) - (set() if kind == "cut" else {victim})
        pids = self.pids()
        begin = time.clock_gettime(time.CLOCK_MONOTONIC)
        if kind == "cut":
            switch(False)
        else:
            os.kill(pids[victim], signal.SIGKILL if kind == "kill" else signal.SIGSTOP)
        try:
            self.wait_for_end(survivors)
        finally:
            if kind == "cut":
                switch(True)
        errors = self.errors()
        named = any(f"rank {victim}" in text.split("gives up", 1)[-1] for _, text in errors.values())
        if kind != "cut" and not named:
            raise RuntimeError(f"rank {victim} is not named: {errors}")
        return {
            "first_s": min(t for t, _ in errors.values()) - begin,
            "last_s": max(t for t, _ in errors.values()) - begin,
        }

    def run(self) -> dict:
        shape = ["--hosts", str(self.hosts), "--ranks-per-host", str(self.ranks_per_host)]
        testbed("up", "--preset", "fast", *shape)
        try:
            self.start()
            end = time.monotonic() + self.seconds * 0.6
            while time.monotonic() < end:
                time.sleep(self.draw.uniform(0.2, 2))
                self.passing_fault(self.draw.choice(PASSING))
            result = self.fatal_fault(self.draw.choice(FATAL))
        finally:
            wrong = [line for line in self.lines() if "WRONG" in line]
            for pid in self.pids().values():
                if str(PROGRAM.name) in _name(pid):
                    os.kill(pid, signal.SIGKILL)
            if hasattr(self, "process"):
                self.process.terminate()
                self.process.wait(30)
            testbed("down")
        if wrong:
            raise RuntimeError(wrong[0])
        return result


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def _stack(pid: int) -> list[str]:
    """Where a process stands, by gdb where there is one."""
    if shutil.which("gdb") is None:
        return ["no gdb here"]
    command = ["gdb", "--batch", "-p", str(pid), "-ex", "bt 30"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return [line for line in done.stdout.splitlines() if line.startswith("#")]


def run_episode(seed: int, seconds: float, ranks_per_host: int) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        episode = Episode(seed, Path(folder), seconds, ranks_per_host)
        entry = {"seed": seed, "hosts": episode.hosts, "ranks_per_host": ranks_per_host}
        try:
            entry |= episode.run() | {"survived": True}
        except (RuntimeError, subprocess.TimeoutExpired, OSError) as error:
            entry |= {"survived": False, "why": episode.reason(error), "output": episode.lines()[-30:]}
            entry |= episode.seen
        return entry | {"rounds": episode.rounds(), "faults": episode.faults}


def summary(entries: list[dict]) -> dict:
    faults = [fault.split()[0] for entry in entries for fault in entry["faults"]]
    last = [entry["last_s"] for entry in entries if "last_s" in entry]
    why = [entry.get("why", "") for entry in entries]
    return {
        "episodes": len(entries),
        "survived": sum(entry["survived"] for entry in entries),
        "not_outlived": sum(reason.startswith("not survived") for reason in why),
        "crashes": sum(reason.startswith("crash") for reason in why),
        "late": sum(reason.startswith("late") for reason in why),
        "hangs": sum(reason.startswith(("hang", "nothing moves")) for reason in why),
        "wrong": sum("WRONG" in reason for reason in why),
        "rounds": sum(entry["rounds"] for entry in entries),
        "faults": {kind: faults.count(kind) for kind in PASSING + FATAL},
        "watchdog_s": WATCHDOG_S,
        "last_heard_s": max(last, default=0),
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=60, help="how long in all (60)")
    parser.add_argument("--seed", type=int, default=1, help="of the first episode; the next has one more (1)")
    parser.add_argument("--episode", type=float, default=30, metavar="S", help="seconds of one episode (30)")
    parser.add_argument(
        "--ranks-per-host",
        type=int,
        default=1,
        metavar="R",
        help="of every host; above 1 there are 2 or 3 hosts (1)",
    )
    parser.add_argument("--replay", type=int, metavar="SEED", help="that episode only")
    parser.add_argument("--log", type=Path, help="a line of JSON per episode is added here")
    asked = parser.parse_args()
    os.environ.setdefault("NUICE_TESTBED", f"soak{os.getpid() % 1000}")
    os.environ["PATH"] = f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"
    end = time.monotonic() + 60 * asked.minutes
    entries: list[dict] = []
    seed = asked.seed if asked.replay is None else asked.replay
    while not entries or (asked.replay is None and time.monotonic() < end):
        entries.append(run_episode(seed, asked.episode, asked.ranks_per_host))
        print(json.dumps(entries[-1]), flush=True)
        if asked.log:
            with asked.log.open("a") as log:
                log.write(json.dumps(entries[-1]) + "\n")
        seed += 1
    print(json.dumps(summary(entries)), flush=True)
    return 0 if all(entry["survived"] for entry in entries) else 1


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: BSD-3-Clause
"""NUICE against an MPI that somebody has tuned: jobs on test networks, each with one setting of the MPI
library.

Every cell is one network, one pattern and one setting (defined in kit/settings.py). It is a separate job, in
which all methods are interleaved; NUICE's method is in every job, so that jobs can be compared. With MPI as
installed, NUICE has another job right after it, as in a program that uses NUICE, because windows that TCP
has advertised to MPI's methods stay until they are used up.

There are three peers (kit/three_peers.py): MPI as installed; tuned once, by the single setting that is best
on average over the patterns of that network; and tuned for each case, by the best setting for that pattern,
which no user can know beforehand. NUICE's figure is that of the job after MPI as installed. pressure:
connections into the busiest port x 2 packets, over the queue in front of it; above 1 no receive window is
small enough.

Settings are first screened with --screen repetitions on --screened patterns. Those within --near of the best
of a pattern (at most --finalists), and the best on average, get --reps on every pattern. --screen 0: all get
--reps. Cells that are in the file of --json are not run again, so a long sweep can be divided (--minutes).

A setting NAME:PARTS is not a tuning but a separate column, such as governor:LD_PRELOAD=/lib/g.so+eager=1m.
Variables that the MPI in use does not know are listed, and their settings skipped.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

import nuice
from cases.applications import one_exchange
from cases.network import bound_s, loads
from kit import KIB, MEDIAN, ROOT, Case, Column, Failed, Place, Table, megabits, place, scratch
from kit.applications import application
from kit.patterns import airfoil_of_volume, everybody, hot, near_and_far, uniform
from kit.plan_map import draw_map
from kit.settings import KNOBS, Setting, UnknownKnob, family, names_in, setting, usual_settings
from kit.three_peers import (
    INSTALLED,
    REPS,
    best_nuice,
    best_peer,
    filled,
    losses,
    networks_of,
    three_peers,
)
from nuice.cli.bench import find_program

PACKET = 1514  # bytes on the wire
OURS = "coloring:async"
LEARNING = 14  # the exchanges in which auto chooses its method and windows are set
RESULTS = ROOT / "docs" / "explanation" / "results"


def heavy_tail(n):
    """8 partners. A message is 2 KiB times a power of two, up to 256 KiB; all sizes are equally frequent."""
    sources, targets, _ = map(np.asarray, uniform(n, 8, 1).entries())
    sizes = 2048 << np.random.default_rng(1).integers(0, 8, len(sources))
    messages = zip(sources.tolist(), targets.tolist(), sizes.tolist(), strict=True)
    return nuice.CommMatrix.from_messages(n, list(messages))


def one_partner(n):
    return nuice.CommMatrix.from_messages(n, [(r, (r + n // 2) % n, 512 * KIB) for r in range(n)])


def amg2013(n):
    """Returns AMG2013's matrix, scaled so that the busiest of 64 ranks sends 1 MiB."""
    if n != 64:
        raise Failed(f"amg2013 is of 64 ranks, and this network has {n}: fast:ranks=4 has 64")
    return one_exchange(application("amg2013-64"), 1 << 20)


PATTERNS = {
    "amg2013": amg2013,
    "d8": lambda n: uniform(n, 8, 64 * KIB),
    "dense": lambda n: everybody(n, 32 * KIB),
    "heavy": heavy_tail,
    "hot": lambda n: hot(n, 64 * KIB),
    "mixed": lambda n: uniform(n, 8, 8 * KIB, 32),
    "airfoil": lambda n: airfoil_of_volume(9428, n),
    "one": one_partner,
    "dense8k": lambda n: everybody(n, 8 * KIB),
    "dense512k": lambda n: everybody(n, 512 * KIB),
    "d8_1k": lambda n: uniform(n, 8, KIB),
    "tiny": lambda n: everybody(n, 100),
    "near_far": lambda n: near_and_far(n, 64 * KIB),
}


def port_pressure(matrix, where: Place) -> float:
    """Returns the connections into the busiest port x 2 packets, divided by the queue of its ports."""
    per_host, ports = where.settings["ranks_per_host"], where.settings["ports_per_host"]
    src, dst, _ = map(np.asarray, matrix.entries())
    away = src // per_host != dst // per_host
    pairs = {(int(s), int(d)) for s, d in zip(src[away], dst[away], strict=True)}
    into = np.bincount([d // per_host for _, d in pairs], minlength=1).max()
    return float(into * 2 * PACKET / (ports * KIB * int(where.settings["queue"].removesuffix("k"))))


class Job:
    """The cells of one network with one MPI."""

    def __init__(self, where: Place, network: str, options) -> None:
        self.where, self.network, self.options = where, network, options
        self.how = {"program": options.bench, "mpiexec": options.mpiexec}
        per_host, uplink = where.settings["ranks_per_host"], where.settings["uplink"]
        self.further = ["--hosts", "auto"] if per_host > 1 else []
        if uplink:
            half, slots = where.settings["hosts"] // 2, megabits(uplink) // megabits(where.settings["rate"])
            self.further = ["--topology", f"tree:{half}x2/{half // slots}"]
        library = self._ask(())["mpi_library"]
        self.family = family(library, options.netmod)
        maker = "Open MPI" if self.family == "openmpi" else "MPICH"
        version = re.search(r"v?\d+(\.\d+)+", library)
        self.mpi = " ".join(filter(None, (maker, version and version[0], options.netmod)))

    def _ask(self, prefix) -> Mapping:
        """Returns nuice-bench's report on MPI from a minimal job."""
        words = [*prefix, self.options.bench or find_program("nuice-bench"), "--matrix"]
        with scratch() as folder:
            nuice.save_matrix_market(folder / "m.mtx", nuice.CommMatrix.from_messages(2, [(0, 1, 8)]))
            words += [folder / "m.mtx", "--schedulers", "isend", "--reps", 1, "--json"]
            done = self.where.run(words, ranks=2, mpiexec=self.options.mpiexec)
        return json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))

    def settings(self) -> list[Setting]:
        """Returns the requested settings without those that this MPI does not know, which are listed."""
        found = []
        for word in [*(self.options.settings or usual_settings(self.family)), *self.options.also]:
            try:
                found.append(setting(word, self.family))
            except UnknownKnob as unknown:
                print(f"{self.mpi} does not know {unknown}: {word} is skipped", file=sys.stderr)
        asked = names_in(found)
        unknown = {
            *self._ask(["/usr/bin/env", *(f"{k}={v}" for k, v in asked.items())])["mpi_settings"]["unknown"]
        }
        for each in found:
            if wrong := unknown & {*asked} & {*each.environment}:
                print(
                    f"{self.mpi} does not know {', '.join(sorted(wrong))}: {each.name} is skipped",
                    file=sys.stderr,
                )
        return [each for each in found if not unknown & {*asked} & {*each.environment}]

    def cell(self, pattern: str, each: Setting, methods: list[str], reps: int) -> dict:
        """Measures a cell. Each timed exchange follows an untimed one by the same method, because TCP
        remembers losses."""
        matrix = PATTERNS[pattern](self.where.ranks)
        more = [*self.further]
        more += ["--settle", 1] if reps >= self.options.reps else []
        jobs = [(methods, 1)]
        if "auto" in methods:
            peers = [method for method in methods if method not in ("auto", OURS)]
            jobs = [(peers, 1), (["auto", OURS], LEARNING)]
        records = []
        for job, warmup in jobs:
            words = ["--warmup", warmup, *more]
            records += self.where.bench(matrix, job, reps, *words, words_before=each.prefix, **self.how)
        return {
            "mpi": self.mpi,
            "network": self.network,
            "cc": self.where.settings["cc"],
            "pattern": pattern,
            "setting": each.name,
            "environment": {name: without_folders(value) for name, value in each.environment.items()},
            "is_column": each.is_column,
            "reps": reps,
            "methods": {r["method"]: figures(r) for r in records if not r["refused"]},
            "found": records[0]["mpi_settings"],
            "bound_s": bound_s(matrix, self.where),
            "port_messages": loads(matrix, self.where.settings)[1],
            "pressure": port_pressure(matrix, self.where),
        }


def without_folders(value: str) -> str:
    """Shortens paths to file names, because rows are published."""
    return Path(value).name if value.startswith("/") else value


def figures(record: Mapping) -> dict:
    all_s = record["exchange_seconds_all"][record["warmup"] :]
    return {
        "median_s": record[MEDIAN],
        "slowest_s": max(all_s),
        "all_s": [round(s, 6) for s in all_s],
        "sent_again": record["tcp_segments_sent_again"],
        "choice": record.get("choice"),
    }


def finalists(cells, options) -> set[str]:
    """Returns the screened settings that are worth measuring well."""
    chosen = {INSTALLED}
    for settings in cells.values():
        times = sorted((best_peer(row)[0], name) for name, row in settings.items() if not row["is_column"])
        chosen |= {name for s, name in times[: options.finalists] if s <= options.near * times[0][0]}
    by_setting = losses(cells)
    return chosen | {*sorted(by_setting, key=by_setting.__getitem__)[:2]}


class Sweep:
    """All cells of a network except those that have been measured."""

    def __init__(self, job: Job, done: list[dict], stop_s: float) -> None:
        self.job, self.options, self.rows, self.stop_s = job, job.options, list(done), stop_s

    def missing(self, pattern: str, each: Setting, reps: int) -> bool:
        return not any(
            (row["mpi"], row["network"], row["pattern"], row["setting"])
            == (self.job.mpi, self.job.network, pattern, each.name)
            and row["reps"] >= reps
            for row in self.rows
        )

    def run(self, patterns, settings, reps: int) -> Iterator[dict]:
        for pattern in patterns:
            for each in settings:
                if time.monotonic() >= self.stop_s or not self.missing(pattern, each, reps):
                    continue
                full = each.name == INSTALLED and reps >= self.options.reps
                ours = ["auto", OURS] if full else [OURS]
                peers = self.options.peers if reps >= self.options.reps else self.options.screen_peers
                row = self.job.cell(pattern, each, [*ours, *peers], reps)
                self.rows.append(row)
                yield row

    def of_network(self) -> Iterator[dict]:
        options, settings = self.options, self.job.settings()
        patterns = options.patterns
        if options.screen and len(settings) > options.finalists + 2:
            screened = [p for p in options.screened if p in patterns] or patterns[:1]
            yield from self.run(screened, settings, options.screen)
            cells = networks_of(self.rows).get((self.job.mpi, self.job.network), {})
            cells = {pattern: cells[pattern] for pattern in screened if INSTALLED in cells.get(pattern, {})}
            keep = finalists(cells, options) if cells else set()
            settings = [each for each in settings if each.name in keep or each.is_column]
        yield from self.run(patterns, settings, options.reps)


def rows(options):
    done = list(options.done)
    stop_s = time.monotonic() + 60 * options.minutes
    yield from measure(options, done, stop_s)
    if options.picture:
        draw_map(three_peers(done, REPS), Path(options.picture))
    for page in map(Path, options.fill):
        page.write_text(filled(page.read_text(), RESULTS))


def measure(options, done, stop_s):
    for network in options.networks:
        if time.monotonic() >= stop_s:
            return
        with place(network, 0, cc="bbr") as where:
            sweep = Sweep(Job(where, network, options), done, stop_s)
            for row in sweep.of_network():
                done.append(row)
                yield row


class ThreePeers(Table):
    """A table that is made from all cells of a pattern together."""

    def of(self, rows, options):
        least = min(options.reps, REPS)
        return super().of(list(three_peers(rows, least)), options)


def cell(row):
    seconds, method = best_peer(row)
    return f"{1e3 * seconds:.4g} {method} ({1e3 * best_nuice(row)[0]:.4g})"


def columns_of(row):
    return " ".join(f"{name} {1e3 * seconds:.4g}" for name, seconds in row["columns"].items()) or None


CASE = Case(
    rows,
    needs=["mpi", "testbed"],
    resumes=True,
    options=dict(
        networks=(
            ["fast", "multi", "16x100/16k"],
            "presets or HOSTSxMBITS/QUEUEk, with :CC, :rto_min=TIME, :ranks=N after it",
        ),
        patterns=(
            ["d8", "dense", "heavy", "hot", "airfoil", "one", "d8_1k", "tiny"],
            f"some of {', '.join(PATTERNS)}",
            tuple(PATTERNS),
        ),
        settings=([], "of the MPI; by default a sweep over buffers and eager limits"),
        also=([], "further settings, such as NAME:LD_PRELOAD=FILE"),
        peers=(["alltoallv", "isend", "nbx"], "MPI's own methods"),
        reps=9,
        screen=(3, "repetitions in which settings are screened; 0: no screening"),
        screen_peers=(["isend"], "MPI's own methods while screening"),
        screened=(["d8", "dense", "hot"], "patterns to screen on", tuple(PATTERNS)),
        finalists=(3, "settings of a pattern that are measured with --reps"),
        near=(1.15, "and take at most that multiple of the best"),
        minutes=(600.0, "after which no further cell begins"),
        fill=([], "documents whose tables of this are filled again, of docs/explanation/results"),
        picture=(
            "",
            "file for the map of where a plan pays, of all rows; with --minutes 0 of the file's alone",
        ),
        netmod=("", "of MPICH: ofi or ucx", ("", *(name[6:] for name in KNOBS if name.startswith("mpich-")))),
        bench="",
        mpiexec="",
    ),
    quick=dict(
        networks=["8x50/32k", "8x100/8k"],
        patterns=["d8", "dense", "hot"],
        settings=[
            "installed",
            "rcvbuf=2560+eager=1m",
            "rcvbuf=4k",
            "rcvbuf=4k+eager=1m",
            "rcvbuf=16k+eager=1m",
        ],
        reps=5,
        screen=0,
    ),
    minutes=90,
    tables=[
        Table(
            "{row[mpi]}, {row[network]}: ms of the best of MPI's methods (NUICE in the same job)",
            "setting | reps d",
            each="network",
            across="pattern",
            cell=cell,
        ),
        ThreePeers(
            "Three peers, ms; NUICE in the job with MPI as installed, times faster than each; {o.reps} reps",
            "mpi | network | pattern | pressure .2f | bound = bound_s*1e3 .1f",
            "MPI_Alltoallv = alltoallv_s*1e3 .4g | installed = installed_s*1e3 .4g | once_s*1e3 .4g | once",
            "each case = each_s*1e3 .4g | each | NUICE = nuice_s*1e3 .4g | nuice",
            "/ installed = over_installed .2f | / once = over_once .2f | / each = over_each .2f",
            Column("further columns", columns_of),
        ),
    ],
)

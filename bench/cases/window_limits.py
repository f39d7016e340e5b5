# SPDX-License-Identifier: BSD-3-Clause
"""The cost of windows of TCP connections, and the steadiness of exchanges with them.

connections: processor time of the library's thread, as a share of one core, if a process has 1,000
  connections and 16 of them receive (bench/flow_programs/connections.cpp, 2 hosts).
unexpected: growth of a rank's memory that computes for 10 s while each other rank sends it 512 KiB, just
  short enough to be sent without the receiver's consent; with `nuice run` and without
  (bench/flow_programs/unexpected.cpp, 16 hosts with 4 ranks each).
steady: the 95th percentile of 40 exchanges over their median, without windows and with them. On `fast` 16
  ranks occupy both cores of the test machine all the time; on `shallow` only the network decides.
changes: in a job on `fast` the ports of one host become 5 times slower, and later as fast as at first. times:
  the median of the exchanges from the third after a change, over the median of a job that has this rate
  from its beginning; first: the same for the first exchange after the change.
traffic: the same, if another job sends from one of the hosts to another as fast as it can, and later stops.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from statistics import median

from cases.tuned import PATTERNS
from kit import (
    KIB,
    MEDIAN,
    ROOT,
    Case,
    Failed,
    Table,
    in_turns,
    network,
    objects,
    place,
    quantile,
    scratch,
    testbed,
)
from kit.patterns import hot
from kit.place import saved
from nuice.cli.bench import find_program

LEARNING = 14  # exchanges until windows have reached their size
METHOD = "coloring:async"


def program_of(options, name):
    return ROOT / options.build / "bench" / "flow_programs" / name


def all_s(record):
    return record["exchange_seconds_all"][record["warmup"] :]


def exchange(where, pattern, reps, options, windows=True, warmup=LEARNING):
    words = [] if windows else ["/usr/bin/env", "NUICE_FLOW=off"]
    more = ["--warmup", warmup]
    how = {"words_before": words, "program": options.bench}
    return where.bench(PATTERNS[pattern](where.ranks), [METHOD], reps, *more, **how)[0]


def connections(options):
    with place("2x100/64k", 2) as where:
        for number in options.connections:
            words = [program_of(options, "connections"), number, min(number, 16), 5]
            (row,) = objects(where.run(words, ranks=2).stdout)
            yield row | {"part": "connections", "core": row["thread_s"] / row["seconds"]}


def unexpected(options):
    with network("--preset", "fast", "--ranks-per-host", "4") as where:
        words = [program_of(options, "unexpected"), 512 * KIB, 10]

        def grown(prefix):
            (row,) = objects(where.run([*prefix, *words]).stdout)
            return row["grown_bytes"]

        nuice_run = [find_program("nuice"), "run", "--"]
        ours, plain = in_turns(options.rounds, lambda: grown(nuice_run), lambda: grown([]))
        yield {
            "part": "unexpected",
            "ranks": where.ranks,
            "plain_bytes": median(plain),
            "windows_bytes": median(ours),
            "more_bytes": median(ours) - median(plain),
        }


def steady(options):
    for name in options.networks:
        with place(name, 0, cc="bbr") as where:
            for pattern in options.patterns:
                for windows in (False, True):
                    times = all_s(exchange(where, pattern, options.reps, options, windows))
                    yield {
                        "part": "steady",
                        "network": name,
                        "pattern": pattern,
                        "windows": "with" if windows else "without",
                        "median_s": median(times),
                        "p95_s": quantile(times, 0.95),
                        "spread": quantile(times, 0.95) / median(times),
                    }


def changes(options):
    with place("fast", 0, cc="bbr") as where:
        rate = int(where.settings["rate"].removesuffix("mbit"))
        usual, slow = f"{rate}mbit", f"{rate // 5}mbit"
        best = {}
        for each in (slow, usual):
            testbed("port", "1", each)
            best[each] = exchange(where, "d8", 9, options)[MEDIAN]

        def slower_for(seconds):
            testbed("port", "1", slow)
            time.sleep(seconds)
            testbed("port", "1", usual)

        names = ("port slower", "port faster")
        yield from after_changes(names, best[usual], best[slow], slower_for, where, options)


def traffic(options):
    with place("fast", 0, cc="bbr") as where:

        def other_job(seconds):
            """The host of rank 1 sends to that of rank 0 as fast as it can, without windows."""
            limit = ["/usr/bin/timeout", f"{seconds:.0f}", "/usr/bin/env", "NUICE_FLOW=off"]
            with scratch() as folder:
                words = [*saved(hot(2, KIB * KIB), folder), "--schedulers", "isend", "--reps", 10**6]
                program = options.bench or find_program("nuice-bench")
                where.run([*limit, program, *words], ranks=2, status=None)

        alone = exchange(where, "d8", 9, options)[MEDIAN]
        with began(lambda: other_job(4 * options.seconds)):
            time.sleep(options.seconds / 2)
            shared = exchange(where, "d8", 9, options)[MEDIAN]
        names = ("traffic comes", "traffic goes")
        yield from after_changes(names, alone, shared, other_job, where, options)


@contextmanager
def began(run):
    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        thread.join()


def after_changes(names, usual_s, slow_s, make_slow_for, where, options):
    """Runs exchanges that become slow and then as fast as at first, and returns the times after both changes.
    The exchange during which a change occurs is left out."""

    def change():
        time.sleep(options.seconds)
        make_slow_for(options.seconds)

    # Exchanges occupy the machine, so it may take seconds until a change takes effect.
    reps = round((3 * options.seconds + 20) / usual_s + options.seconds / slow_s)
    with began(change):
        times = all_s(exchange(where, "d8", reps, options, warmup=1))
    limit = (usual_s * slow_s) ** 0.5
    first = first_of_run(times, lambda s: s > limit, 0)
    again = first_of_run(times, lambda s: s <= limit, first + 1)
    for name, begin, end, new_s in (
        (names[0], first, again, slow_s),
        (names[1], again, len(times), usual_s),
    ):
        after = times[begin + 1 : end - 1]
        if len(after) < 5:
            raise Failed(f"{name}: only {len(after)} exchanges after it")
        yield {
            "part": "changes",
            "change": name,
            "new_s": new_s,
            "first": after[0] / new_s,
            "times": median(after[2:]) / new_s,
        }


def first_of_run(times, is_wanted, begin):
    """Returns the first position from which a value and at least two of the next four are as wanted."""
    for i in range(begin, len(times) - 4):
        if is_wanted(times[i]) and sum(map(is_wanted, times[i : i + 5])) >= 3:
            return i
    milliseconds = [round(1e3 * s) for s in times]
    raise Failed(f"the change is not seen in the exchanges: {milliseconds} ms")


PARTS = {
    "connections": connections,
    "unexpected": unexpected,
    "steady": steady,
    "changes": changes,
    "traffic": traffic,
}


def rows(options):
    for part in options.parts:
        yield from PARTS[part](options)


def part(name, *columns):
    return Table(name, *columns, where=lambda row: row["part"] == name)


CASE = Case(
    rows,
    needs=["mpi", "testbed"],
    options=dict(
        parts=([*PARTS], f"some of {', '.join(PARTS)}", tuple(PARTS)),
        connections=([16, 1000], "of the receiving process"),
        networks=(["fast", "shallow"], "for steady, as the case `tuned` names them"),
        patterns=(["d8", "dense"], "for steady", tuple(PATTERNS)),
        reps=40,
        rounds=3,
        seconds=(8.0, "for changes: from one change to the next"),
        bench="",
        build=("build/release", "with the programs of bench/flow_programs"),
    ),
    quick=dict(
        parts=[name for name in PARTS if name != "traffic"],  # whose beginning a busy machine hides
        connections=[16, 100],
        networks=["8x50/32k"],
        patterns=["d8"],
        reps=5,
        rounds=1,
        seconds=3.0,
    ),
    minutes=6,
    tables=[
        part("connections", "connections | active | % of a core = core*100 .2f"),
        part(
            "unexpected",
            "ranks | plain MiB = plain_bytes/1048576 .1f | windows MiB = windows_bytes/1048576 .1f",
        ),
        part(
            "steady", "network | pattern | windows | median ms = median_s*1e3 .4g | p95 / median = spread .2f"
        ),
        part("changes", "change | new ms = new_s*1e3 .4g | first .2f | times .2f"),
    ],
)

# SPDX-License-Identifier: BSD-3-Clause
"""Messages that leave as soon as each is packed (option parts, ready()), compared with packing all first.

Rank 0 packs a message for each other rank with several threads. The interleaved methods are: packing alone;
packing all messages, then the plan `auto`; packing all, then the same parts; and making each part ready when
it is packed. Figures are medians of the slowest rank. The gain is bounded by the time of packing: 2 if
packing and sending take equally long, none if either is short.
"""

from kit import KIB, ROOT, Case, Table, objects, place


def rows(options):
    program = ROOT / options.build / "bench" / "call_programs" / "ready_parts"
    with place(options.testbed, options.messages + 1, hosts=options.messages + 1) as where:
        for size in options.sizes:
            words = [program, size, options.threads, options.work, options.reps]
            found = objects(where.run(words, ranks=options.messages + 1).stdout)
            last = found[-1]["seconds"]
            for row in found:
                yield row | {"place": where.name, "bytes": size, "times_slower": row["seconds"] / last}


CASE = Case(
    rows,
    needs=["mpi"],
    options=dict(
        messages=(8, "of rank 0, one for each other rank"),
        threads=(4, "that pack"),
        work=(64, "numbers that are read for each number of a message"),
        sizes=[256 * KIB],
        reps=21,
        testbed="",
        build=("build/release", "with the program ready_parts"),
    ),
    quick=dict(reps=3, messages=2, work=4, sizes=[8 * KIB]),
    minutes=1,
    tables=Table(
        "{o.messages} messages packed by {o.threads} threads, {o.testbed}",
        "bytes | way | ms = seconds*1e3 .3f | fastest ms = fastest_s*1e3 .3f | x ready = times_slower .2f",
        group="bytes",
    ),
)

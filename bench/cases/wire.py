# SPDX-License-Identifier: BSD-3-Clause
"""Doubles of a halo sent unchanged, as float32 and as bfloat16: time, and the resulting error.

A gather from several partners, with the three formats interleaved; figures are medians of the slowest rank.
The error is the largest relative error of all values, compared with the unit roundoff of wire_roundoff().
"""

from kit import KIB, ROOT, Case, Table, objects, place


def rows(options):
    program = ROOT / options.build / "bench" / "halo_programs" / "halo_wire"
    how = options.method.split(":")
    with place(options.testbed, options.ranks, hosts=4 if options.quick else 0) as where:
        for size in options.sizes:
            words = [program, options.partners, size, options.reps, *how]
            found = objects(where.run(words).stdout)
            for row in found:
                yield row | {"place": where.name, "times_faster": found[0]["exchange_s"] / row["exchange_s"]}


def wrong(rows, options):
    bad = [row["wire"] for row in rows if row["largest_error"] > 1.01 * row["roundoff"]]
    return f"errors above the roundoff: {', '.join(bad)}" if bad else ""


CASE = Case(
    rows,
    needs=["mpi"],
    options=dict(
        ranks=4,
        partners=8,
        sizes=[256 * KIB],
        reps=21,
        method=("coloring:async", "SCHEDULER:EXECUTOR"),
        testbed="",
        build=("build/release", "with the program halo_wire"),
    ),
    quick=dict(reps=3, partners=2, ranks=2, sizes=[8 * KIB]),
    minutes=1,
    tables=Table(
        "a halo's doubles, {o.testbed}, {o.method}, {o.partners} partners",
        "bytes | wire | exchange ms = exchange_s*1e3 .3f | slowest ms = slowest_s*1e3 .3f",
        "times faster = times_faster .2f | largest error = largest_error .2g | roundoff .2g",
        group="bytes",
    ),
    wrong=wrong,
)

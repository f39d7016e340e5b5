# SPDX-License-Identifier: BSD-3-Clause
"""The cost of a start and a wait from C++, C and Fortran: one rank sends itself 8 bytes.

All languages run interleaved in one process. Figures are medians over the rounds, in nanoseconds per start
and wait, and the differences to C++. Python: python_overhead.
"""

from kit import ROOT, Case, Table, here, objects


def rows(options):
    program = ROOT / options.build / "bench" / "call_programs" / "call_cost"
    found = objects(here(1).run([program, options.pairs, options.rounds]).stdout)
    for row in found:
        yield row | {"over_cpp_s": row["pair_s"] - found[0]["pair_s"]}


CASE = Case(
    rows,
    needs=["mpi"],
    options=dict(
        pairs=(200000, "of start and wait in a round"),
        rounds=15,
        build=("build/release", "with the program call_cost"),
    ),
    quick=dict(pairs=100, rounds=3),
    minutes=0.1,
    tables=Table("ns", "language | pair ns = pair_s*1e9 .1f | over C++ ns = over_cpp_s*1e9 .1f"),
)

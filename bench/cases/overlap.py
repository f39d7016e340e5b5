# SPDX-License-Identifier: BSD-3-Clause
"""What working on each message as it lands gains on a network (003 s.6): `overlap` on the test network.

Builds examples/first_exchange against the NUICE of .venv and runs its `overlap`. The work per message takes a
part of the time that the port needs for the message, all of it, or twice that time. It prints the times of
exchange and work separately (interleaved) and together.
"""

import sys
from pathlib import Path

from kit import ROOT, Case, Table, call, place

BUILD = ROOT / "build" / "first_exchange"


def built():
    prefix = Path(sys.executable).parents[1]
    call(["cmake", "-S", ROOT / "examples/first_exchange", "-B", BUILD, f"-DCMAKE_PREFIX_PATH={prefix}"])
    call(["cmake", "--build", BUILD, "--target", "overlap"])
    return BUILD / "overlap"


def rows(options):
    program = built()
    with place(options.preset, 0, hosts=4 if options.quick else 0) as where:
        port_us = 1e6 * options.kib * 1024 / where.host_bytes_per_s
        for share in (0.25, 0.5, 1, 2):
            for executor in options.executors:
                words = [program, options.kib, round(share * port_us), options.partners, executor]
                printed = where.run(words, timeout_s=120).stdout.strip()
                yield {"share": share, "port_us": port_us, "executor": executor, "printed": printed}


CASE = Case(
    rows,
    needs=["mpi", "testbed"],
    options=dict(
        preset=("shallow", "of nuice-testbed"),
        kib=(64, "of a message"),
        partners=8,
        executors=(["phased", "async"], "of the exchange"),
    ),
    quick=dict(partners=3, executors=["phased"]),
    minutes=2,
    tables=Table(
        "work of a share of the port's {row[port_us]:.0f} us a message", "share g | overlap = printed"
    ),
)

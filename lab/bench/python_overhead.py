#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a start and a wait cost from Python: nuice.mpi beside the same calls of libnuice from C and persistent
requests of mpi4py, in one run on one rank that sends itself 8 bytes, so that nothing but the calls is timed.

    mpiexec -n 1 python lab/bench/python_overhead.py [--json] [--reps 20000] [--rounds 15]

Medians over the rounds, in microseconds for one pair; the ways take turns in every round.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
from mpi4py import MPI

import nuice.mpi
from nuice.mpi import library_path

LOOP = """
#include <stdint.h>
typedef int (*Call)(void*);
int pairs(Call start, Call wait, void* exchange, int64_t count) {
  int status = 0;
  for (int64_t i = 0; i < count && status == 0; ++i) {
    status = start(exchange);
    if (status == 0) status = wait(exchange);
  }
  return status;
}
"""


def c_loop(folder: Path) -> ctypes.CDLL:
    (folder / "loop.c").write_text(LOOP)
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", folder / "loop.c", "-o", folder / "loop.so"], check=True)
    loop = ctypes.CDLL(str(folder / "loop.so"))
    loop.pairs.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
    return loop


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reps", type=int, default=20000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    comm, send, receive = MPI.COMM_SELF, np.ones(1), np.zeros(1)
    plan = nuice.mpi.Plan(comm, {0: 8}, "coloring")
    exchange = plan.bind(send, receive)
    library = ctypes.CDLL(library_path)
    start, wait = (
        ctypes.cast(call, ctypes.c_void_p)
        for call in (library.nuice_exchange_start, library.nuice_exchange_wait)
    )
    requests = [comm.Recv_init(receive, 0), comm.Send_init(send, 0)]

    def from_python() -> None:
        for _ in range(args.reps):
            exchange.Start()
            exchange.Wait()

    def from_mpi4py() -> None:
        for _ in range(args.reps):
            MPI.Prequest.Startall(requests)
            MPI.Request.Waitall(requests)

    with tempfile.TemporaryDirectory() as folder:
        loop = c_loop(Path(folder))

        def from_c() -> None:
            if loop.pairs(start, wait, exchange._handle, args.reps):
                raise RuntimeError("the exchange failed")

        ways = {"c": from_c, "python": from_python, "mpi4py": from_mpi4py}
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(args.rounds):
            for name, way in ways.items():
                began = time.perf_counter()
                way()
                seconds[name].append(time.perf_counter() - began)
    figures = {f"{name}_us": median(all_) / args.reps * 1e6 for name, all_ in seconds.items()}
    figures["over_c_us"] = figures["python_us"] - figures["c_us"]
    figures["to_mpi4py"] = figures["python_us"] / figures["mpi4py_us"]
    if args.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:12} {value:8.3f}")


if __name__ == "__main__":
    main()

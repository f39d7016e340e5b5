# SPDX-License-Identifier: BSD-3-Clause
"""The cost of a start and a wait from Python: nuice.mpi compared with the same calls of libnuice from C, and
with persistent requests of mpi4py.

One rank sends itself 8 bytes on MPI_COMM_SELF, so only the calls are timed. Figures are medians over the
rounds, in microseconds per start and wait; the methods are interleaved in every round.
"""

from __future__ import annotations

import ctypes
from statistics import median

import numpy as np

from kit import Case, Failed, Table, call, in_turns, scratch, timed

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


def c_loop() -> ctypes.CDLL:
    with scratch() as folder:
        source, library = folder / "loop.c", folder / "loop.so"
        source.write_text(LOOP)
        call(["cc", "-O2", "-shared", "-fPIC", source, "-o", library])
        loop = ctypes.CDLL(str(library))
    loop.pairs.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
    return loop


def rows(options):
    from mpi4py import MPI

    import nuice.mpi

    comm, send, receive = MPI.COMM_SELF, np.ones(1), np.zeros(1)
    plan = nuice.mpi.Plan(comm, {0: 8}, "coloring")
    exchange = plan.bind(send, receive)
    library, loop = ctypes.CDLL(nuice.mpi.library_path), c_loop()
    calls = (library.nuice_exchange_start, library.nuice_exchange_wait)
    start, wait = (ctypes.cast(each, ctypes.c_void_p) for each in calls)
    requests = [comm.Recv_init(receive, 0), comm.Send_init(send, 0)]

    def from_python() -> None:
        for _ in range(options.reps):
            exchange.Start()
            exchange.Wait()

    def from_mpi4py() -> None:
        for _ in range(options.reps):
            MPI.Prequest.Startall(requests)
            MPI.Request.Waitall(requests)

    def from_c() -> None:
        if loop.pairs(start, wait, exchange._handle, options.reps):
            raise Failed("the exchange failed")

    ways = {"c": from_c, "python": from_python, "mpi4py": from_mpi4py}
    taken = in_turns(options.rounds, *(lambda way=way: timed(way)[0] for way in ways.values()))
    us = {name: median(all_) / options.reps * 1e6 for name, all_ in zip(ways, taken, strict=True)}
    figures = {f"{name}_us": value for name, value in us.items()}
    yield figures | {"over_c_us": us["python"] - us["c"], "to_mpi4py": us["python"] / us["mpi4py"]}


CASE = Case(
    rows,
    needs=["mpi", "mpi4py", "compiler"],
    options=dict(reps=20000, rounds=15),
    quick=dict(reps=100, rounds=3),
    minutes=0.1,
    tables=Table("us", "c_us .3f | python_us .3f | mpi4py_us .3f | over_c_us .3f | to_mpi4py .3f"),
)

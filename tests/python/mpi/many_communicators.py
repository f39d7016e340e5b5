# SPDX-License-Identifier: BSD-3-Clause
"""Plans on many communicators: all kept as long as MPI has more, and one where MPI has none left,
which must be refused by name on all ranks; then there is room again for a plan.
"""

from __future__ import annotations

import sys

import numpy as np
from mpi4py import MPI

import nuice
import nuice.mpi

WORLD = MPI.COMM_WORLD
MANY = int(sys.argv[1])


def plan_on(comm: MPI.Comm) -> nuice.mpi.Plan:
    return nuice.mpi.Plan(comm, {(comm.rank + 1) % comm.size: 8})


def must_deliver(plan: nuice.mpi.Plan) -> None:
    send, receive = np.full(1, float(WORLD.rank)), np.zeros(1)
    with plan.bind(send, receive) as exchange:
        exchange.Start()
        exchange.Wait()
    assert receive[0] == (WORLD.rank - 1) % WORLD.size


kept: list[tuple[MPI.Comm, nuice.mpi.Plan]] = []
for _ in range(MANY):
    try:
        comm = WORLD.Dup()
        kept.append((comm, plan_on(comm)))
    except (MPI.Exception, nuice.Error):  # whose turn it was
        break
num_kept = len(kept)
assert WORLD.allgather(num_kept) == [num_kept] * WORLD.size
for comm, plan in kept:
    plan.Free()
    comm.Free()

taken: list[MPI.Comm] = []
try:
    while len(taken) < MANY:
        taken.append(WORLD.Dup())
except MPI.Exception:
    pass
refusal = ""
if len(taken) < MANY:
    try:
        plan_on(taken[0])
    except nuice.Error as error:
        refusal = f"{error.code}: {error}"
for comm in taken:
    comm.Free()
refusals = WORLD.allgather(refusal)
with plan_on(WORLD) as plan:
    must_deliver(plan)
if WORLD.rank == 0:
    print(f"kept: {num_kept} plans, {len(taken)} communicators without")
    print(f"refused on all ranks: {all(refusals)}")
    print(refusal)

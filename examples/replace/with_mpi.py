# SPDX-License-Identifier: BSD-3-Clause
"""Every step a rank sends each other one some numbers, and works with what it got."""

import numpy as np
from mpi4py import MPI

each, steps = 8, 50
comm = MPI.COMM_WORLD
ranks = np.arange(comm.size)
sc, rc = 1 + (comm.rank + 2 * ranks) % each, 1 + (ranks + 2 * comm.rank) % each
sd = rd = each * ranks
s = comm.rank + 0.01 * np.arange(each * comm.size)
r = np.zeros_like(s)
for _ in range(steps):
    comm.Alltoallv([s, (sc, sd), MPI.DOUBLE], [r, (rc, rd), MPI.DOUBLE])
    s[:] = 0.75 * s + 0.25 * r
total = comm.reduce(s.sum())
if comm.rank == 0:
    print(f"sum after {steps} steps: {total:.9f}")

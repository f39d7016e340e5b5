# SPDX-License-Identifier: BSD-3-Clause
"""A 2-D heat equation with planned exchanges; heat_mpi.py does the same with mpi4py alone.

mpiexec -n 4 python heat.py
"""

from grid import STEPS, Grid
from mpi4py import MPI

import nuice.mpi

comm = MPI.COMM_WORLD
grid = Grid(comm.rank, MPI.Compute_dims(comm.size, 2))

destinations = {rank: values.nbytes for rank, values in zip(grid.ranks, grid.send, strict=True)}
plan = nuice.mpi.Plan(comm, destinations, "coloring")
with plan.bind(grid.send, grid.receive) as halo:
    for _ in range(STEPS):
        grid.pack()
        halo.Start()
        halo.Wait()
        grid.unpack()
        grid.update()
plan.Free()

total = comm.reduce(grid.sum())
if comm.rank == 0:
    print(f"sum after {STEPS} steps: {total:.6f}")

# SPDX-License-Identifier: BSD-3-Clause
"""The twin of heat.py with mpi4py alone.

mpiexec -n 4 python heat_mpi.py
"""

from grid import STEPS, Grid
from mpi4py import MPI

comm = MPI.COMM_WORLD
grid = Grid(comm.rank, MPI.Compute_dims(comm.size, 2))

requests = []
for rank, send, receive in zip(grid.ranks, grid.send, grid.receive, strict=True):
    requests += [comm.Recv_init(receive, rank), comm.Send_init(send, rank)]
for _ in range(STEPS):
    grid.pack()
    MPI.Prequest.Startall(requests)
    MPI.Request.Waitall(requests)
    grid.unpack()
    grid.update()
for request in requests:
    request.Free()

total = comm.reduce(grid.sum())
if comm.rank == 0:
    print(f"sum after {STEPS} steps: {total:.6f}")

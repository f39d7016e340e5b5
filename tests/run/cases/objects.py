# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py: pickled objects, short halos, MPI_Alltoallv, a persistent halo; errors as exceptions."""

import sys

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, ranks = comm.rank, comm.size
left, right = (rank - 1) % ranks, (rank + 1) % ranks
lines = []
for step in range(5):
    requests = [comm.isend({"from": rank, "step": step}, right), comm.irecv(source=left)]
    lines.append(f"{rank} {MPI.Request.waitall(requests)[1]}\n")
send, got = np.full(30000, rank, "i4"), np.zeros(30000, "i4")
for _ in range(6):
    requests = [comm.Irecv(got, left), comm.Isend(send, right)]
    MPI.Request.Waitall(requests)
    requests = [comm.Irecv(got[:4], left), comm.Isend(send[:4], right), comm.Isend(send[:4], right)]
    for request in requests:
        request.Wait()
    comm.Recv(got[:4], left)
counts = [2000] * ranks
blocks = np.arange(2000 * ranks, dtype="i4") + rank
all_blocks = np.zeros_like(blocks)
for _ in range(6):
    comm.Alltoallv([blocks, counts], [all_blocks, counts])
    comm.Ialltoallv([blocks, counts], [all_blocks, counts]).Wait()
lines.append(f"{rank} {got.sum()} {all_blocks.sum()}\n")
try:
    comm.Send(send, ranks + 3)
except MPI.Exception as error:
    lines.append(f"{rank} {error.Get_error_class() == MPI.ERR_RANK}\n")
sys.stdout.write("".join(lines))  # at once, lest lines of two ranks mix

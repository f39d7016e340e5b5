# SPDX-License-Identifier: BSD-3-Clause
"""A master starts workers, all merge, and exchange among all of them."""

import os
import sys

import numpy as np
from mpi4py import MPI


def exchange(comm: MPI.Intracomm, label: str) -> None:
    k = 40000
    send = np.concatenate([np.full(k, comm.rank * 100 + to, "i4") for to in range(comm.size)])
    for call in range(9):
        got = np.zeros(k * comm.size, "i4")
        comm.Alltoallv([send, [k] * comm.size], [got, [k] * comm.size])
        if call % 3 == 0:
            comm.Ialltoallv([send, [k] * comm.size], [got, [k] * comm.size]).Wait()
    expected = np.repeat(np.arange(comm.size) * 100 + comm.rank, k)
    print(label, comm.rank, "ok" if (got == expected).all() else "WRONG", flush=True)


if len(sys.argv) > 1:
    parent = MPI.Comm.Get_parent()
    everybody = parent.Merge(high=True)
    exchange(MPI.COMM_WORLD, "workers")
else:
    info = MPI.Info.Create()
    names = [name for name in os.environ if name == "LD_PRELOAD" or name.startswith("NUICE_")]
    if names:
        info["env"] = "\n".join(f"{name}={os.environ[name]}" for name in names)
    parent = MPI.COMM_SELF.Spawn(sys.executable, [os.path.abspath(__file__), "worker"], 2, info)
    everybody = parent.Merge(high=False)
exchange(everybody, "merged")
everybody.Free()
parent.Disconnect()

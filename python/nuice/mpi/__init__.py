# SPDX-License-Identifier: BSD-3-Clause
"""Planned exchanges on mpi4py communicators.

    from mpi4py import MPI
    import nuice.mpi

    plan = nuice.mpi.Plan(MPI.COMM_WORLD, {3: 4096, 5: 1024}, "auto")   # destinations and bytes; collective
    with plan.bind(send, receive) as exchange:                          # NumPy arrays and the like
        for step in range(steps):
            exchange.Start()
            ...                                                         # work that needs no new data
            exchange.Wait()
    plan.Free()

    halo = nuice.mpi.Halo(MPI.COMM_WORLD, needed, owned=mine)           # global indices
    ghosts = halo.gather(values)

    blocks = (counts, places), MPI.DOUBLE
    x = nuice.mpi.Alltoallv_init(comm, [send, *blocks], [receive, *blocks])
    nuice.mpi.alltoallv(comm, [send, counts, MPI.DOUBLE], [receive, counts, MPI.DOUBLE])   # no plan

This module needs mpi4py, and a libnuice for the MPI that mpi4py has loaded; with a libnuice for another MPI,
the import raises ImportError. If one rank has a fault, all ranks raise nuice.Error with the text of this
rank. An uncaught exception ends all ranks. Names that begin with a capital letter are the names of mpi4py's
requests. docs/how-to/languages.md compares them with the names in C, C++ and Fortran.
"""

from ._excepthook import install as _install_excepthook
from ._library import library_path, mpi_name
from .alltoallv import alltoallv, alltoallw, neighbor_alltoallv, neighbor_alltoallw
from .exchange import Exchange, Testsome, Waitall, Waitany
from .halo import Halo
from .persistent import (
    Alltoallv_init,
    Alltoallw_init,
    Neighbor_alltoallv_init,
    Neighbor_alltoallw_init,
)
from .plan import Partner, Plan
from .sparse import sparse_alltoallv

__all__ = [
    "Alltoallv_init",
    "Alltoallw_init",
    "Exchange",
    "Halo",
    "Neighbor_alltoallv_init",
    "Neighbor_alltoallw_init",
    "Partner",
    "Plan",
    "Testsome",
    "Waitall",
    "Waitany",
    "alltoallv",
    "alltoallw",
    "library_path",
    "mpi_name",
    "neighbor_alltoallv",
    "neighbor_alltoallw",
    "sparse_alltoallv",
]

_install_excepthook()

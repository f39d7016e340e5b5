# SPDX-License-Identifier: BSD-3-Clause
"""Ends all ranks after an uncaught exception, because the other ranks may wait for this rank forever."""

from __future__ import annotations

import os
import sys
from types import TracebackType

from mpi4py import MPI


def install() -> None:
    """Installs the hook, which first calls the previous hook. Does nothing in an interactive session or
    with NUICE_EXCEPTHOOK=none.
    """
    setting = os.environ.get("NUICE_EXCEPTHOOK", "")
    if setting not in ("", "none"):
        raise ValueError(f"NUICE_EXCEPTHOOK={setting}: its only value is none")
    if hasattr(sys, "ps1") or setting == "none":
        return
    before, process = sys.excepthook, os.getpid()

    def end_all_ranks(
        kind: type[BaseException], value: BaseException, traceback: TracebackType | None
    ) -> None:
        before(kind, value, traceback)
        if os.getpid() != process:
            return  # a forked child, to which MPI does not belong
        if MPI.Is_initialized() and not MPI.Is_finalized() and MPI.COMM_WORLD.size > 1:
            rank = MPI.COMM_WORLD.rank
            print(f"nuice.mpi: rank {rank} ends all ranks after {kind.__name__}: {value}", file=sys.stderr)
            sys.stdout.flush()
            sys.stderr.flush()
            MPI.COMM_WORLD.Abort(1)

    sys.excepthook = end_all_ranks

# SPDX-License-Identifier: BSD-3-Clause
"""Requirements of cases that not every machine meets, each with the way to meet it."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


class Need(NamedTuple):
    """text: the requirement in words. programs: executables that must be next to this Python or on PATH.
    modules: Python modules."""

    text: str
    get: str = ""
    programs: Sequence[str] = ()
    modules: Sequence[str] = ()

    def missing(self) -> str:
        """Returns what is missing, or ""."""
        path = f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}"
        absent = [name for name in self.programs if shutil.which(name, path=path) is None]
        absent += [name for name in self.modules if importlib.util.find_spec(name) is None]
        return f"no {', '.join(absent)}: {self.get}" if absent else ""


# A case itself checks whether there is a test network or another build, because many cases need neither.
NEEDS = {
    "build": Need("another build of nuice-bench"),
    "caminos": Need("CAMINOS", "cargo install caminos --locked", ["caminos"]),
    "compiler": Need("a C compiler", "apt-get install gcc", ["cc"]),
    "mpi": Need("MPI", "make build", ["mpiexec", "nuice-bench"]),
    "mpi4py": Need("mpi4py", "requirements-mpi.txt", modules=["mpi4py"]),
    "peers": Need("Debian's peers", "make bench-peers", ["/usr/bin/mpicxx"]),
    "petsc": Need("Debian's PETSc", "make petsc", ["/usr/bin/mpicxx"]),
    "rustworkx": Need("rustworkx", "requirements-dev.txt", modules=["rustworkx"]),
    "smpirun": Need("SimGrid", "apt-get install libsimgrid-dev", ["smpirun", "smpicxx"]),
    "testbed": Need("root, a test network"),
    "wolff": Need("nuice-wolff", "make build", ["nuice-wolff"]),
}


def missing(needs: Sequence[str]) -> str:
    """Returns why a case with these needs cannot run here, or ""."""
    return next(filter(None, (NEEDS[need].missing() for need in needs)), "")

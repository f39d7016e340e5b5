# SPDX-License-Identifier: BSD-3-Clause
"""Builds the programs of bench/peers against Debian's libraries, and so against Debian's MPI."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import nuice

from .case import CannotRun
from .process import ROOT, call

# The linker's words for each program, or the name of a package of pkg-config.
PEERS: dict[str, list[str] | str] = {
    "fftw_mpi": ["-lfftw3_mpi", "-lfftw3", "-lm"],
    "petsc_cg": "petsc",
    "hypre_cg": ["-isystem", "/usr/include/hypre", "-lHYPRE", "-lm"],
    "petsc_sf": "petsc",
    "petsc_block_cg": "petsc",
}
OPTIONS = {"mpicxx": ("/usr/bin/mpicxx", "of the peers' MPI"), "mpiexec": ("/usr/bin/mpiexec", "of it")}
SOURCES = ROOT / "bench" / "peers"


def build_peers(mpicxx: str, folder: Path, *names: str) -> dict[str, Path]:
    """Builds and returns programs by name. Prints what is missing."""
    if shutil.which(mpicxx) is None:
        raise CannotRun(f"{mpicxx} is not here: make bench-peers")
    programs = {}
    command = [mpicxx, "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", "-O3", "-std=c++20"]
    command += [f"-I{ROOT / 'include'}", f"-I{ROOT / 'bench'}"]
    for name in names:
        words = PEERS[name]
        if isinstance(words, str):
            found = call(["pkg-config", "--cflags", "--libs", words], status=None)
            if found.returncode:
                print(f"{name} is skipped: {words} is not here", file=sys.stderr)
                continue
            words = found.stdout.split()
        done = call([*command, SOURCES / f"{name}.cpp", *words, "-o", folder / name], status=None)
        if done.returncode == 0:
            programs[name] = folder / name
        else:
            reasons = [line for line in done.stderr.splitlines() if "error" in line or "cannot find" in line]
            print(f"{name} is skipped, as it does not build: {' '.join(reasons[:1])}", file=sys.stderr)
    return programs


def find(build: str, name: str) -> Path:
    """Returns a program of a NUICE build with the peers' MPI. Raises CannotRun."""
    found = [path for path in Path(build).rglob(name) if path.is_file() and os.access(path, os.X_OK)]
    if not found:
        raise CannotRun(f"{build} has no {name}: make bench-peers builds it, or name another with --build")
    return found[0]


def mpi_of(program: Path) -> str:
    """Returns the MPI library that a program loads."""
    lines = call(["ldd", program]).stdout.splitlines()
    return next((line.split()[2] for line in lines if line.split()[0].startswith("libmpi.so")), "an MPI")


def write_pattern(path: Path, matrix: nuice.CommMatrix) -> None:
    """Writes the matrix for petsc_sf.cpp, with sizes in doubles."""
    entries = sorted(zip(*map(list, matrix.entries()), strict=True))
    path.write_text("".join(f"{src} {dst} {size // 8}\n" for src, dst, size in entries))

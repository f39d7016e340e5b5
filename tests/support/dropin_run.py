# SPDX-License-Identifier: BSD-3-Clause
"""Programs under the library for unmodified programs."""

import re

from mpi_job import run_ranks


def run_under(
    library: str, mpiexec: list[str], ranks: int, words: list[str], limit_s: float = 100, **settings: str
):
    """mpiexec: with its flag for the number of ranks. What NUICE_DROPIN_VERBOSE says is on stderr, too."""
    settings = {"LD_PRELOAD": library, "NUICE_DROPIN_VERBOSE": "1", **settings}
    preset = ["env", *(f"{name}={value}" for name, value in settings.items())]
    return run_ranks([*mpiexec, str(ranks), *preset, *words], limit_s)


def counts(done) -> tuple[int, int] | None:
    """Of the calls of rank 0: replaced, left to MPI."""
    found = re.search(r"(\d+) calls replaced, (\d+) left to MPI", done.stderr)
    return (int(found[1]), int(found[2])) if found else None

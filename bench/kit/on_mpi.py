# SPDX-License-Identifier: BSD-3-Clause
"""The candidates that MPI can carry out, whether the adviser tries them or not."""

from __future__ import annotations

import nuice

PHASES = ("phases", "pairs")  # only these carry out schedules that forward


def everything_on_mpi(matrix: nuice.CommMatrix, machine: nuice.Machine) -> list[str]:
    """Returns every scheduler with every executor. Schedulers that avoid links are included for the
    machine's network."""
    network = nuice.make_topology(machine.topology)
    names = []
    for row in nuice.schedulers():
        if row.alias_of or (row.needs_topology and not network.num_links):
            continue
        if row.why_not(matrix, 0, topology=network):
            continue
        for executor in nuice.executors():
            fits = executor.on_mpi and set(executor.needs) <= set(row.guarantees)
            fits = fits and ("direct" in row.guarantees or executor.pace in PHASES)
            fits = fits and (executor.pace != "pairs" or "one_port" in row.guarantees)
            if fits and (machine.lossless or executor.is_simulated):
                names.append(f"{row.name}:{executor.name}")
    return names

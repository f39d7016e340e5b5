# SPDX-License-Identifier: BSD-3-Clause
"""Generated matrices, and plans for them."""

from __future__ import annotations

from hypothesis import strategies as st

import nuice

Entry = tuple[int, int, int]

MATRIX = nuice.random_regular(8, 3, unit_bytes=100, max_units=9, seed=1)


@st.composite
def entry_lists(draw: st.DrawFn, max_ranks: int = 10, max_bytes: int = 1 << 40) -> tuple[int, list[Entry]]:
    """(number of ranks, entries): any sparsity, with zero sizes and messages of ranks to themselves."""
    num_ranks = draw(st.integers(1, max_ranks))
    rank = st.integers(0, num_ranks - 1)
    pairs = draw(st.lists(st.tuples(rank, rank), unique=True, max_size=num_ranks * num_ranks))
    size = st.one_of(st.integers(0, 5), st.integers(0, max_bytes))
    return num_ranks, [(src, dst, min(draw(size), max_bytes)) for src, dst in pairs]


@st.composite
def comm_matrices(draw: st.DrawFn, max_ranks: int = 10, max_bytes: int = 1 << 40) -> nuice.CommMatrix:
    return nuice.CommMatrix.from_messages(*draw(entry_lists(max_ranks, max_bytes)))


def phases_of(schedule: nuice.Schedule) -> list[list[nuice.Transfer]]:
    return [schedule.transfers(phase) for phase in range(schedule.num_phases)]


def network_for(matrix: nuice.CommMatrix, name: str) -> str | None:
    """The smallest hypercube if the scheduler needs a network, or tree of switches of two for paths."""
    if not nuice.find_scheduler(name).needs_topology:
        return None
    bits = max(matrix.num_ranks - 1, 0).bit_length()
    return "fattree:" + ("x".join("2" * bits) or "1") if name == "path_coloring" else f"hypercube:{bits}"


def plan_with(name: str, matrix: nuice.CommMatrix, seed: int = 0) -> nuice.Plan:
    return nuice.plan(matrix, name, seed, topology=network_for(matrix, name))

# SPDX-License-Identifier: BSD-3-Clause
"""One rank's block of a 2-D grid, for both programs: the values with a ring of ghosts around them."""

from __future__ import annotations

import numpy as np

CELLS = 96
STEPS = 200


class Grid:
    """edges: for each neighbour, by ascending rank, its rank and which cells it needs; ghosts: where its own
    go."""

    def __init__(self, rank: int, dims: list[int]) -> None:
        px, py = divmod(rank, dims[1])
        x0, y0 = CELLS * px // dims[0], CELLS * py // dims[1]
        nx, ny = CELLS * (px + 1) // dims[0] - x0, CELLS * (py + 1) // dims[1] - y0
        i, j = np.mgrid[1 : nx + 1, 1 : ny + 1]
        self.u = np.zeros((nx + 2, ny + 2))
        self.u[1:-1, 1:-1] = ((x0 + i) * 7 + (y0 + j) * 3) % 11
        inner = slice(1, -1)
        all_edges = [
            (px > 0, rank - dims[1], np.s_[1, inner], np.s_[0, inner]),
            (py > 0, rank - 1, np.s_[inner, 1], np.s_[inner, 0]),
            (py < dims[1] - 1, rank + 1, np.s_[inner, ny], np.s_[inner, ny + 1]),
            (px < dims[0] - 1, rank + dims[1], np.s_[nx, inner], np.s_[nx + 1, inner]),
        ]
        self.ranks = [edge_rank for there, edge_rank, _, _ in all_edges if there]
        self.edges = [edge for there, _, edge, _ in all_edges if there]
        self.ghosts = [ghost for there, _, _, ghost in all_edges if there]
        self.send = [self.u[edge].copy() for edge in self.edges]
        self.receive = [np.zeros_like(values) for values in self.send]

    def pack(self) -> None:
        for values, edge in zip(self.send, self.edges, strict=True):
            values[...] = self.u[edge]

    def unpack(self) -> None:
        for values, ghost in zip(self.receive, self.ghosts, strict=True):
            self.u[ghost] = values

    def update(self) -> None:
        u = self.u
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        u[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.1 * (around - 4 * u[1:-1, 1:-1])

    def sum(self) -> float:
        return float(self.u[1:-1, 1:-1].sum())

# SPDX-License-Identifier: BSD-3-Clause
"""Plans, which are checked schedules for a matrix, with their statistics; and a comparison of all schedulers.

Usage:
    plan = nuice.plan(matrix, "rs_n", seed=1)
    assert plan.verified
    plan.figures()          # a dict: phases, max_degree, phase_bytes, bound_bytes, plan_seconds, ...
    plan.save("halo.plan")
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from statistics import median
from typing import TYPE_CHECKING, Any

from . import _core
from ._core import (
    Bounds,
    CommMatrix,
    LinkBounds,
    PhaseTable,
    Schedule,
    ScheduleRecord,
    Topology,
    Violation,
)
from .errors import Error
from .matrix import require_matrix

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Plan:
    """A schedule with its matrix, its scheduler, and the checker's result."""

    matrix: CommMatrix
    schedule: Schedule
    scheduler: str
    seed: int
    guarantees: tuple[str, ...]
    plan_seconds: float
    violation: Violation | None
    topology: Topology | None = None

    @property
    def verified(self) -> bool:
        """Whether the checker confirmed that every byte arrives exactly once and that the guarantees hold."""
        return self.violation is None

    @property
    def phases(self) -> int:
        return self.schedule.num_phases

    @cached_property
    def phase_bytes(self) -> int:
        """The sum of the largest transfers of all phases."""
        return _core.phase_bytes(self.schedule)

    @cached_property
    def bounds(self) -> Bounds:
        return _core.lower_bounds(self.matrix)

    @cached_property
    def link_bounds(self) -> LinkBounds | None:
        """The bounds from the busiest link; None without a topology."""
        return None if self.topology is None else _core.link_bounds(self.matrix, self.topology)

    @cached_property
    def link_rounds(self) -> int | None:
        """The number of phases if transfers that share a link wait for each other; None without a
        topology.
        """
        return None if self.topology is None else _core.link_rounds(self.schedule, self.topology)

    @cached_property
    def tables(self) -> list[PhaseTable]:
        """The slices of all ranks."""
        return _core.slice_all(self.matrix, self.schedule)

    def figures(self) -> dict[str, Any]:
        """Returns the statistics that `nuice plan --json` prints, as a dict. If the schedule is not one_port,
        the ratios to the bounds are None, because the bounds hold only for one transfer at a time. A topology
        adds statistics of its links.
        """
        bounds = self.bounds
        one_port = "one_port" in self.guarantees
        return {
            "scheduler": self.scheduler,
            "seed": self.seed,
            "guarantees": list(self.guarantees),
            "ranks": self.matrix.num_ranks,
            "messages": self.matrix.num_messages,
            "max_degree": bounds.max_degree,
            "phases": self.phases,
            "phases_to_max_degree": _ratio(self.phases, bounds.max_degree) if one_port else None,
            "bound_bytes": bounds.max_port_bytes,
            "phase_bytes": self.phase_bytes,
            "bytes_to_bound": _ratio(self.phase_bytes, bounds.max_port_bytes) if one_port else None,
            "plan_seconds": self.plan_seconds,
            "verified": self.verified,
            **self._link_figures(),
        }

    def _link_figures(self) -> dict[str, Any]:
        links = self.link_bounds
        if self.topology is None or links is None or self.link_rounds is None:
            return {}
        bound = max(self.bounds.max_degree, links.phases)
        bounded = {"direct", "one_port"} <= set(self.guarantees)
        return {
            "topology": self.topology.name,
            "link_bound_phases": links.phases,
            "link_bound_bytes": links.bytes,
            "link_rounds": self.link_rounds,
            "rounds_to_bound": _ratio(self.link_rounds, bound) if bounded else None,
        }

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the schedule in the project's text format (docs/reference/formats.md)."""
        network = self.topology.name if self.topology and "link_free" in self.guarantees else ""
        record = ScheduleRecord(
            self.matrix, self.schedule, self.scheduler, self.seed, list(self.guarantees), network
        )
        _core.save_schedule(path, record, self.matrix)

    def exchange(self, send: Sequence[Mapping[int, Any]]) -> list[dict[int, NDArray[np.uint8]]]:
        """Carries out the exchange inside this process. In the result, receive[r][s] equals send[s][r].

        send[r][d] is the message of rank r to rank d, for every destination d of r, including r itself if r
        sends to itself. A message is a bytes object, or a contiguous buffer or array; its size is that in the
        matrix.
        """
        import numpy as np

        if len(send) != self.matrix.num_ranks:
            raise Error(f"send has {len(send)} ranks, the matrix {self.matrix.num_ranks}", "mismatch")
        outgoing = [_buffers_in_order(table, send[table.rank]) for table in self.tables]
        receive = [{s.rank: np.empty(s.bytes, np.uint8) for s in table.sources} for table in self.tables]
        _core.exchange_serially(self.tables, outgoing, [list(buffers.values()) for buffers in receive])
        return receive


@dataclass(frozen=True, eq=False)
class Comparison:
    """The plan of one scheduler for a matrix. If the scheduler is not applicable, plan is None and reason
    says why."""

    scheduler: str
    plan: Plan | None
    reason: str = ""

    def figures(self) -> dict[str, Any]:
        if self.plan is None:
            return {"scheduler": self.scheduler, "applicable": False, "reason": self.reason}
        return {**self.plan.figures(), "applicable": True}


def plan(
    matrix: CommMatrix,
    scheduler: str = "rs_n",
    seed: int = 0,
    *,
    repeat: int = 1,
    phase_cost_bytes: int = _core.DEFAULT_PHASE_COST_BYTES,
    topology: Topology | str | None = None,
    prefer_pairs: bool = False,
) -> Plan:
    """Makes a schedule and checks it. The same arguments give the same schedule on every platform.

    phase_cost_bytes is the cost of a phase in addition to its largest transfer, as the number of bytes that
    could be sent in this time; kpbs, bruck and distributed_coloring use it. Schedulers with the guarantee
    link_free need a topology ("torus:8x8", or a Topology); with other schedulers a topology only adds
    statistics of its links. If prefer_pairs is set, rs_nl puts messages in both directions between two ranks
    into the same phase. plan_seconds is the median over `repeat` runs.

    Raises nuice.Error for an unknown scheduler (the text lists the known schedulers), and if the scheduler
    cannot handle the matrix. A wrong schedule raises no error, so test `verified`.
    """
    require_matrix(matrix)
    if repeat < 1:
        raise Error(f"repeat is {repeat}, it must be at least 1")
    network = _network(topology, matrix)
    runs = [
        _core.make_schedule(matrix, scheduler, seed, phase_cost_bytes, network, prefer_pairs)
        for _ in range(repeat)
    ]
    schedule = runs[0][0]
    row = _core.find_scheduler(scheduler)
    guarantees = tuple(row.guarantees)
    return Plan(
        matrix=matrix,
        schedule=schedule,
        scheduler=scheduler,
        seed=seed,
        guarantees=guarantees,
        plan_seconds=median(seconds for _, seconds in runs),
        violation=_core.check(matrix, schedule, guarantees, network),
        topology=network,
    )


def load_plan(path: str | PathLike[str], matrix: CommMatrix, topology: Topology | str | None = None) -> Plan:
    """Reads a plan for this matrix and checks it against the guarantees that the file claims.

    If the file claims link_free, it names a network. If you pass a topology, the plan must be link_free on
    your topology, whatever the file claims.
    """
    require_matrix(matrix)
    record = _core.load_schedule(path, matrix)
    guarantees = tuple(record.guarantees)
    network = _network(topology or record.topology or None, matrix)
    if topology is not None and "link_free" not in guarantees:
        guarantees += ("link_free",)
    return Plan(
        matrix=matrix,
        schedule=record.schedule,
        scheduler=record.scheduler,
        seed=record.seed,
        guarantees=guarantees,
        plan_seconds=0.0,
        violation=_core.check(matrix, record.schedule, guarantees, network),
        topology=network,
    )


def compare(
    matrix: CommMatrix,
    schedulers: Iterable[str] | None = None,
    seed: int = 0,
    *,
    repeat: int = 3,
    topology: Topology | str | None = None,
    phase_cost_bytes: int = _core.DEFAULT_PHASE_COST_BYTES,
) -> list[Comparison]:
    """Calls plan() with each of the schedulers (None: all registered schedulers), in the given order."""
    require_matrix(matrix)
    network = _network(topology, matrix)
    names = [s.name for s in _core.schedulers()] if schedulers is None else list(schedulers)
    rows = [_core.find_scheduler(name) for name in names]  # raises for an unknown name, before any work
    result = []
    for row in rows:
        reason = row.why_not(matrix, seed, phase_cost_bytes, network)
        cost = phase_cost_bytes
        made = (
            None
            if reason
            else plan(matrix, row.name, seed, repeat=repeat, topology=network, phase_cost_bytes=cost)
        )
        result.append(Comparison(row.name, made, reason))
    return result


def _network(topology: Topology | str | None, matrix: CommMatrix) -> Topology | None:
    """Returns the network that the argument describes. Raises Error if this network is too small for the
    matrix."""
    network = _core.make_topology(topology) if isinstance(topology, str) else topology
    if network is not None and network.num_ranks < matrix.num_ranks:
        raise Error(
            f"topology {network.name} has {network.num_ranks} ranks, the matrix has {matrix.num_ranks}",
            "mismatch",
        )
    return network


def _ratio(value: int, bound: int) -> float | None:
    return value / bound if bound else None


def _buffers_in_order(table: PhaseTable, buffers: Mapping[int, Any]) -> list[NDArray[np.uint8]]:
    import numpy as np

    ordered = []
    for partner in table.destinations:
        pair = f"from rank {table.rank} to rank {partner.rank}"
        if partner.rank not in buffers:
            raise Error(f"no buffer {pair}")
        data = np.ascontiguousarray(np.frombuffer(buffers[partner.rank], dtype=np.uint8))
        if data.size != partner.bytes:
            why = f"has {data.size} bytes, the matrix says {partner.bytes}"
            raise Error(f"the buffer {pair} {why}", "mismatch")
        ordered.append(data)
    return ordered

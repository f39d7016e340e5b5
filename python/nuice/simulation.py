# SPDX-License-Identifier: BSD-3-Clause
"""Machines, and the times that schedules take on them in simulation.

Usage:
    run = nuice.simulate(matrix, plan.schedule, "cm5-32", executor="phased")
    run.seconds, run.node_contention, run.ranks[0].idle_s
    nuice.simulate_drs_n(matrix, "cm5-32", seed=1).seconds
    nuice.predict(matrix, "cm5-32")  # all schedulers, as `nuice simulate` shows them
    nuice.simulate_packets(matrix, plan.schedule, "fattree-ib", "depend", queueing="voq").slots
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from . import _core
from ._core import CommMatrix, Machine, PacketRun, Schedule, Simulation
from .errors import Error
from .matrix import require_matrix
from .planning import Plan, plan

DRS_N = "drs_n"


def simulate(
    matrix: CommMatrix,
    schedule: Schedule | Plan,
    machine: Machine | str,
    executor: str = "phased",
    *,
    blocking_sends: bool = True,
    timeline: bool = False,
) -> Simulation:
    """Simulates a schedule on a machine: a Machine, the name of a shipped machine, or a file NAME.toml.

    The same arguments give the same result. Raises nuice.Error for an unknown machine or executor, for a bad
    machine file, if the topology has fewer ranks than the matrix, and if ranks would wait for each other
    forever.
    """
    require_matrix(matrix)
    return _core.simulate_schedule(
        matrix, _schedule(schedule), machine_for(machine, matrix), executor, blocking_sends, timeline
    )


def simulate_drs_n(
    matrix: CommMatrix,
    machine: Machine | str,
    seed: int = 0,
    *,
    retry_delay_s: float | None = None,
    timeline: bool = False,
) -> Simulation:
    """Simulates the handshaking DRS_N of 004 fig. 5, which needs no schedule: a rank asks the receiver before
    it sends a message.

    A refused rank asks again after retry_delay_s (None: am_retry_s of the machine).
    """
    require_matrix(matrix)
    return _core.simulate_drs_n_on(matrix, machine_for(machine, matrix), seed, retry_delay_s, timeline)


def simulate_packets(
    matrix: CommMatrix,
    schedule: Schedule | Plan,
    machine: Machine | str,
    executor: str = "phased",
    *,
    queueing: str = "fifo",
    routing: str | None = None,
    **numbers: Any,
) -> PacketRun:
    """Simulates a schedule packet by packet on a lossless network with input queues, credits and cut-through.

    queueing: "fifo" or "voq", the kind of queues at inputs. routing: None (the machine's routing), "table",
    "random" (ECMP) or "spray" (adaptive). A transfer that names a path takes this path. numbers: the keyword
    arguments packet_bytes, buffer_packets, seed and early_bytes.

    Raises the errors of simulate(), and nuice.Error for machines with circuits or half-duplex ports.
    """
    require_matrix(matrix)
    return _core.simulate_packets_on(
        matrix, _schedule(schedule), machine_for(machine, matrix), executor, queueing, routing, **numbers
    )


def _schedule(given: Schedule | Plan) -> Schedule:
    return given.schedule if isinstance(given, Plan) else given


def machine_for(machine: Machine | str, matrix: CommMatrix, ranks_per_host: int = 1) -> Machine:
    """Returns the machine; if it can grow, with as many ranks as the matrix. Raises Error with code
    "mismatch" if the machine is too small."""
    found = _core.find_machine(machine) if isinstance(machine, str) else machine
    target = found.grown(matrix.num_ranks, ranks_per_host)
    if target.num_ranks >= matrix.num_ranks:
        return target
    families = ", ".join(name for name in _core.machine_names() if _core.find_machine(name).grows)
    raise Error(
        f"machine {target.name}: topology {target.topology} has {target.num_ranks} ranks, the matrix has "
        f"{matrix.num_ranks}; `grows = true` in a machine file lets it grow, as these do: {families}",
        "mismatch",
    )


@dataclass(frozen=True, eq=False)
class Prediction:
    """The simulation of one scheduler on a machine. If the scheduler is not applicable, run is None and
    reason says why."""

    scheduler: str
    executor: str
    plan: Plan | None  # None for drs_n, which needs no schedule
    run: Simulation | None
    bound_s: float
    reason: str = ""

    def figures(self) -> dict[str, Any]:
        """Returns what `nuice simulate --json` prints for a scheduler."""
        run = self.run
        if run is None:
            return {"scheduler": self.scheduler, "applicable": False, "reason": self.reason}
        rank_seconds = run.seconds * len(run.ranks)
        return {
            "scheduler": self.scheduler,
            "applicable": True,
            "executor": self.executor,
            "phases": None if self.plan is None else self.plan.phases,
            "verified": None if self.plan is None else self.plan.verified,
            "seconds": run.seconds,
            "seconds_to_bound": run.seconds / self.bound_s if self.bound_s else None,
            "idle_share": sum(r.idle_s for r in run.ranks) / rank_seconds if rank_seconds else 0.0,
            "waiting_share": sum(r.waiting_s for r in run.ranks) / rank_seconds if rank_seconds else 0.0,
            "transfers": run.transfers,
            "node_contention": run.node_contention,
            "link_contention": run.link_contention,
            "timeouts": run.timeouts,
            "inquiries": run.inquiries,
            "refusals": run.refusals,
        }


def predict(
    matrix: CommMatrix,
    machine: Machine | str,
    schedulers: Iterable[str] | None = None,
    seed: int = 0,
    *,
    executor: str = "auto",
    blocking_sends: bool = False,
    timeline: bool = False,
) -> list[Prediction]:
    """Simulates each of the schedulers (None: all registered schedulers and drs_n), in the given order.

    Schedulers that avoid link contention plan for the machine's network; they prefer pairs if the machine has
    duplex "paired". executor: with "auto", schedules of one phase run with `async`. Other schedules run with
    `pairwise` if the machine has duplex "paired", otherwise with `phased`.
    """
    require_matrix(matrix)
    target = machine_for(machine, matrix)
    if executor != "auto":
        _core.find_executor(executor)  # raises for an unknown name, before any work
    known = [s.name for s in _core.schedulers()]
    names = [*known, DRS_N] if schedulers is None else list(schedulers)
    for name in names:
        if name != DRS_N:
            _core.find_scheduler(name)
    bound_s = max(_core.port_bound_s(matrix, target), 0.0)
    return [
        _predict_drs_n(matrix, target, seed, bound_s, timeline)
        if name == DRS_N
        else _predict(matrix, target, name, seed, bound_s, executor, blocking_sends, timeline)
        for name in names
    ]


@dataclass(frozen=True, eq=False)
class PacketPrediction:
    """The packet simulation of one scheduler. If the scheduler is not applicable, run is None and reason says
    why."""

    scheduler: str
    executor: str
    plan: Plan | None
    run: PacketRun | None
    reason: str = ""

    def figures(self) -> dict[str, Any]:
        """Returns what `nuice simulate --model packets --json` prints for a scheduler."""
        run = self.run
        if run is None or self.plan is None:
            return {"scheduler": self.scheduler, "applicable": False, "reason": self.reason}
        bound = max(run.port_bound_slots, run.link_bound_slots)
        return {
            "scheduler": self.scheduler,
            "applicable": True,
            "executor": self.executor,
            "phases": self.plan.phases,
            "verified": self.plan.verified,
            "seconds": run.seconds,
            "slots": run.slots,
            "slots_to_bound": run.slots / bound if bound else None,
            "slots_to_port_bound": run.slots / run.port_bound_slots if bound else None,
            "packets": run.packets,
            "packet_hops": run.packet_hops,
            "virtual_lanes": run.virtual_lanes,
        }


def predict_packets(
    matrix: CommMatrix,
    machine: Machine | str,
    schedulers: Iterable[str] | None = None,
    seed: int = 0,
    *,
    executor: str = "auto",
    queueing: str = "fifo",
    routing: str | None = None,
) -> list[PacketPrediction]:
    """Simulates each of the schedulers packet by packet, by simulate_packets(). executor: "auto" means
    `async` for schedules of one phase, `depend` for schedules that are direct and one_port, and `phased` for
    all others.
    """
    require_matrix(matrix)
    target = machine_for(machine, matrix)
    if executor != "auto":
        _core.find_executor(executor)
    names = [s.name for s in _core.schedulers()] if schedulers is None else list(schedulers)
    network = _core.make_topology(target.topology)
    result = []
    for name in names:
        row = _core.find_scheduler(name)
        if reason := row.why_not(matrix, seed, topology=network):
            result.append(PacketPrediction(name, executor, None, None, reason))
            continue
        made = plan(matrix, name, seed, topology=network)
        how = executor
        if executor == "auto":
            can_depend = {"direct", "one_port"} <= set(row.guarantees)
            how = "async" if made.phases <= 1 else "depend" if can_depend else "phased"
        run = simulate_packets(
            matrix, made.schedule, target, how, queueing=queueing, routing=routing, seed=seed
        )
        result.append(PacketPrediction(name, how, made, run))
    return result


def executor_for(plan: Plan, machine: Machine) -> str:
    """Returns the executor that "auto" means for this plan on this machine."""
    if plan.phases <= 1:
        return "async"
    return "pairwise" if machine.duplex == "paired" else "phased"


def _predict(
    matrix: CommMatrix,
    machine: Machine,
    name: str,
    seed: int,
    bound_s: float,
    executor: str,
    blocking_sends: bool,
    timeline: bool,
) -> Prediction:
    network = _core.make_topology(machine.topology)
    if reason := _core.find_scheduler(name).why_not(matrix, seed, topology=network):
        return Prediction(name, executor, None, None, bound_s, reason)
    made = plan(matrix, name, seed, topology=network, prefer_pairs=machine.duplex == "paired")
    how = executor_for(made, machine) if executor == "auto" else executor
    run = simulate(matrix, made.schedule, machine, how, blocking_sends=blocking_sends, timeline=timeline)
    return Prediction(name, how, made, run, bound_s)


def _predict_drs_n(
    matrix: CommMatrix, machine: Machine, seed: int, bound_s: float, timeline: bool
) -> Prediction:
    try:
        run = simulate_drs_n(matrix, machine, seed, timeline=timeline)
    except Error as error:
        if error.code not in ("not_applicable", "limit"):
            raise
        return Prediction(DRS_N, "handshake", None, None, bound_s, str(error).removeprefix("drs_n: "))
    return Prediction(DRS_N, "handshake", None, run, bound_s)

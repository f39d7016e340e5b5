# SPDX-License-Identifier: BSD-3-Clause
"""NUICE: plans irregular exchanges on distributed-memory machines.

    import nuice
    matrix = nuice.random_regular(num_ranks=32, degree=8, seed=1)
    plan = nuice.plan(matrix, "rs_n", seed=1)
    print(plan.phases, plan.verified, plan.figures())

Matrices: CommMatrix, from_dense, from_scipy, load_matrix_market, random_regular, random_density. Plans: plan,
compare, load_plan. Networks: make_topology, topology_kinds. Machines: find_machine, simulate, predict. What
stands behind them: schedulers, check, lower_bounds, link_bounds, slice_all. See docs/python.md.
"""

from ._core import (
    MAX_BYTES,
    NO_LINK,
    NO_RANK,
    Bounds,
    Broadcaster,
    BroadcastSchedule,
    CommMatrix,
    DynamicSchedule,
    Link,
    LinkBounds,
    Machine,
    Part,
    Partner,
    PhaseEntry,
    PhaseTable,
    Piece,
    Schedule,
    Scheduler,
    ScheduleRecord,
    Simulation,
    Topology,
    TopologyKind,
    Transfer,
    Update,
    Violation,
    broadcasters,
    check,
    check_broadcast,
    exchange_serially,
    find_link_contention,
    find_machine,
    find_node_contention,
    find_scheduler,
    link_bound_s,
    link_bounds,
    link_rounds,
    load_machine,
    load_matrix_market,
    load_schedule,
    lower_bounds,
    machine_names,
    make_broadcast,
    make_schedule,
    make_topology,
    parse_machine,
    phase_bytes,
    port_bound_s,
    random_density,
    random_regular,
    save_matrix_market,
    save_schedule,
    schedulers,
    slice,
    slice_all,
    topology_kinds,
    whole_message_bytes,
)
from .errors import Error
from .matrix import from_dense, from_scipy, to_dense, to_scipy
from .planning import Comparison, Plan, compare, load_plan, plan
from .simulation import EXECUTORS, Prediction, predict, simulate, simulate_drs_n
from .tradeoff import Frontier, FrontierPoint, frontier

__version__: str  # of the installed package; looked up when it is asked for

__all__ = [
    "EXECUTORS",
    "MAX_BYTES",
    "NO_LINK",
    "NO_RANK",
    "Bounds",
    "BroadcastSchedule",
    "Broadcaster",
    "CommMatrix",
    "Comparison",
    "DynamicSchedule",
    "Error",
    "Frontier",
    "FrontierPoint",
    "Link",
    "LinkBounds",
    "Machine",
    "Part",
    "Partner",
    "PhaseEntry",
    "PhaseTable",
    "Piece",
    "Plan",
    "Prediction",
    "Schedule",
    "ScheduleRecord",
    "Scheduler",
    "Simulation",
    "Topology",
    "TopologyKind",
    "Transfer",
    "Update",
    "Violation",
    "broadcasters",
    "check",
    "check_broadcast",
    "compare",
    "exchange_serially",
    "find_link_contention",
    "find_machine",
    "find_node_contention",
    "find_scheduler",
    "from_dense",
    "from_scipy",
    "frontier",
    "link_bound_s",
    "link_bounds",
    "link_rounds",
    "load_machine",
    "load_matrix_market",
    "load_plan",
    "load_schedule",
    "lower_bounds",
    "machine_names",
    "make_broadcast",
    "make_schedule",
    "make_topology",
    "parse_machine",
    "phase_bytes",
    "plan",
    "port_bound_s",
    "predict",
    "random_density",
    "random_regular",
    "save_matrix_market",
    "save_schedule",
    "schedulers",
    "simulate",
    "simulate_drs_n",
    "slice",
    "slice_all",
    "to_dense",
    "to_scipy",
    "topology_kinds",
    "whole_message_bytes",
]


def __getattr__(name: str) -> str:
    if name == "__version__":
        from importlib.metadata import version

        return version("nuice")
    raise AttributeError(f"module 'nuice' has no attribute {name!r}")

# SPDX-License-Identifier: BSD-3-Clause
"""NUICE: plans irregular exchanges on distributed-memory machines.

    import nuice
    matrix = nuice.random_regular(num_ranks=32, degree=8, seed=1)
    plan = nuice.plan(matrix, "rs_n", seed=1)
    print(plan.phases, plan.verified, plan.figures())

Matrices: CommMatrix, from_dense, from_scipy, load_matrix_market, random_regular, random_density. Plans: plan,
compare, load_plan. What stands behind them: schedulers, check, lower_bounds, slice_all. See docs/python.md.
"""

from ._core import (
    MAX_BYTES,
    NO_RANK,
    Bounds,
    CommMatrix,
    DynamicSchedule,
    Partner,
    PhaseEntry,
    PhaseTable,
    Piece,
    Schedule,
    Scheduler,
    ScheduleRecord,
    Transfer,
    Update,
    Violation,
    check,
    exchange_serially,
    find_node_contention,
    find_scheduler,
    load_matrix_market,
    load_schedule,
    lower_bounds,
    make_schedule,
    phase_bytes,
    random_density,
    random_regular,
    save_matrix_market,
    save_schedule,
    schedulers,
    slice,
    slice_all,
    whole_message_bytes,
)
from .errors import Error
from .matrix import from_dense, from_scipy, to_dense, to_scipy
from .planning import Comparison, Plan, compare, load_plan, plan
from .tradeoff import Frontier, FrontierPoint, frontier

__version__: str  # of the installed package; looked up when it is asked for

__all__ = [
    "MAX_BYTES",
    "NO_RANK",
    "Bounds",
    "CommMatrix",
    "Comparison",
    "DynamicSchedule",
    "Error",
    "Frontier",
    "FrontierPoint",
    "Partner",
    "PhaseEntry",
    "PhaseTable",
    "Piece",
    "Plan",
    "Schedule",
    "ScheduleRecord",
    "Scheduler",
    "Transfer",
    "Update",
    "Violation",
    "check",
    "compare",
    "exchange_serially",
    "find_node_contention",
    "find_scheduler",
    "from_dense",
    "from_scipy",
    "frontier",
    "load_matrix_market",
    "load_plan",
    "load_schedule",
    "lower_bounds",
    "make_schedule",
    "phase_bytes",
    "plan",
    "random_density",
    "random_regular",
    "save_matrix_market",
    "save_schedule",
    "schedulers",
    "slice",
    "slice_all",
    "to_dense",
    "to_scipy",
    "whole_message_bytes",
]


def __getattr__(name: str) -> str:
    if name == "__version__":
        from importlib.metadata import version

        return version("nuice")
    raise AttributeError(f"module 'nuice' has no attribute {name!r}")

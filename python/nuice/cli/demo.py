# SPDX-License-Identifier: BSD-3-Clause
"""nuice demo: one irregular exchange from the mesh to the measurement, with pictures."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import _core
from .._core import CommMatrix
from ..errors import Error
from ..files import OutputFiles
from ..planning import Comparison, compare
from . import demo_network, output
from .bench import find_program, run_bench
from .comparing import all_right, comparison_table
from .options import AsJson, Seed

METHODS = ("auto", "ac", "lp", "rs_n", "coloring", "alltoallv", "neighbor")
MPI_NAMES = {"alltoallv": "MPI_Alltoallv", "neighbor": "MPI_Neighbor_alltoallv"}
TIMELINE_SCHEDULERS = ("lp", "rs_n", "coloring")
COMPARE_REPEAT = 21
NETWORK_SCALE = 8  # factor of message lengths between hosts: a point has 8 KiB instead of 1 KiB
NETWORK_REPS = 11


def demo(
    points: Annotated[int, typer.Option(metavar="N", help="Points of the mesh, about.")] = 2800,
    parts: Annotated[int, typer.Option(min=2, metavar="P", help="Parts of the mesh and MPI ranks.")] = 8,
    reps: Annotated[int, typer.Option(min=1, metavar="R", help="Repetitions of every measurement.")] = 20,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where pictures and results go.")] = Path(
        "demo"
    ),
    seed: Seed = 0,
    network: Annotated[
        bool,
        typer.Option(help="Also exchange between hosts with ports; needs root or user namespaces."),
    ] = True,
    as_json: AsJson = False,
) -> int:
    """Mesh an airfoil, plan the exchange of its halo, carry it out on MPI ranks, and draw everything.

    Exchanges run first in the shared memory of this machine, then between emulated hosts, where messages
    contend for ports. The command needs mpiexec and nuice-bench, which `make build` provides.
    """
    for program in ("mpiexec", "nuice-bench"):
        find_program(program)
    out.mkdir(parents=True, exist_ok=True)
    progress = Progress()
    matrix = _make_matrix(progress, points, parts, seed, out)
    comparisons = _plan_all(progress, matrix, seed, out)
    methods = _measure(progress, parts, reps, seed, out)
    on_hosts = _measure_on_hosts(progress, matrix, out) if network else {"left_out": "--no-network"}
    summary = _summary(matrix, comparisons, methods, on_hosts, out)
    with OutputFiles() as files:
        files.temporary(out / "summary.json").write_text(
            json.dumps(summary, indent=1) + "\n", encoding="utf-8"
        )
    output.report(as_json, summary, lambda console: _show(console, comparisons, summary))
    return 0 if summary["verified"] else 1


class Progress:
    """Prints one line on stderr for each completed step, and shows progress on a terminal."""

    def __init__(self) -> None:
        self._console = output.console(to_stderr=True)

    @contextmanager
    def step(self, name: str) -> Iterator[list[str]]:
        """Runs a step. The body of the `with` statement appends its outcome to the list, which is shown when
        the step ends."""
        outcome: list[str] = []
        begin = time.perf_counter()
        with self._console.status(f"{name} ..."):
            yield outcome
        self._console.print(f"{name:<34} {', '.join(outcome)}  ({time.perf_counter() - begin:.1f} s)")


def _make_matrix(progress: Progress, points: int, parts: int, seed: int, out: Path) -> CommMatrix:
    from .. import airfoil
    from ..plots import draw_matrix, draw_mesh, save_figure

    with progress.step("mesh around a NACA 0012 profile") as outcome:
        mesh = airfoil.airfoil_mesh(points)
        outcome.append(f"{len(mesh.points)} points, {len(mesh.triangles)} triangles")
    with progress.step(f"partition into {parts}") as outcome:
        owner = airfoil.partition(mesh, parts, seed)
        matrix = airfoil.halo_matrix(mesh, owner, parts)
        comment = f"nuice demo: airfoil, {len(mesh.points)} points, {parts} parts, seed {seed}"
        _core.save_matrix_market(out / "airfoil.mtx", matrix, comment)
        total = output.size_text(_core.lower_bounds(matrix).total_bytes)
        outcome.append(f"{matrix.num_messages} messages, {total}")
    with progress.step("pictures of mesh and matrix") as outcome:
        save_figure(draw_mesh(mesh, owner, parts), out / "mesh.png")
        save_figure(draw_matrix(matrix, f"halo of {len(mesh.points)} points"), out / "matrix.png")
        outcome.append("mesh.png, matrix.png")
    return matrix


def _plan_all(progress: Progress, matrix: CommMatrix, seed: int, out: Path) -> list[Comparison]:
    from ..plots import draw_comparison, draw_timeline, save_figure

    with progress.step("plan and check every scheduler") as outcome:
        comparisons = compare(matrix, seed=seed, repeat=COMPARE_REPEAT)
        plans = {c.scheduler: c.plan for c in comparisons if c.plan is not None}
        outcome.append(f"{sum(p.verified for p in plans.values())} of {len(plans)} schedules right")
    if not all_right(comparisons):
        wrong = next(p for p in plans.values() if p.violation is not None)
        raise Error(f"{wrong.scheduler} made a wrong schedule: {wrong.violation.text}", "state")
    for name, plan in plans.items():
        plan.save(out / f"{name}.plan")
    with progress.step("pictures of the plans") as outcome:
        save_figure(draw_timeline([plans[name] for name in TIMELINE_SCHEDULERS]), out / "phases.png")
        save_figure(draw_comparison(comparisons, "schedulers on the airfoil's halo"), out / "compare.png")
        outcome.append("phases.png, compare.png")
    return comparisons


def _measure(progress: Progress, parts: int, reps: int, seed: int, out: Path) -> list[dict[str, Any]]:
    from ..plots import draw_times, save_figure

    with progress.step(f"exchange on {parts} MPI ranks") as outcome:
        records = run_bench(parts, out / "airfoil.mtx", METHODS, reps, seed)
        done = [{**r, "label": _label(r), "mpi": r["scheduler"] is None} for r in records if not r["refused"]]
        outcome.append(f"{len(done)} of {len(records)} methods, every byte of each verified")
        outcome += [f"{r['method']} was refused: {r['refused']}" for r in records if r["refused"]]
    with progress.step("picture of the times") as outcome:
        title = f"one exchange of the halo on {parts} MPI ranks, {reps} repetitions"
        save_figure(draw_times(done, title), out / "times.png")
        outcome.append("times.png")
    return done


def _measure_on_hosts(progress: Progress, matrix: CommMatrix, out: Path) -> dict[str, Any]:
    """Returns the measurements between emulated hosts, or {"left_out": why}."""
    from ..plots import draw_network, save_figure

    if reason := demo_network.why_not(matrix.num_ranks):
        return {"left_out": reason}
    with progress.step(f"the same between {matrix.num_ranks} hosts") as outcome:
        larger = demo_network.network_matrix(matrix, NETWORK_SCALE)
        seen = demo_network.exchange_on_hosts(larger, NETWORK_REPS, out)
        tuned = f", {seen['tuned']['times_faster']:.2f} with two settings" if seen["tuned"] else ""
        outcome.append(f"{seen['times_faster']:.2f} times as fast as MPI as installed{tuned}")
    with progress.step("picture of the network") as outcome:
        save_figure(draw_network(seen), out / "network.png")
        outcome.append("network.png")
    return {key: value for key, value in seen.items() if key != "ports"}


def _label(record: dict[str, Any]) -> str:
    return MPI_NAMES.get(record["method"]) or f"{record['scheduler']}, {record['executor']}"


def _summary(
    matrix: CommMatrix,
    comparisons: list[Comparison],
    methods: list[dict[str, Any]],
    on_hosts: dict[str, Any],
    out: Path,
) -> dict[str, Any]:
    bounds = _core.lower_bounds(matrix)
    return {
        "ranks": matrix.num_ranks,
        "messages": matrix.num_messages,
        "max_degree": bounds.max_degree,
        "bound_bytes": bounds.max_port_bytes,
        "total_bytes": bounds.total_bytes,
        "schedulers": [c.figures() for c in comparisons],
        "methods": methods,
        "network": on_hosts,
        "verified": all_right(comparisons)
        and all(m["verified"] for m in methods)
        and on_hosts.get("verified", True),
        "folder": str(out),
        "files": sorted(p.name for p in out.iterdir() if p.is_file() and not p.name.startswith(".")),
    }


def _show(console: Any, comparisons: list[Comparison], summary: dict[str, Any]) -> None:
    console.print()
    console.print(comparison_table(comparisons))
    console.print(_times_table(summary["methods"]))
    for line in _findings(summary):
        console.print(line)
    console.print()
    console.print("Where to look:")
    contents = {
        "mesh.png": "the mesh, coloured by part",
        "matrix.png": "bytes from each rank to each other",
        "phases.png": "the plans as timelines (a model)",
        "compare.png": "phases, bytes and planning time of every scheduler",
        "times.png": "measured exchange times on shared memory",
        **(
            {}
            if "left_out" in summary["network"]
            else {"network.png": "the same between hosts: times, losses, ports"}
        ),
        "airfoil.mtx, *.plan": "the matrix and the plans; try: nuice check "
        f"{summary['folder']}/coloring.plan {summary['folder']}/airfoil.mtx",
        "summary.json": "all figures",
    }
    console.print(output.pairs({f"  {summary['folder']}/{name}": text for name, text in contents.items()}))
    console.print()
    for line in _closing(summary["network"]):
        console.print(line)


def _closing(on_hosts: dict[str, Any]) -> list[str]:
    if "left_out" in on_hosts:
        return [
            "The exchange between hosts, where there is something to gain, was left out: "
            f"{on_hosts['left_out']}."
        ]
    return demo_network.closing_words(on_hosts, os.cpu_count() or 1)


def _times_table(methods: list[dict[str, Any]]) -> Any:
    columns = ("method", "phases", "median", "min", "max", "/ best MPI", "verified")
    rows = [
        (
            m["label"],
            str(m["phases"] or "-"),
            *(output.time_text(m[f"exchange_seconds_{part}"]) for part in ("median", "min", "max")),
            output.ratio_text(m["ratio_to_best_mpi"]),
            output.verdict_text(m["verified"]),
        )
        for m in methods
    ]
    return output.table(columns, rows)


def _findings(summary: dict[str, Any]) -> list[str]:
    """Returns the findings in sentences, with their figures."""
    # The bounds apply to schedules with one transfer at a time and without forwarded messages.
    bounded = {"direct", "one_port"}
    one_port = [s for s in summary["schedulers"] if s["applicable"] and bounded <= set(s["guarantees"])]
    fewest = min(s["phases"] for s in one_port)
    least = min(one_port, key=lambda s: s["phase_bytes"])
    names = ", ".join(s["scheduler"] for s in one_port if s["phases"] == fewest)
    sentences = [
        f"Fewest phases: {fewest}, by {names}; the least for one port per rank is {summary['max_degree']}.",
        f"Least modelled bytes: {least['bytes_to_bound']:.2f} x the lower bound, by {least['scheduler']}.",
    ]
    for whose, is_mpi in (("of nuice", False), ("of MPI's own", True)):
        methods = [m for m in summary["methods"] if m["mpi"] == is_mpi]
        if methods:
            fastest = min(methods, key=lambda m: m["exchange_seconds_median"])
            time_of_it = output.time_text(fastest["exchange_seconds_median"])
            sentences.append(
                f"Fastest {whose}: {time_of_it} for one exchange (median), by {fastest['label']}."
            )
    return [
        *sentences,
        "All ranks share one machine's memory, so auto bypasses MPI.",
    ]


def register(app: typer.Typer) -> None:
    epilog = "nuice demo\n\nnuice demo --points 9428 --parts 16 --out demo16"
    app.command("demo", epilog=epilog)(demo)

# SPDX-License-Identifier: BSD-3-Clause
"""nuice-lee and nuice-wolff on a simulated CM-5, compared with the printed speed-ups of paper 002 (figs 31
and 32).

The real programs run under SimGrid's SMPI: every message and every poll is simulated, and processor time is
charged to the clock. nuice_papers.experiments.simulated_cm5 lists the costs. --record FILE: appends a line
for each run and skips runs that the file contains, so a long series can be continued; `nuice reproduce 002`
reads such a file, 002_simulated.csv. The rows are those of runs, and then, for each case, its "order":
same_order if no pair is reversed that the printed figures distinguish.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kit import Case, Column, Failed, Table, call, objects, scratch, smpi
from nuice_papers.experiments.simulated_cm5 import (
    LAYER,
    NETS,
    PARALLEL_CELL,
    PROGRAMS,
    SCHEMES,
    Problem,
    Record,
    as_printed,
    order,
    syncs,
)

NETWORK = {"bytes_per_s": 1e9, "latency_s": 1e-6}  # the ranks at both ends pay for packets


def run(folder: Path, problem: Problem, ranks: int, costs: tuple[float, ...], more: list[str]) -> dict:
    """Runs a program. costs: seconds per cell, per message at either end, and per packet sent and
    received."""
    program = folder / "papers" / problem.program / f"nuice-{problem.program}"
    with scratch() as place:
        command = smpi.smpirun(place, ranks, ranks, **NETWORK, settings=(*smpi.PLAIN, *smpi.LOOKS))
        command += [str(program), *problem.words(), *more, "--reps", "1", "--json", "--log=root.thres:error"]
        environment = {**os.environ, "NUICE_SMPI_COSTS": ",".join(map(repr, costs))}
        done = call(command, timeout_s=7200, cwd=place, env=environment)
    found = objects(done.stdout)
    if not found:
        raise Failed(f"{' '.join(command)} printed no report:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return found[-1]


def cell_seconds(folder: Path, problem: Problem) -> float:
    if problem.program == "wolff":
        return problem.row["sequential_ms"] * 1e-3 / problem.size**2
    report = run(folder, problem, 1, (1e-9, 0, 0, 0), ["--schemes", "SSR-C-NO", "--widths", "1"])
    nets = report["mazes"][0]["nets"]
    return problem.row["sequential_ms"] * 1e-3 * len(nets) / sum(net["visited"] for net in nets)


def simulate(folder: Path, problem: Problem, name: str, sync: str, widths: tuple[int, ...]) -> dict:
    """Simulates all widths and returns the best one, as in 002."""
    scheme = SCHEMES[name]
    costs = tuple(1e-6 * cost for cost in (scheme.message, scheme.sent, scheme.received))
    ways = ["--schemes", LAYER.get(name, name), "--sync", sync]
    ways += ["--widths", ",".join(str(width) for width in widths if width <= problem.size // problem.ranks)]
    report = run(
        folder, problem, problem.ranks, (cell_seconds(folder, problem) * PARALLEL_CELL, *costs), ways
    )
    # The sequential program's cells have the same cost.
    found = {r["width"]: r.get("speed_up", r.get("speedup")) / PARALLEL_CELL for r in report["results"]}
    width = max(found, key=found.get)
    best = next(r for r in report["results"] if r["width"] == width)
    row = {"program": problem.program, "walls": problem.walls, "ranks": problem.ranks, "size": problem.size}
    row |= {"scheme": name, "sync": sync, "width": width, "simulated": found[width]}
    row |= {"cycles": best.get("cycles_per_cluster", best.get("levels", 0) / NETS)}
    if "items" in best:  # nuice-lee's: of the rank that sends most, in all levels
        row |= {side: n / best["levels"] for side, n in zip(("left", "right"), best["items"], strict=True)}
    else:
        row |= {"left": best["items_left_per_cycle"], "right": best["items_right_per_cycle"]}
    printed = problem.row[name] if sync == as_printed(problem, name) else None
    return {**row, "printed": printed, "ratio": row["simulated"] / printed if printed else None}


def problems(options) -> list[Problem]:
    """Returns the problems; --quick: Lee with 25 % walls only."""
    sizes = options.sizes or [256, 512, *([1024] if options.full else [])]
    return [
        Problem(program, walls, ranks, size)
        for program, walls, ranks in PROGRAMS
        for size in sizes
        if program in options.programs and ranks in options.ranks and not (options.quick and walls == "50")
    ]


def rows(options) -> Iterator[dict]:
    folder = Path(options.build).resolve()
    smpi.build(folder, "nuice-lee", "nuice-wolff")
    record = Record(Path(options.record) if options.record else None)
    chosen = [name for name in SCHEMES if name in options.schemes]

    def one(problem: Problem, name: str, sync: str) -> dict:
        row = record.find(problem, name, sync)
        if row is None:
            row = simulate(folder, problem, name, sync, tuple(options.widths))
            record.add(row)
        return row

    with ThreadPoolExecutor(options.jobs) as pool:
        submitted = [
            [
                pool.submit(one, problem, name, sync)
                for name in chosen
                for sync in syncs(problem, name, options.both_syncs)
            ]
            for problem in problems(options)
        ]
        for futures in submitted:
            found = []
            for future in futures:
                found.append(future.result())
                yield found[-1]
            yield order([row for row in found if row["printed"]])


def label(row: dict) -> str:
    walls = f" {row['walls']} % walls" if row["walls"] else ""
    return f"{row['program']}{walls} {row['size']} x {row['size']}, {row['ranks']} ranks"


def orders(rows: list[dict]) -> Iterator[str]:
    for row in rows:
        if "same_order" in row:
            found = f"{'as' if row['same_order'] else 'NOT as'} printed: {' < '.join(row['simulated_order'])}"
            yield f"{label(row)}: order {found}; within a factor of {row['worst_ratio']:.2f}"


CASE = Case(
    rows,
    needs=["smpirun"],
    options=dict(
        full=(False, "N = 1024 too"),
        both_syncs=(False, "AM-NC-O and ST-NC-O with the other end of cycles as well (figs 37 and 38)"),
        record=("", "append to this file what is not there yet"),
        programs=(["lee", "wolff"], "which", ("lee", "wolff")),
        schemes=(list(SCHEMES), "which", tuple(SCHEMES)),
        ranks=[16, 32],
        sizes=([], "N, by default 256 and 512", None, int),
        widths=([1, 2], "of stripes; the best of them counts, as in 002"),
        jobs=(1, "simulations at a time"),
        build=(str(smpi.BUILD), "folder to build in"),
    ),
    quick=dict(sizes=[256], widths=[1]),
    minutes=30,
    tables=Table(
        "speed-ups, simulated and printed",
        Column("case", label),
        "scheme | ends = sync | w = width | simulated .3f | printed .3f | ratio .2f",
        where="scheme",
        group="case",
    ),
    notes=orders,
)

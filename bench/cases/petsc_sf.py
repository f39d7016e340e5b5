# SPDX-License-Identifier: BSD-3-Clause
"""PetscSF's type nuice compared with basic and neighbor, interleaved in one process (docs/how-to/petsc.md).

Exchanges (PetscSFBcastBegin and End) of the patterns of the case network, on the test network and on shared
memory; and whole solutions: conjugate gradients with Jacobi, a 3-D Poisson problem, 16 right-hand sides at
once. PETSc's log gives the time of exchanges and reductions. Everything is Debian's PETSc and Open MPI;
`make petsc` builds the library. -sf_view shows whether the plan or basic is kept, and after how many
exchanges the plan has paid off its set-up. Every payload is verified, and solutions are compared bit for
bit. --settings: each setting is a separate start, as in the case `tuned`.
"""

import re
from itertools import product
from pathlib import Path

import nuice
from kit import ROOT, CannotRun, Case, Column, Table, objects, place, scratch
from kit.patterns import airfoil_of_volume, uniform
from kit.peers import OPTIONS, build_peers, write_pattern
from kit.settings import setting

TYPES = ["basic", "neighbor", "nuice"]
USED = r"units of \d+ bytes, (\d+) exchanges: (planned|by basic)"
TRIED = (
    r"timed in .* rounds: (.*): (basic is kept|the plan is kept|not decided)"
    r"(?:; its set-up pays off after (\d+) exchanges)?"
)
BOXES = {2: (2, 1, 1), 4: (2, 2, 1), 8: (2, 2, 2), 16: (4, 2, 2)}


def box_halo(num_ranks, points):
    """Returns the halo of a 27-point stencil on points^3 doubles per rank, as in HPCG: faces, edges and
    corners."""
    boxes = BOXES[num_ranks]
    ranks = {at: rank for rank, at in enumerate(product(*map(range, boxes)))}
    messages = []
    for at, src in ranks.items():
        for step in product((-1, 0, 1), repeat=3):
            dst = ranks.get(tuple(a + s for a, s in zip(at, step, strict=True)))
            if any(step) and dst is not None:
                messages.append((src, dst, 8 * points ** step.count(0)))
    return nuice.CommMatrix.from_messages(num_ranks, messages)


def patterns(ranks, quick):
    """Yields (name, matrix) with sizes in whole doubles."""
    degree = min(8, ranks - 1)
    yield f"d={degree}, 64 KiB", uniform(ranks, 8, 65536)
    if quick:
        return
    yield "airfoil 9428", airfoil_of_volume(9428, ranks, multiple=8)
    yield "27-point stencil, 16^3 a rank", box_halo(ranks, 16)
    yield f"d={degree}, 1 KiB", uniform(ranks, 8, 1024)


def run(options, where, program, each, *words):
    """Returns the output of one start, an object per type."""
    library = Path(options.build).absolute() / "src" / "petsc" / "libnuice_petsc.so"
    # Results of earlier runs are not used, because the load may have differed.
    settings = {"PETSC_OPTIONS": f"-dll_append {library} -sf_view"}
    how = {"mpiexec": options.mpiexec, "timeout_s": 580, "settings": settings}
    printed = where.run([*each.prefix, program, *words, *TYPES], **how).stdout
    by_type = {record["type"]: record for record in objects(printed)}
    by_type["nuice"] |= view_of(printed)
    return by_type


def view_of(printed):
    """Returns what -sf_view reports for the most frequent units: the executor of their exchanges, the time
    of a trial, and the number of exchanges that paid off the plan's set-up; None if basic is kept."""
    units = sorted(re.finditer(USED, printed), key=lambda found: int(found[1]))
    if not units or units[-1][2] == "by basic":
        return {"kept": "basic", "tried": None, "pays_after": None}
    tried = re.search(TRIED, printed[units[-1].end() :])
    if not tried:
        return {"kept": "plan", "tried": None, "pays_after": None}
    return {
        "kept": tried[2].removeprefix("the "),
        "tried": tried[1],
        "pays_after": tried[3] and int(tried[3]),
    }


def compared(name, where, by_type, key):
    """Returns one figure: medians by type, the factor by which nuice is faster than the others, and nuice's
    time divided by basic's in the same round (median of the ratios)."""
    ours = by_type["nuice"][key]
    kind = where.name if where.settings else "none"
    figure = {"case": name, "network": kind, "ranks": where.ranks, "what": key.partition("_")[0]}
    figure |= {f"{kind}_s": record[key] for kind, record in by_type.items()}
    figure |= {key: by_type["nuice"][key] for key in ("kept", "tried", "pays_after")}
    figure["ratio"] = by_type["nuice"]["ratio_to_first"]
    return figure | {f"over_{kind}": by_type[kind][key] / ours for kind in TYPES if kind != "nuice"}


def settings(options):
    return [setting(word, "openmpi") for word in options.settings]


def exchanges(options, where, program, folder):
    for (name, matrix), each in product(patterns(where.ranks, options.quick), settings(options)):
        if options.cases not in name:
            continue
        write_pattern(folder / "pattern", matrix)
        by_type = run(options, where, program, each, folder / "pattern", options.reps)
        figure = compared(name, where, by_type, "exchange_seconds_median")
        figure |= {f"{kind}_p95_s": record["exchange_seconds_p95"] for kind, record in by_type.items()}
        figure["setting"] = each.name
        figure["right"] = all(record["verified"] for record in by_type.values())
        figure["set_up_s"] = by_type["nuice"]["set_up_seconds"] - by_type["basic"]["set_up_seconds"]
        yield figure


def solves(options, where, program):
    """Solves a problem with this number of points per direction and this number of right-hand sides."""
    sizes = [(8, 2)] if options.quick else [(32, 16), (48, 16)]
    for (points, sides), each in product(sizes, settings(options)):
        name = f"CG, {points}^3 points, {sides} right-hand sides"
        if options.cases not in name:
            continue
        by_type = run(options, where, program, each, points, sides, 1e-2, max(2, options.reps // 5))
        figure = compared(name, where, by_type, "solve_seconds_median")
        iterations = {record["iterations"] for record in by_type.values()}
        figure["setting"] = each.name
        figure["right"] = len(iterations) == 1 and not any(r["difference"] for r in by_type.values())
        for kind, record in by_type.items():
            for part in ("exchanges", "reductions"):
                figure[f"{kind}_{part}_share"] = (
                    record[f"{part}_seconds_median"] / record["solve_seconds_median"]
                )
        figure["over_basic_without_exchanges"] = 1 / (1 - figure["basic_exchanges_share"])
        yield figure | {"iterations": iterations.pop()}


def rows(options):
    with scratch() as folder:
        programs = build_peers(options.mpicxx, folder, "petsc_sf", "petsc_block_cg")
        if len(programs) < 2:
            raise CannotRun("PETSc is not here: `make petsc` says what it needs")
        for network in options.networks:
            kind, _, ranks = network.partition(":")
            preset = "" if kind == "none" else kind
            with place(preset, int(ranks or 2), hosts=4 if options.quick else 16) as where:
                yield from exchanges(options, where, programs["petsc_sf"], folder)
                if not options.no_solve and kind in ("fast", "none"):
                    yield from solves(options, where, programs["petsc_block_cg"])


def pays(row):
    return "no gain" if row["kept"] == "basic" else str(row["pays_after"] or "?")


def parts(row):
    """Adds the factor by which the solution would be faster if exchanges took no time and reductions took as
    long as now."""
    if "over_basic_without_exchanges" not in row:
        return ""
    shares = f"{row['basic_exchanges_share']:.0%}, {row['basic_reductions_share']:.0%}"
    return f"{shares}; {row['over_basic_without_exchanges']:.2f} without exchanges"


CASE = Case(
    rows,
    needs=["petsc", "testbed"],
    options=dict(
        build=(str(ROOT / "build" / "petsc"), "where `make petsc` builds"),
        networks=(["none:2", "none:8", "fast", "shallow"], "none:N is shared memory with N ranks"),
        no_solve=(False, "exchanges only"),
        cases="",
        settings=(["installed"], "of MPI, such as rcvbuf=4k+eager=1m"),
        reps=15,
        **OPTIONS,
    ),
    quick=dict(reps=2),
    minutes=15,
    tables=Table(
        "medians, {o.reps} interleaved repetitions",
        Column("network", lambda row: f"{row['network']}, {row['ranks']}"),
        "case | setting",
        *(f"{kind} ms = {kind}_s*1e3 .4g" for kind in TYPES),
        "/ basic = over_basic .2f | / neighbor = over_neighbor .2f",
        "nuice / basic = ratio .3f | kept",
        Column("exchanges and reductions of basic's solve", parts),
        Column("pays after", pays),
        Column("", lambda row: "" if row["right"] else "WRONG"),
    ),
    wrong=lambda rows, _: "" if all(row["right"] for row in rows) else "results differ",
)

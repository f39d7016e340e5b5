# SPDX-License-Identifier: BSD-3-Clause
"""Fits the CM-5 (cm5-32, cm5-sync) to the few tables that may be used for it; all others are predictions.

 1. 003 table 1, averages: one permutation      -> byte and message in a bare program ("permutation")
 2. 004 table 2, receiver: several senders      -> a raw message ("raw"), what a busy receiver loses
 3. 003 table 2, column CGM, d = 4              -> byte and message in the package
 4. 003 table 2, column AC, d = 4 and 8         -> asynchronous protocol, loss of a receiver that also sends
 5. 003 table 3, column LP                      -> what two ranks that exchange save
 6. 003 table 3, 64 KiB                         -> what fits into a node, how much slower the rest is
 7. 004 table 3                                 -> the control network, an active message by interrupt
 8. 003 tables 2 and 3, scheduling of CGM       -> how much slower a node plans
 9. 001 table 11, columns LS and PS (cm5-sync)  -> a message of synchronous sends
10. 001 table 12, column GS (cm5-sync)          -> a byte that is picked up and put down by index

Steps 3 to 5 use messages up to 32 KiB. Each step minimises the squares of relative errors (SciPy), with the
results of the steps before. Leave-one-out: a step is fitted again without each of its cells, which is then
predicted. The rows hold the new values for data/machines/cm5-*.toml and fitted.csv next to the present ones,
and --record writes them into fits.csv, which `nuice reproduce` shows. With --check a value that differs is
wrong.
"""

from pathlib import Path

import numpy as np

import nuice_papers
from kit import Case, Column, Table
from nuice_papers.experiments.fits import Fits, shipped

FITS = Path(nuice_papers.__file__).parent / "data" / "fits.csv"
TOLERANCE = 0.02  # --check: the files are rounded


def row_of(number, step, fit, left_out):
    found = fit.x * [scale for _, scale in step.unknown.values()]
    errors = np.abs(fit.fun)
    return {
        "step": number,
        "machine": step.where,
        "table": step.table,
        "columns": step.columns,
        "parameters": dict(zip(step.unknown, map(float, found), strict=True)),
        "shipped": {name: shipped(step, name) for name in step.unknown},
        "cells": len(step.cells),
        "median_error": float(np.median(errors)),
        "worst_error": float(np.max(errors)),
        "leave_one_out": float(np.median(np.abs(left_out))) if left_out else None,
    }


def rows(options):
    """Yields the rows; --quick: only the first step's."""
    steps = Fits(options.seeds).all()
    step, made = next(steps), []
    while step is not None:
        fit = step.solve(step.cells, [start for start, _ in step.unknown.values()])
        left_out = [] if options.no_leave_one_out or options.quick else list(step.leave_one_out(fit.x))
        made.append(row_of(len(made) + 1, step, fit, left_out))
        yield made[-1]
        try:
            step = None if options.quick else steps.send(step.with_values(fit.x))
        except StopIteration:
            step = None
    if options.record:
        write(made)


def write(rows):
    lines = ["# Found by bench/run.py fit_machines --record. Errors: medians of |fitted / printed - 1|."]
    lines += ["# leave_one_out: each cell predicted by a fit without it."]
    lines += ["machine,parameters,table,columns,cells,median_error,worst_error,leave_one_out"]
    for r in rows:
        errors = [f"{r[key]:.4f}" for key in ("median_error", "worst_error", "leave_one_out")]
        columns, table = r["columns"].replace(",", ";"), r["table"].replace(",", " and")
        lines.append(
            ",".join([r["machine"], " ".join(r["parameters"]), table, columns, str(r["cells"]), *errors])
        )
    FITS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def differing(rows, options):
    found = [(r["machine"], n, r["shipped"][n], value) for r in rows for n, value in r["parameters"].items()]
    return "; ".join(
        f"{machine} {name}: {stands:.4g} stands in the files, {value:.4g} was found"
        for machine, name, stands, value in found
        if options.check and abs(stands - value) > TOLERANCE * value
    )


CASE = Case(
    rows,
    options=dict(
        seeds=5,
        no_leave_one_out=(False, "only the fits"),
        check=(False, "wrong is what differs from the shipped values"),
        record=(False, f"write {FITS.name}"),
    ),
    minutes=10,
    tables=Table(
        "the CM-5, fitted",
        "step | machine | table | columns | cells | median error = median_error .1%",
        "worst = worst_error .1% | leave one out = leave_one_out .1%",
        Column("found", lambda r: ", ".join(f"{n} = {v:.4g}" for n, v in r["parameters"].items())),
    ),
    wrong=differing,
)

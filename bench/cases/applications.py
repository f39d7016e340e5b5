# SPDX-License-Identifier: BSD-3-Clause
"""Matrices of real programs: phases, bytes and time of schedules, compared with the bounds.

AMG2013, LULESH, miniFE and miniAMR on 64 and about 1,000 ranks (bench/data/applications), and with
--held-out the same programs permuted and resized. bytes / bound: the bytes for which all phases together
wait, over those that the busiest rank sends or receives. / whole: over the minimum of schedules that split
no message. whole / bound: no schedule of whole messages has fewer bytes / bound. `lpt` is "largest first",
which a good engineer writes in ten lines; `distributed_coloring` is planned without a gather.

--advise: the adviser's choice over the best of all candidates in simulation, packet by packet on lossless
machines. Totals of a run are first scaled to one exchange, so that the busiest rank sends --bytes. `choice`
is that of `nuice advise`, which may decide for --budget seconds; `auto` is that of a plan, which looks
closer while that probably saves time. Deciding is not counted.

--split: messages of at most BYTES form one exchange, and the others an exchange after it. The adviser chooses
a method for each of the two. Their time is divided by the best time of the undivided exchange; planning is
not counted.
"""

import time

import numpy as np

import nuice
from kit import Case, Table
from kit.applications import application, application_names, held_out

SCHEDULERS = ["lpt", "rs_nh", "coloring", "coloring_by_size", "slices", "distributed_coloring"]


def cases(options):
    for name in application_names():
        yield name, application(name)
    if options.held_out:
        yield from held_out()


def one_exchange(matrix, num_bytes):
    """Scales a whole run's totals to one exchange. Messages keep at least eight bytes."""
    src, dst, sizes = matrix.entries()
    share = num_bytes / nuice.lower_bounds(matrix).max_port_bytes
    scaled = np.maximum(np.minimum(sizes, 8), np.rint(np.asarray(sizes) * share).astype(np.int64))
    return nuice.CommMatrix.from_arrays(matrix.num_ranks, src, dst, scaled)


def planned(name, matrix, options):
    bounds, whole = nuice.lower_bounds(matrix), nuice.whole_message_bytes(matrix)
    for scheduler in options.schedulers:
        made = nuice.plan(matrix, scheduler, repeat=options.repeat)
        yield {
            "matrix": name,
            "scheduler": scheduler,
            "ranks": matrix.num_ranks,
            "messages": matrix.num_messages,
            "phases": made.phases,
            "phases_to_max_degree": made.phases / bounds.max_degree,
            "bytes_to_bound": made.phase_bytes / bounds.max_port_bytes,
            "bytes_to_whole": made.phase_bytes / whole,
            "whole_to_bound": whole / bounds.max_port_bytes,
            "plan_seconds": made.plan_seconds,
            "verified": made.verified,
        }


def advised(name, matrix, options):
    exchange = one_exchange(matrix, options.bytes)
    for machine in options.machines:
        target = nuice.find_machine(machine, matrix.num_ranks)
        careful = nuice.advise(exchange, target, 1, predict_by="simulation")
        known = {c.name: c for c in careful.candidates if c.applicable}
        for reuse in options.reuse:
            totals = {name: c.planning_s / reuse + c.exchange_s for name, c in known.items()}
            begin = time.perf_counter()
            patient = nuice.advise(exchange, target, reuse, budget_s=options.budget)
            seconds = time.perf_counter() - begin
            auto = nuice.advise(exchange, target, reuse)
            choices = {"choice": patient.choice.name, "auto": auto.choice.name}
            yield {
                "matrix": name,
                "machine": machine,
                "reuse": reuse,
                "best": min(totals, key=totals.get),
                **choices,
                **{f"{by}_to_best": totals[chosen] / min(totals.values()) for by, chosen in choices.items()},
                "deciding_seconds": seconds,
            }


def least(matrix, target):
    """Returns the shortest simulated exchange of all candidates."""
    found = nuice.advise(matrix, target, 10000, predict_by="simulation").candidates
    return min((c for c in found if c.applicable), key=lambda c: c.exchange_s)


def split(name, matrix, options):
    exchange = one_exchange(matrix, options.bytes)
    src, dst, sizes = (np.asarray(part) for part in exchange.entries())
    for machine in options.machines:
        target = nuice.find_machine(machine, matrix.num_ranks)
        whole = least(exchange, target)
        for limit in options.split:
            parts = [
                nuice.CommMatrix.from_arrays(matrix.num_ranks, src[chosen], dst[chosen], sizes[chosen])
                for chosen in (sizes <= limit, sizes > limit)
            ]
            if all(part.num_messages for part in parts):
                tiny, large = (least(part, target) for part in parts)
                yield {
                    "matrix": name,
                    "machine": machine,
                    "limit_bytes": limit,
                    "whole": whole.name,
                    "tiny": tiny.name,
                    "large": large.name,
                    "split_to_whole": (tiny.exchange_s + large.exchange_s) / whole.exchange_s,
                }


def rows(options):
    made_by = split if options.split else advised if options.advise else planned
    for name, matrix in cases(options):
        if not any(part in name for part in options.cases):
            continue
        yield from made_by(name, matrix, options)


def wrong(rows, options):
    bad = [f"{row['scheduler']} on {row['matrix']}" for row in rows if not row.get("verified", True)]
    return f"these schedules are wrong: {', '.join(bad)}" if bad else ""


def notes(rows):
    for by in ("choice", "auto"):
        ratios = sorted(row[f"{by}_to_best"] for row in rows if f"{by}_to_best" in row)
        if ratios:
            middle, worst = ratios[len(ratios) // 2], ratios[-1]
            yield f"{by} / best: median {middle:.3f}, worst {worst:.3f} of {len(ratios)}"


CASE = Case(
    rows,
    options=dict(
        cases=[""],
        schedulers=SCHEDULERS,
        repeat=3,
        held_out=(False, "also permuted and resized ones"),
        advise=(False, "the adviser instead of schedules"),
        machines=(
            ["ethernet-10g", "ib-hdr-fattree", "ib-ndr-fattree", "slingshot-dragonfly", "roce-pfc"],
            "--advise: on these",
        ),
        reuse=([1, 100, 10000], "--advise: exchanges of a plan"),
        budget=(3.0, "--advise: seconds for a choice, as nuice advise has them"),
        split=([], "messages of at most BYTES apart", (), int),
        bytes=(1 << 20, "--advise: that the busiest rank sends in an exchange"),
    ),
    quick=dict(cases=["-64"], repeat=1),
    minutes=1,
    tables=[
        Table(
            "matrices of real programs",
            "matrix | scheduler | phases | / D = phases_to_max_degree .3f",
            "bytes / bound = bytes_to_bound .4f",
            "/ whole = bytes_to_whole .4f | whole / bound = whole_to_bound .4f",
            "planning ms = plan_seconds*1e3 .1f",
            where="scheduler",
            group="matrix",
        ),
        Table(
            "the adviser's choice, simulated, {o.bytes} bytes",
            "matrix | machine | uses = reuse | choice | best | choice / best = choice_to_best .3f",
            "auto | auto / best = auto_to_best .3f | deciding ms = deciding_seconds*1e3 .0f",
            where="reuse",
            group="matrix",
        ),
        Table(
            "tiny messages in an exchange of their own, simulated, {o.bytes} bytes",
            "matrix | machine | up to, bytes = limit_bytes | whole | tiny | large",
            "split / whole = split_to_whole .3f",
            where="limit_bytes",
            group="matrix",
        ),
    ],
    notes=notes,
    wrong=wrong,
)

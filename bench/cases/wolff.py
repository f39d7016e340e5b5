# SPDX-License-Identifier: BSD-3-Clause
"""nuice-wolff in every scheme: the figures of 002 for this machine (papers/docs/irregular.md).

For each size: scale time T/S N^2 by width (fig. 29); the best width of every scheme, its speed-up over the
sequential program and over one rank of the same code (fig. 31); cycles and items (fig. 35); local compared
with global synchronisation (fig. 37); the widths from which two ranks beat one, by an item's cost; lines of
code (fig. 28). There is a row for each scheme, width and kind of synchronisation, and then one for the rest
of a size's report.
"""

import json

from kit import ROOT, Case, Table, here
from nuice.cli.bench import find_program

FILES = {
    "SSR-C-NO, ASR-C-O": "send_receive.hpp",
    "AMP-C-NO": "put.hpp",
    "AM-NC-O, ST-NC-O, AM-C-O": "active_messages.hpp",
}


def lines_of_code(file):
    lines = (line.strip() for line in (ROOT / "papers/irregular" / file).read_text().splitlines())
    return sum(1 for line in lines if line and not line.startswith(("//", "#")))


def rows(options):
    """Yields rows for widths that leave every rank a stripe."""
    code = {schemes: lines_of_code(file) for schemes, file in FILES.items()}
    for size in options.sizes:
        widths = [width for width in options.widths if width * options.ranks <= size]
        words = ["--size", size, "--widths", ",".join(map(str, widths)), "--reps", options.reps]
        words += ["--clusters", options.clusters, "--samples", 0, "--no-check", "--json"]
        report = json.loads(
            here(options.ranks).run([find_program("nuice-wolff"), *words], timeout_s=3600).stdout
        )
        results = report.pop("results")
        for result in results:
            way = [r for r in results if (r["scheme"], r["sync"]) == (result["scheme"], result["sync"])]
            is_best = result["scale_ms"] == min(r["scale_ms"] for r in way)
            yield {"size": size} | result | {"is_best": is_best}
        yield {"size": size, "report": report, "lines_of_code": code}


def said(rows):
    """Returns the notes of each size: clusters, the sequential program, the cost of an item; and lines of
    code."""
    for report in (row["report"] for row in rows if "report" in row):
        sequential, size = report["sequential"], report["size"]
        yield (
            f"{size} x {size}, {report['ranks']} ranks, {report['clusters']} clusters, mean "
            f"{report['mean_cluster']:.0f} sites; sequential {sequential['scale_ms']:.3f} ms, "
            f"{sequential['flips_per_second'] / 1e6:.1f} M flips/s"
        )
        for cost in report["item_costs"]:
            pays = f"pays from width {cost['pays_from_width']:.1f}"
            yield f"  {cost['scheme']}: {1e9 * cost['item_seconds']:.1f} ns an item, {pays}"
    code = next(row["lines_of_code"] for row in rows if "report" in row)
    yield "lines of code (002 fig. 28): " + "; ".join(f"{name} {count}" for name, count in code.items())


CASE = Case(
    rows,
    needs=["mpi", "wolff"],
    options=dict(
        ranks=2,
        sizes=[256, 512, 1024],
        widths=([1, 4, 16, 64, 256], "of stripes"),
        reps=9,
        clusters=(60, "in each"),
    ),
    quick=dict(sizes=[32], widths=[4], reps=1, clusters=3),
    minutes=12,
    tables=[
        Table(
            "T/S N^2, ms, by width (002 fig. 29), N = {row[size]}",
            "scheme | ends = sync",
            where="scheme",
            each="size",
            across="width",
            cell=lambda row: f"{row['scale_ms']:.3f}",
        ),
        Table(
            "best widths (002 figs 31, 35, 37), N = {row[size]}",
            "scheme | ends = sync | width | Mflips/s = flips_per_second*1e-6 .1f | speed-up = speedup .2f",
            "efficiency .2f",
            "over itself = speedup_over_one_rank .2f | cycles = cycles_per_cluster .0f",
            "left = items_left_per_cycle .2f | right = items_right_per_cycle .2f",
            where=lambda row: row.get("is_best", False),
            each="size",
        ),
    ],
    notes=said,
)

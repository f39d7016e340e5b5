# SPDX-License-Identifier: BSD-3-Clause
"""The conclusions of 004 from its tables: which algorithm is best for a schedule that is used once, and
which for many uses.

If a schedule is used once, the scheduling cost counts: AC and DRS_N have none, LP hardly any, RS_N the
printed "comp". NUICE's scheduling cost is the machine's planning speed, which is fitted to CGM of 003
(papers/docs/reproduce.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .report import APART, LEVEL, Cell, Reproduction, least, ranked
from .tables import by_row, ours_by_row

Times = Mapping[Any, dict[str, float]]
MEMORY = "the node is short of memory there, and what it then costs is fitted to two cells of another table"


def _where(row: Any) -> str:
    return ", ".join(f"{key} {value}" for key, value in row)


def claim_used_once(found: Reproduction, costs: Sequence[Cell], planning: Sequence[Cell]) -> None:
    """Tests every row whose printed winner is more than 10 % ahead of the next."""
    plans = by_row(planning)
    for row, of in by_row(costs).items():
        plan = plans[(row[0],)]
        cells = {a: [of[a], *([plan[a]] if a in plan else [])] for a in ("ac", "lp", "rs_n", "drs_n")}
        printed = {a: sum(cell.printed for cell in both) for a, both in cells.items()}
        ours = {a: sum(cell.ours for cell in both) for a, both in cells.items()}
        first, second = sorted(printed.values())[:2]
        if second < (1 + APART) * first:
            continue
        best, lead = least(printed), 100 * (second / first - 1)
        reason = MEMORY if of["ac"].large else f"printed is a lead of {lead:.0f} %, which is about our error"
        seen = f"{ranked(ours)}; printed {ranked(printed)}"
        found.claim(f"{_where(row)}, used once: {best} is the best", least(ours) == best, seen, reason)


def claim_used_often(found: Reproduction, costs: Sequence[Cell]) -> None:
    """Tests the statements of s.5.1 on the cost of the exchange alone."""
    rows = ours_by_row(costs)
    sparse = {row: t for row, t in rows.items() if row[0][1] < 31}

    def claim(text: str, of: Times, right: Callable[[dict[str, float]], bool]) -> None:
        wrong = [row for row, times in of.items() if not right(times)]
        seen = f"{len(of) - len(wrong)} of {len(of)} rows"
        seen += "".join(f"; {_where(row)}: {ranked(of[row])}" for row in wrong[:3])
        found.claim(text, not wrong, seen, "see the rows that are named")

    if found.name == "004-table4":
        dense = {row: t for row, t in rows.items() if row[0][1] == 31}
        claim("d = 4 and 16: RS_N is superior to all others", sparse, lambda t: least(t) == "rs_n")
        claim("d = 31: LP, as each sends to nearly all", dense, lambda t: least(t) == "lp")
    elif found.name == "004-table5":
        planned = {row: {a: t for a, t in of.items() if a != "drs_n"} for row, of in sparse.items()}
        text = "d = 4 and 16: RS_NH is the best of AC, LP, RS_N and RS_NH (000 fig. 12)"
        claim(text, planned, lambda t: t["rs_nh"] < LEVEL * min(t.values()))
        text = "RS_NH before RS_N: reducing the variance pays"
        claim(text, rows, lambda t: t["rs_nh"] < LEVEL * t["rs_n"])
    else:
        sizes = {row: (row[0][1], row[1][1]) for row in rows}
        long = {
            row: rows[row] for row, (n, unit) in sizes.items() if unit >= 512 or (n > 9000 and unit >= 256)
        }
        claim("long messages: DRS_N before RS_N", long, lambda t: t["drs_n"] < t["rs_n"])
        text = "long messages: DRS_N is close to RS_NH (within 15 %)"
        claim(text, long, lambda t: t["drs_n"] < 1.15 * t["rs_nh"])

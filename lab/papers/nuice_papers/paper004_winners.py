# SPDX-License-Identifier: BSD-3-Clause
"""What 004 concludes from its tables: which algorithm for a schedule used once, and which for many uses.

Used once, the scheduling cost counts: AC and DRS_N have none, LP hardly any, RS_N what its table prints
("comp"). Ours is the planning speed of the machine, which is fitted to CGM of 003
(lab/papers/docs/reproduce.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .report import APART, LEVEL, Cell, Claim

Costs = Mapping[Any, Mapping[str, tuple[float, float]]]  # by case and algorithm: printed, ours
MEMORY = "the node is short of memory there, and what it then costs is fitted to two cells of another table"


def _rows(times: Iterable[Cell]) -> dict[Any, dict[str, Cell]]:
    rows: dict[Any, dict[str, Cell]] = {}
    for cell in times:
        rows.setdefault(cell.row, {})[cell.column] = cell
    return rows


def _text(totals: Mapping[str, float]) -> str:
    return ", ".join(f"{a} {t:.4g}" for a, t in sorted(totals.items(), key=lambda entry: entry[1])) + " ms"


def _where(row: Any) -> str:
    return ", ".join(f"{key} {value}" for key, value in row)


def _best(totals: Mapping[str, float]) -> str:
    return min(totals, key=totals.__getitem__)


def used_once(times: Iterable[Cell], costs: Costs) -> list[Claim]:
    """A claim for every row whose printed winner is more than 10 % ahead of the next."""
    claims = []
    for row, of in _rows(times).items():
        case = row[0][1]
        names = [a for a in ("ac", "lp", "rs_n", "drs_n") if a in of]
        printed = {a: of[a].printed + costs[case].get(a, (0, 0))[0] for a in names}
        ours = {a: of[a].ours + costs[case].get(a, (0, 0))[1] for a in names}
        first, second = sorted(printed.values())[:2]
        if second < (1 + APART) * first:
            continue
        best = _best(printed)
        seen = f"{_text(ours)}; printed {_text(printed)}"
        near = second / first - 1
        reason = (
            MEMORY if of["ac"].large else f"printed is a lead of {100 * near:.0f} %, which is about our error"
        )
        claims.append(
            Claim(f"{_where(row)}, used once: {best} is the best", _best(ours) == best, seen, reason)
        )
    return claims


def used_often(name: str, times: Iterable[Cell]) -> list[Claim]:
    """The sentences of s.5.1 on the cost of the exchange alone."""
    rows = {row: {a: cell.ours for a, cell in of.items()} for row, of in _rows(times).items()}
    if name == "004-table4":
        sparse = {row: t for row, t in rows.items() if row[0][1] < 31}
        return [
            _all("d = 4 and 16: RS_N is superior to all others", sparse, lambda t: _best(t) == "rs_n"),
            _all(
                "d = 31: LP, as each sends to nearly all",
                {row: t for row, t in rows.items() if row[0][1] == 31},
                lambda t: _best(t) == "lp",
            ),
        ]
    if name == "004-table5":
        scheduled = {
            row: {a: t for a, t in of.items() if a != "drs_n"} for row, of in rows.items() if row[0][1] < 31
        }
        return [
            _all(
                "d = 4 and 16: RS_NH is the best of AC, LP, RS_N and RS_NH (000 fig. 12)",
                scheduled,
                lambda t: t["rs_nh"] < LEVEL * min(t.values()),
            ),
            _all(
                "RS_NH before RS_N: reducing the variance pays",
                rows,
                lambda t: t["rs_nh"] < LEVEL * t["rs_n"],
            ),
        ]
    long = {row: t for row, t in rows.items() if row[1][1] >= 512 or (row[0][1] > 9000 and row[1][1] >= 256)}
    return [
        _all("long messages: DRS_N before RS_N", long, lambda t: t["drs_n"] < t["rs_n"]),
        _all(
            "long messages: DRS_N is close to RS_NH (within 15 %)",
            long,
            lambda t: t["drs_n"] < 1.15 * t["rs_nh"],
        ),
    ]


def _all(text: str, rows: Mapping[Any, dict[str, float]], right: Any) -> Claim:
    wrong = [row for row, times in rows.items() if not right(times)]
    seen = f"{len(rows) - len(wrong)} of {len(rows)} rows"
    seen += "".join(f"; {_where(row)}: {_text(rows[row])}" for row in wrong[:3])
    return Claim(text, not wrong, seen, "see the rows that are named")

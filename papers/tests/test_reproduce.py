# SPDX-License-Identifier: BSD-3-Clause
"""Reproduced tables: their sums, a quick run of all, the orders that the papers show, and the command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import nuice
import nuice_papers as reproduce
from nuice.pattern_figures import like_mesh, mesh_numbers
from nuice_papers import paper003_break_even, patterns, printed_tables
from nuice_papers.runs import Lab


def cell(printed: float, ours: float, column: str = "a", row: int = 1, **more: bool) -> reproduce.Cell:
    return reproduce.Cell((("row", row),), column, printed, ours, **more)


def test_the_error_is_the_median_of_relative_errors() -> None:
    assert reproduce.median_error([]) is None
    assert reproduce.median_error([cell(2, 1), cell(2, 2), cell(1, 4)]) == 0.5


def test_pairs_count_within_rows_and_when_ten_percent_apart() -> None:
    cells = [
        cell(1.0, 5.0, "a", 1),
        cell(1.05, 4.0, "b", 1),  # too close to a
        cell(2.0, 4.5, "c", 1),  # before a: wrong; after b: right
        cell(9.0, 1.0, "a", 2),  # alone in its row
    ]
    assert reproduce.ordered_pairs(cells) == (1, 2)


def test_large_and_fitted_cells_are_told_apart() -> None:
    cells = [cell(1, 1), cell(1, 1, fitted=True), cell(1, 1, large=True)]
    assert reproduce.in_bar(cells) == cells[:1]


@pytest.fixture(scope="module")
def quick() -> dict[str, reproduce.Reproduction]:
    return {result.name: result for result in reproduce.reproduce(quick=True)}


def test_everything_is_reproduced(quick) -> None:
    assert list(quick) == reproduce.names()
    for result in quick.values():
        assert result.parts or result.claims, result.name
        for part in result.parts:
            assert part.cells
            assert all(c.printed > 0 and c.ours > 0 for c in part.cells), (result.name, part.title)


def test_the_list_of_figures_is_whole() -> None:
    """Of every paper, each table and figure is run, or the document says where it is or why it is none."""
    document = (Path(__file__).parents[1] / "docs/reproduce.md").read_text(encoding="utf-8")
    section = document.split("## Which tables and figures")[1].split("\n## ")[0]
    printed = {"000": (0, 17), "001": (12, 12), "002": (0, 38), "003": (4, 10), "004": (6, 9)}
    for paper, counts in printed.items():
        (line,) = [line for line in section.splitlines() if line.startswith(f"| {paper} ")]
        run, *others = line.split("|")[2:5]
        for kind, count in zip(("table", "fig"), counts, strict=True):
            told = numbers_of(kind, run)
            done = {n for n in range(1, count + 1) if f"{paper}-{kind}{n}" in reproduce.names()}
            assert told == done, (paper, kind)
            everything = told.union(*(numbers_of(kind, cell) for cell in others))
            assert everything == set(range(1, count + 1)), (paper, kind)


def numbers_of(kind: str, text: str) -> set[int]:
    """Of "tables 1 to 4 and 6", "fig. 9: ...": the numbers behind that word."""
    found: set[int] = set()
    for list_ in re.findall(rf"{kind}s?\.? ((?:\d+(?: to |, | and )?)+)", text):
        for first, last in re.findall(r"(\d+)(?: to (\d+))?", list_):
            found |= set(range(int(first), int(last or first) + 1))
    return found


def test_the_machine_predicts_within_the_bars(quick) -> None:
    """15 % and 85 % are asked of the whole run; a quick one has few cells of every kind."""
    cells = reproduce.in_the_bars(quick.values())
    right, total = reproduce.ordered_pairs(cells)
    assert len(cells) > 60 and not any(c.large for c in cells)
    assert reproduce.median_error(cells) <= 0.15
    assert right >= 0.85 * total


def test_fitted_cells_say_so(quick) -> None:
    """And nothing else: the named columns of bench/run.py fit_machines."""
    columns: dict[str, set[str]] = {}
    for name, result in quick.items():
        for part in result.parts:
            columns.setdefault(name, set()).update(c.column for c in part.cells if c.fitted)
    assert {name: found for name, found in columns.items() if found} == {
        "001-table5": {"bex"},
        "001-table11": {"ls", "ps"},
        "001-table12": {"gs"},
        "002-fig31": {"AM-NC-O"},
        "002-fig32": {"ASR-C-O"},
        "002-fig36": {"cycles"},
        "003-table1": {"average_ms"},
        "003-table2": {"ac", "cgm"},
        "003-table3": {"lp", "cgm"},
        "004-table2": {"recv_ms"},
        "004-table3": {"concat_ms", "am_ms"},
    }


def test_fits_have_leave_one_out_errors() -> None:
    fits = reproduce.fits()
    assert len(fits) >= 10
    for fit in fits:
        assert 0 < fit["median_error"] <= fit["worst_error"], fit
        assert fit["median_error"] <= 1.1 * fit["leave_one_out"], fit
        assert nuice.find_machine(fit["machine"].split("/")[0])


def test_every_claim_that_does_not_hold_has_a_reason(quick) -> None:
    missing = [c.text for r in quick.values() for c in r.claims if not c.holds and not c.reason]
    assert not missing


def test_the_summary_adds_up(quick) -> None:
    total = reproduce.summary_of(list(quick.values()))
    for key in ("cells", "pairs", "pairs_in_order", "claims", "claims_held", "close_pairs"):
        assert total[key] == sum(r.summary()[key] for r in quick.values()), key
    assert total["cells"] > 300 and total["claims"] > 150
    assert total["pairs_in_order"] >= 0.95 * total["pairs"]
    assert total["claims_held"] >= 0.9 * total["claims"]
    assert total["median_error"] <= 0.1


@pytest.mark.long
def test_all_of_it_is_within_the_bars_and_as_the_document_says() -> None:
    total = reproduce.summary_of(list(reproduce.reproduce()))
    assert total["median_error"] <= 0.08
    assert total["pairs_in_order"] >= 0.98 * total["pairs"]
    assert total["claims_held"] >= 0.95 * total["claims"]
    document = (Path(__file__).parents[1] / "docs/reproduce.md").read_text(encoding="utf-8")
    (together,) = [line for line in document.splitlines() if line.startswith("| **together**")]
    for part, whole in (("pairs_in_order", "pairs"), ("claims_held", "claims")):
        assert f"{total[part]} of {total[whole]}" in together
    assert f"| {total['cells']} (" in together
    assert f"**{100 * total['median_error']:.1f} %**" in together


def test_bex_beats_pex_where_bytes_count(quick) -> None:
    """001's main result: the root of the tree is thin."""
    claims = [c for name in ("001-fig5", "001-fig8") for c in quick[name].claims if "BEX is faster" in c.text]
    assert len(claims) == 2 and all(c.holds for c in claims)
    lab = Lab(1)
    flat = Lab(1, {"cm5-sync": lab.machine("cm5-sync").replace(topology="tree:4x4x4x4")})
    matrix = patterns.complete(2048)
    pex, bex = (lab.run("cm5-sync", a, matrix, 0) for a in ("pex", "bex"))
    assert bex < 0.97 * pex
    assert flat.run("cm5-sync", "bex", matrix, 0) == pytest.approx(
        flat.run("cm5-sync", "pex", matrix, 0), rel=0.01
    )


def test_a_node_runs_short_of_memory() -> None:
    """003 table 3: AC at d = 16 and 64 KiB jumps, CGM does not."""
    lab = Lab(1)
    growth = {}
    for algorithm in ("ac", "cgm"):
        times = [lab.run("cm5-32", algorithm, patterns.uniform(16, b, 0), 0) for b in (32768, 65536)]
        growth[algorithm] = times[1] / times[0]
    assert growth["ac"] > 2.7 > 2.2 > growth["cgm"]


@pytest.mark.parametrize(
    ("table", "row", "before", "after"),
    [
        ("003-table2", {"degree": 4, "bytes": 16384}, "cgm", "lp"),
        ("003-table2", {"degree": 8, "bytes": 16384}, "lp", "ac"),
        ("003-table2", {"degree": 4, "bytes": 256}, "ac", "lp"),
        ("004-table4", {"degree": 31, "bytes": 16384}, "lp", "rs_n"),
        ("004-table4", {"degree": 16, "bytes": 16}, "rs_n", "drs_n"),
        ("004-table5", {"degree": 16, "unit_bytes": 32}, "rs_n", "ac"),
        ("004-table3", {"ranks": 32, "degree": 32}, "am_ms", "concat_ms"),
        ("001-table11", {"density": 25, "bytes": 256}, "gs", "ps"),
        ("001-table11", {"density": 75, "bytes": 256}, "bs", "gs"),
    ],
)
def test_algorithms_stand_in_the_printed_order(quick, table, row, before, after) -> None:
    part = quick[table].parts[0]
    cells = {c.column: c for c in part.cells if dict(c.row) == row}
    assert cells[before].printed < cells[after].printed, "the test itself"
    assert cells[before].ours < cells[after].ours


def test_learning_who_sends_costs_more_with_more_messages(quick) -> None:
    """004 table 3: the concatenation does not depend on d, Generate_Recv does."""
    cells = quick["004-table3"].parts[0].cells
    assert len({c.ours for c in cells if c.column == "concat_ms"}) == 1
    times = [c.ours for c in cells if c.column == "am_ms"]
    assert times == sorted(times) and times[0] < times[-1]


def test_two_runs_are_equal(quick) -> None:
    again = next(iter(reproduce.reproduce(["004-table6"], quick=True)))
    for part, before in zip(again.parts, quick["004-table6"].parts, strict=True):
        if not part.timed_here:
            assert list(part.cells) == list(before.cells)


@pytest.mark.parametrize("points", [2800, 9428, 53961])
def test_mesh_patterns_have_the_printed_numbers(points: int) -> None:
    printed = mesh_numbers(points)
    for seed in range(3):
        matrix = like_mesh(points, 1, seed)
        degrees = [len(matrix.sent_by(rank)) for rank in range(32)]
        src, dst, units = matrix.entries()
        pairs = set(zip(src.tolist(), dst.tolist(), strict=True))
        assert pairs == {(d, s) for s, d in pairs}
        assert max(degrees) <= printed["messages_max"] and min(degrees) >= printed["messages_min"]
        assert sum(degrees) / 32 == pytest.approx(printed["messages_avg"], abs=0.07)
        assert units.max() == printed["length_max"] and units.min() == printed["length_min"]
        assert units.mean() == pytest.approx(printed["length_avg"], rel=0.02)


def test_a_machine_of_ones_own() -> None:
    """A Lab takes machines instead of the shipped ones: twice the time per byte, almost twice the time."""
    row = printed_tables.table("003_tables2_3")[9]
    slow = nuice.find_machine("cm5-32").replace(byte_s=2 * nuice.find_machine("cm5-32").byte_s)

    def time(lab: Lab) -> float:
        return lab.mean_ms("cm5-32", "cgm", lambda seed: patterns.uniform(row["degree"], row["bytes"], seed))

    assert 1.8 < time(Lab(1, {"cm5-32": slow})) / time(Lab(1)) < 2.0


def test_json_of_the_command(nuice_command) -> None:
    done = nuice_command("reproduce", "003-table2", "000-fig16", "--quick", "--json")
    assert done.status == 0, done.err
    result = done.json()
    assert result["quick"] is True and result["plot"] is None
    table, figure = result["tables"]
    assert (table["name"], figure["name"]) == ("003-table2", "000-fig16")
    costs, phases, _, planning = table["parts"]
    assert (costs["unit"], phases["unit"], planning["timed_here"]) == ("ms", "phases", True)
    assert costs["cells"][0].keys() == {
        "degree", "bytes", "column", "printed", "ours", "error", "fitted", "large"
    }  # fmt: skip
    assert planning["median_error"] is None and 0 <= costs["median_error"] < 0.5
    assert figure["claims"][0].keys() == {"text", "holds", "seen"}
    assert result["overall"]["cells"] == len(costs["cells"])


def test_tables_for_people(nuice_command) -> None:
    done = nuice_command("reproduce", "003-table2", "004-table1", "--quick")
    assert done.status == 0, done.err
    assert "ours [printed]; * the machine was fitted to it" in done.out
    assert "holds: P0 sends three messages" in done.out
    assert "pairs ordered as printed" in done.out


def test_names_and_papers_can_be_listed(nuice_command) -> None:
    assert nuice_command("reproduce", "--list").out.split() == reproduce.names()
    assert nuice_command("reproduce", "004", "--list", "--json").json()["names"] == [
        name for name in reproduce.names() if name.startswith("004")
    ]


def test_an_unknown_table_lists_the_known(nuice_command) -> None:
    done = nuice_command("reproduce", "003-table9", "--json")
    assert done.status == 2
    assert done.json()["error"]["code"] == "invalid_argument"
    assert "'003-table9' is not a table or figure: there are 000-fig2, " in done.err


def test_pictures(nuice_command, tmp_path) -> None:
    done = nuice_command("reproduce", "003-table2", "--quick", "--plot", "curves.png")
    assert done.status == 0, done.err
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
    done = nuice_command("reproduce", "003-table2", "001-fig10", "004-table1", "--quick", "--plot", "folder")
    assert done.status == 0, done.err
    assert sorted(p.name for p in (tmp_path / "folder").iterdir()) == ["001-fig10.png", "003-table2.png"]
    done = nuice_command("reproduce", "000-fig16", "--quick", "--plot", "claims.png")
    assert done.status == 2 and "nothing to draw" in done.err
    assert not (tmp_path / "claims.png").exists()


def test_the_summary_for_programs(nuice_command) -> None:
    record = nuice_command("reproduce", "001-table11", "002-fig31", "--quick", "--summary", "--json").json()
    keys = {"cells", "median_error", "pairs", "pairs_in_order", "claims", "claims_held"}
    assert keys <= record["total"].keys()
    assert [table["name"] for table in record["tables"]] == ["001-table11", "002-fig31"]
    assert all(keys <= table.keys() and "parts" not in table for table in record["tables"])
    assert record["fitted_to"] == reproduce.fits()


def test_break_even_is_near_the_printed_rule(quick: dict[str, reproduce.Reproduction]) -> None:
    """003 s.5.1: on the CM-5 a schedule used once pays for few messages, or for long ones."""
    assert all(claim.holds for claim in quick["003-s5"].claims)
    constants = paper003_break_even.paper_constants()
    assert constants.c1 > constants.c3 > 1  # "C1 and C3 are some constants": CGM gains with long messages

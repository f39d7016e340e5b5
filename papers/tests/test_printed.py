# SPDX-License-Identifier: BSD-3-Clause
"""The printed tables: they load, and a misread digit would break what must hold within them."""

from __future__ import annotations

import itertools

import pytest

import nuice
from nuice_papers import printed_tables

COSTS = {  # file: (keys but the last, the last key, columns that grow with it)
    "003_tables2_3": (("degree",), "bytes", ("ac", "lp", "gm", "cgm")),
    "004_table2": (("bytes",), "senders", ("recv_ms", "send_max_ms", "send_average_ms")),
    "004_table3": (("ranks",), "degree", ("am_ms",)),
    "004_table4": (("degree",), "bytes", ("ac", "lp", "rs_n", "drs_n")),
    "004_table5": (("degree",), "unit_bytes", ("ac", "lp", "rs_n", "drs_n", "rs_nh")),
    "004_table6": (("points",), "unit_bytes", ("ac", "lp", "rs_n", "drs_n", "rs_nh")),
    "001_table5": (("ranks",), "side", ("lex", "pex", "rex", "bex")),
    "001_table11": (("density",), "bytes", ("ls", "ps", "bs", "gs")),
    "003_table1": ((), "bytes", ("average_ms", "max_ms", "min_ms")),
    "003_table4": (("ranks",), "degree", ("phases", "schedule_ms")),
}


@pytest.mark.parametrize("name", printed_tables.names())
def test_every_table_loads_and_names_its_source(name: str) -> None:
    rows = printed_tables.table(name)
    assert rows
    assert printed_tables.source(name).startswith(("000", "001", "002", "003", "004", "Numbers"))
    assert all(row.keys() == rows[0].keys() and None not in row for row in rows)


@pytest.mark.parametrize("name", COSTS)
def test_costs_grow_with_the_last_key(name: str) -> None:
    keys, last, columns = COSTS[name]
    rows = printed_tables.table(name)
    for before, after in itertools.pairwise(rows):
        if any(before[key] != after[key] for key in keys):
            continue
        assert before[last] < after[last]
        for column in columns:
            assert 0 < before[column] < after[column], (name, before, after, column)


def test_one_permutation_has_the_printed_ratios() -> None:
    for row in printed_tables.table("003_table1"):
        for part in ("max", "min"):
            ratio = row[f"{part}_ms"] / row["average_ms"]
            assert row[f"{part}_ratio"] == pytest.approx(ratio, abs=0.006), row


def test_senders_lie_between_their_extremes() -> None:
    for row in printed_tables.table("004_table2"):
        assert row["send_min_ms"] <= row["send_average_ms"] <= row["send_max_ms"]


@pytest.mark.parametrize("name", ["003_tables2_3_plans", "004_table4_plans", "003_table4"])
def test_no_schedule_has_fewer_phases_than_the_degree(name: str) -> None:
    for row in printed_tables.table(name):
        for key, phases in row.items():
            if key.endswith("phases"):
                assert phases >= row["degree"]


def test_tables_of_the_same_case_in_two_papers_agree() -> None:
    """003 and 004 measured AC and LP at the same d and sizes, on other software: within 15 %."""
    older = {(row["degree"], row["bytes"]): row for row in printed_tables.table("003_tables2_3")}
    compared = 0
    for row in printed_tables.table("004_table4"):
        other = older.get((row["degree"], row["bytes"]))
        for column in ("ac", "lp"):
            if other:
                compared += 1
                assert row[column] == pytest.approx(other[column], rel=0.15)
    assert compared >= 10


def test_the_example_matrix_is_the_one_of_the_text() -> None:
    pairs = [(row["src"], row["dst"]) for row in printed_tables.table("004_table1")]
    assert len(set(pairs)) == len(pairs) and all(src != dst for src, dst in pairs)
    assert sum(src == 0 for src, _ in pairs) == 3 and sum(src == 4 for src, _ in pairs) == 5
    assert {src for src, dst in pairs if dst == 2} >= {0, 1, 3, 4, 6}


def test_an_unknown_table_is_an_error_that_lists_the_known() -> None:
    with pytest.raises(nuice.Error, match="no printed table '005'; there are .*003_table1"):
        printed_tables.table("005")

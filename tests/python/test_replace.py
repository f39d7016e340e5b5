# SPDX-License-Identifier: BSD-3-Clause
"""The twin programs of examples/replace: how few lines they differ in, and that the page prints them."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import pytest

from test_mpi import run

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "replace"
PAGE = ROOT / "docs" / "how-to" / "replace-alltoallv.md"
TWINS = {
    "C": ("mpi.c", "nuice.c", 4),
    "Fortran": ("mpi.f90", "nuice.f90", 5),
    "Python": ("with_mpi.py", "with_nuice.py", 3),
    "C++": ("mpi.cpp", "nuice.cpp", 2),
}
NAMES_NUICE = re.compile(r"\s*(#include|use|import) ")


def difference(before: str, after: str) -> list[str]:
    lines = [(EXAMPLES / name).read_text().splitlines() for name in (before, after)]
    found = list(difflib.unified_diff(*lines, n=0, lineterm=""))[2:]
    return [line for line in found if not line.startswith("@@") and line != "+"]


@pytest.mark.parametrize("language", TWINS)
def test_one_call_is_replaced_by_few_lines(language: str) -> None:
    before, after, most = TWINS[language]
    changed = difference(before, after)
    added = [line[1:] for line in changed if line.startswith("+") and not NAMES_NUICE.match(line[1:])]
    assert len(added) == most, added
    removed = [line for line in changed if line.startswith("-")]
    assert len(removed) == 1 and "lltoallv" in removed[0], removed


@pytest.mark.parametrize("language", TWINS)
def test_the_page_prints_the_difference(language: str) -> None:
    before, after, most = TWINS[language]
    block = "\n".join(difference(before, after))
    assert f"**{language}** ({most} lines)\n\n```diff\n{block}\n```" in PAGE.read_text()


@pytest.mark.slow
def test_the_programs_in_python_print_the_same() -> None:
    printed = []
    for name in TWINS["Python"][:2]:
        done = run(3, str(EXAMPLES / name))
        assert done.returncode == 0, done.stdout + done.stderr
        printed.append(done.stdout)
    assert printed[0] == printed[1] and "sum after 50 steps" in printed[0]

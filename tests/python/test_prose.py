# SPDX-License-Identifier: BSD-3-Clause
"""Documents, comments and error texts are in plain English.

No word of tools/prose.txt, few numbers in a sentence, few words in all; lines of sources are at most 110
columns wide.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("prose", ROOT / "tools/prose.py")
assert SPEC and SPEC.loader
prose = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(prose)

DOCUMENTS = [name for name in prose.files() if name.endswith(".md")]
MOST_LINES = 250
MOST_WORDS_OF_A_DECISION = 300
MOST_WORDS_OF_DOCS = 40_000  # README, docs and am, without the pages of the API, which a script makes
MOST_WORDS_FOR_USERS = 31_000  # the same without the decisions
MOST_WORDS_ELSEWHERE = 5_500


def test_no_file_uses_a_word_that_the_list_refuses() -> None:
    found = [
        f"{name}:{line}: {words} -> {use}"
        for name in prose.files()
        for line, words, use in prose.findings(ROOT / name)
    ]
    assert found == [], "write otherwise; tools/prose.txt has the list"


@pytest.mark.parametrize(
    ("suffix", "text", "found"),
    [
        (".md", "It takes 2 ms in the place of 3.", ["in the place of"]),
        (".md", "Code: `who`, and\n```\nnobody\n```\n<!-- whom -->\n", []),
        (".md", "It took 2 ms (3 before).", ["(3 before)"]),
        (
            ".cpp",
            "int who = 0;  // the rank that sends\n// a rank in the place\n// of another\n",
            ["in the place // of"],
        ),
        (".cpp", 'throw Error("message under way");', ["under way"]),
        (".py", "nobody = 1  # everybody waits\n", ["everybody"]),
    ],
)
def test_words_are_found_where_people_read_them(
    suffix: str, text: str, found: list[str], tmp_path: Path
) -> None:
    file = tmp_path / f"file{suffix}"
    file.write_text(text)
    assert [words for _, words, _ in prose.findings(file)] == found


def test_lines_of_sources_are_not_too_wide() -> None:
    assert [f"{name}:{line}" for name in prose.files() for line in prose.wide_lines(ROOT / name)] == []


def test_a_line_that_is_too_wide_is_found(tmp_path: Path) -> None:
    file = tmp_path / "file.hpp"
    file.write_text(f"{'x' * 110}\n// {'x' * 108}\n// https://{'x' * 108}\n")
    assert prose.wide_lines(file) == [2]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_pages_are_short_and_their_sentences_have_few_numbers(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MOST_LINES
    if name.startswith("docs/adr/0"):
        assert len(text.split()) <= MOST_WORDS_OF_A_DECISION
    assert prose.sentences_with_many_numbers(ROOT / name) == []


def words(name: str) -> int:
    """Bars of tables and dashes are not words."""
    return len(re.findall(r"\S*\w\S*", (ROOT / name).read_text(encoding="utf-8")))


def test_the_documents_are_short_in_all() -> None:
    docs = [name for name in DOCUMENTS if name == "README.md" or name.startswith(("docs/", "am/"))]
    for_users = [name for name in docs if not name.startswith("docs/adr/")]
    assert sum(map(words, docs)) <= MOST_WORDS_OF_DOCS, "cut something else, or say it shorter"
    assert sum(map(words, for_users)) <= MOST_WORDS_FOR_USERS, "cut something else, or say it shorter"
    assert sum(map(words, set(DOCUMENTS) - set(docs))) <= MOST_WORDS_ELSEWHERE

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Finds the words of tools/prose.txt in documents, comments and strings, and lines that are too wide.

    tools/prose.py [FILE...]   prints FILE:LINE: found -> what to write; without files, of all files

The test tests/python/test_prose.py runs it.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
C_LIKE = {".hpp", ".cpp", ".h", ".c", ".inc"}
FORTRAN = {".f90", ".F90"}
C_TEXT = re.compile(
    r'//[^\n]*(?:\n[ \t]*//[^\n]*)*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
    re.S,
)
FORTRAN_TEXT = re.compile(r"![^\n]*|\"[^\"\n]*\"|'[^'\n]*'")
NO_PROSE = re.compile(r"^```.*?^```$|<!--.*?-->|`[^`\n]+`|(?<=\])\([^)\s]*\)|^    [^\n]*$", re.S | re.M)
QUOTED = re.compile(r"`[^`\n]+`")  # in comments: names of the code
MOST_NUMBERS = 6
MOST_COLUMNS = 110  # clang-format leaves comments and strings as they are
NARROW = {".hpp", ".cpp", ".h", ".c", ".py"}
NUMBER = re.compile(r"(?<![\w.#-])\d[\d,.]*(?: (?:to|and|or|x) \d[\d,.]*)*")


def sections() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in (ROOT / "tools/prose.txt").read_text(encoding="utf-8").split("\n"):
        if line.startswith("["):
            current = found.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            current.append(line)
    return found


SECTIONS = sections()


def blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """(first line, text) of what people read in a file: a whole document, or every comment and string."""
    source = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".md":
        yield 1, NO_PROSE.sub(blank, source)
    elif path.suffix == ".py":
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type in (tokenize.COMMENT, tokenize.STRING):
                yield token.start[0], token.string
    elif path.suffix in C_LIKE | FORTRAN:
        pattern = C_TEXT if path.suffix in C_LIKE else FORTRAN_TEXT
        for found in pattern.finditer(source):
            yield source.count("\n", 0, found.start()) + 1, QUOTED.sub(blank, found[0])


def rules(is_document: bool) -> list[tuple[re.Pattern[str], str]]:
    lines = SECTIONS["documents, comments, strings"] + (SECTIONS["documents"] if is_document else [])
    pairs = [line.split("  ->  ") for line in lines]
    # A phrase may continue behind the sign of the next line's comment.
    return [(re.compile(pattern.replace(" ", r"[\s/*#!]+"), re.I), use) for pattern, use in pairs]


def findings(path: Path) -> list[tuple[int, str, str]]:
    found = []
    applied = rules(path.suffix == ".md" and path.name != "CHANGELOG.md")
    for first, text in texts(path):
        for pattern, use in applied:
            for match in pattern.finditer(text):
                words = " ".join(match[0].split())
                found.append((first + text.count("\n", 0, match.start()), words, use))
    return sorted(found)


def sentences_with_many_numbers(path: Path) -> list[str]:
    """In running text; tables and lists of figures are where numbers belong."""
    (text,) = (text for _, text in texts(path))
    lines = [line for line in text.split("\n") if not line.lstrip().startswith(("|", "#"))]
    sentences = re.split(r"(?<=[.:;!?])\s+|\n\s*\n|\n\s*[*-] ", "\n".join(lines))
    return [" ".join(s.split()) for s in sentences if len(NUMBER.findall(s)) > MOST_NUMBERS]


def wide_lines(path: Path) -> list[int]:
    """Lines of a source in C, C++ or Python that are too wide; an address cannot be broken."""
    lines = path.read_text(encoding="utf-8").split("\n") if path.suffix in NARROW else []
    return [n for n, line in enumerate(lines, 1) if len(line) > MOST_COLUMNS and "://" not in line]


def files() -> list[str]:
    names = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).split("\n")
    kinds = C_LIKE | FORTRAN | {".md", ".py"}
    skipped = tuple(SECTIONS["skipped files"])
    return [
        n for n in names if Path(n).suffix in kinds and not n.startswith(skipped) and (ROOT / n).is_file()
    ]


def main(words: list[str]) -> int:
    failed = False
    for name in words or files():
        for line, found, use in findings(ROOT / name):
            print(f"{name}:{line}: {found} -> {use}")
            failed = True
        for line in wide_lines(ROOT / name):
            print(f"{name}:{line}: more than {MOST_COLUMNS} columns -> break the line")
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

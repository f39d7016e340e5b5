# SPDX-License-Identifier: BSD-3-Clause
"""Subcommands, options, targets and variables that the documents name exist."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from nuice import Error
from nuice.cli.app import app
from nuice.cli.bench import find_program
from test_docs import tracked

__all__ = ["tracked"]

ROOT = Path(__file__).parents[2]
CODE = re.compile(r"^ *```(?:sh)?\n(.*?)^ *```|<!--.*?-->|```.*?^ *```|`([^`\n]+)`|^    (\S.*)$", re.S | re.M)
TOOLS = "testbed|bench|calibrate|am-bench|cg|euler|fft2d|lee|wolff|fabric"
PROGRAM = rf"(?:[\w.$-]*/)*(nuice(?:-(?:{TOOLS}))?|run\.py|make)"
BEGINS = re.compile(rf"^(?:\$ |time |(?:mpiexec|srun)(?: -n \w+)? |[A-Z_]+=\S+ )*{PROGRAM}(?: (.*))?$")
STARTED = re.compile(rf" (?=(?:nuice-(?:{TOOLS})|PROGRAM|mpiexec|env)\b)|(?: --)? -- ")  # by another program


def code_of(text: str) -> Iterator[str]:
    """Lines of shell blocks, of indented blocks, and what stands between backquotes."""
    for block, inline, indented in CODE.findall(text):
        yield from (block or inline or indented).splitlines()


def named(line: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """(program, words before its options, options) of each command in a line."""
    without_comment = re.split(r" +# ", line.strip())[0]
    for command in re.split(r" && |; | \| ", without_comment):
        for part in STARTED.split(command):
            if begin := BEGINS.match(part):
                words = (begin[2] or "").split()
                options = [re.split(r"[=\],]", word)[0] for word in words if word.startswith("--")]
                end = next((i for i, word in enumerate(words) if not re.match(r"\w", word)), len(words))
                yield begin[1], words[:end], options


@functools.cache
def help_of(*command: str) -> str:
    """What the command says of itself; empty where there is no such command."""
    if command[0] == "nuice":
        click = typer.main.get_command(app)
        for word in command[1:]:
            click = getattr(click, "commands", {}).get(word)
            if click is None:
                return ""
        context = typer.Context(click, info_name=command[-1])
        return " ".join([command[-1], *(p.get_help_record(context)[0] for p in click.get_params(context))])
    scripts = {"run.py": "bench/run.py", "nuice-testbed": "bench/testbed/nuice_testbed.py"}
    script = scripts.get(command[0])
    begin = [sys.executable, str(ROOT / script)] if script else [find_program(command[0])]
    wide = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
    done = subprocess.run([*begin, *command[1:], "--help"], capture_output=True, text=True, env=wide)
    return done.stdout if done.returncode == 0 else ""


API = ("api-c.md", "api-cpp.md", "api-python.md")
GROUPS = ("generate", "record", "import", "export", "apps")  # of nuice, which have commands of their own


def wrong(program: str, words: list[str], options: list[str]) -> list[str]:
    if program == "make":
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        targets, variables = [w for w in words if "=" not in w], [w.split("=")[0] for w in words if "=" in w]
        dead = [t for t in targets if not re.search(rf"^{re.escape(t)}:", makefile, re.M)]
        taken = makefile + (ROOT / "tools/setup.sh").read_text(encoding="utf-8")
        return dead + [v for v in variables if not re.search(rf"\b{v}\b", taken)]
    command = [program]
    if program in ("nuice", "nuice-testbed", "run.py"):
        command += words[: 2 if words and words[0] in GROUPS else 1]
        if program == "run.py" and "NAME" in command:
            command = [program]
    if not options and (command == [program] or program == "run.py"):
        return []  # cases of run.py: test_bench_scripts.py
    text = help_of(*command)
    if not text:
        return [" ".join(command)]
    return [option for option in options if not re.search(rf"(?<![\w-]){option}(?![\w-])", text)]


@pytest.mark.long
def test_what_the_documents_name_exists(tracked: set[Path]) -> None:
    pages = [page for page in tracked if page.suffix == ".md" and page.name not in ("CHANGELOG.md", *API)]
    dead, found = [], 0
    for page in pages:
        for line in code_of(page.read_text(encoding="utf-8")):
            for program, words, options in named(line):
                try:
                    missing = wrong(program, words, options)
                except Error as error:  # a program that was not built
                    pytest.skip(str(error))
                found += bool(words or options)
                dead += [f"{page.relative_to(ROOT)}: {line}: {what}" for what in missing]
    assert dead == []
    assert found > 150


@pytest.mark.parametrize(
    ("line", "dead"),
    [
        ("nuice plan a.mtx --scheduler coloring -o a.plan", []),
        ("nuice plam a.mtx", ["nuice plam"]),
        ("nuice generate airfoyl", ["nuice generate airfoyl"]),
        ("mpiexec -n 8 nuice-bench --matrix a.mtx --shedulers lp; nuice report b.json --plott c", 2),
        ("nuice run --report d -- mpiexec -n 2 ./program --its-own-option", []),
        ("bench/run.py advise --matrices 12 --no-such", ["--no-such"]),
        ("nuice generate random --ranks 8 --degreee 3", ["--degreee"]),
        ("make tets SECONDS=3 SECONDZ=4", ["tets", "SECONDZ"]),
        ("nuice-testbed up --hosts 3 --prest fast", ["--prest"]),
    ],
)
def test_a_wrong_name_is_found(line: str, dead: list[str] | int) -> None:
    try:
        found = [what for command in named(line) for what in wrong(*command)]
    except Error as error:
        pytest.skip(str(error))
    assert (len(found) if isinstance(dead, int) else found) == dead

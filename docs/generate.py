#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the site: `make docs` calls it. Warnings are errors, and so are links that lead nowhere.

usage: generate.py OUT        (the site comes to OUT; the pages it is made of to OUT-pages)

The pages are those of docs/; those that main() writes, made from the tables, the commands and the headers,
which docs/README.md names in a comment; the documents of the project (README.md ...); and, as text, every
file that a page links to.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BIN = Path(sys.executable).parent

PROGRAMS = ("nuice-bench", "nuice-calibrate", "nuice-am-bench", "nuice-testbed", "nuice-cg", "nuice-euler")
PROGRAMS += ("nuice-fft2d",)
INCLUDE = ("include", "am/include")

CODE = re.compile(r"(^```.*?^```$|`[^`\n]+`|<!--.*?-->)", re.DOTALL | re.MULTILINE)
ORPHAN = "---\norphan: true\n---\n"  # a page that the contents need not list
LINK = re.compile(r"(\]\()([^)#\s]+)")
LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".c": "c", ".h": "c", ".py": "python", ".F90": "fortran"}


def place(path: Path) -> Path:
    """Where a file or folder of the tree stands among the pages."""
    if path.is_relative_to("docs"):
        inside = path.relative_to("docs")
        if inside.as_posix() in {".", "README.md"}:
            return Path("index.md")
        return inside / "README.md" if (ROOT / path).is_dir() else inside
    if path.suffix == ".md":
        return Path("project") / "-".join(part.lower() for part in path.parts)
    return Path("files") / f"{path}.md"


def page_of(source: Path, text: str, wanted: list[Path]) -> str:
    """The text of a page with its links as the site has them; what it links to is added to wanted."""

    def follow(found: re.Match[str]) -> str:
        link = found.group(2)
        if "://" in link or link.startswith("mailto:"):
            return found.group(0)
        target = Path(os.path.normpath(source.parent / link))
        if (ROOT / target).is_dir() and (ROOT / target / "README.md").exists():
            target /= "README.md"
        if not target.is_relative_to("docs"):
            wanted.append(target)
        return found.group(1) + os.path.relpath(place(target), place(source).parent)

    parts = CODE.split(text)
    parts[::2] = [LINK.sub(follow, part) for part in parts[::2]]
    return "".join(parts)


def file_as_page(path: Path) -> str:
    """A file of the tree as text, a folder as a list."""
    whole = ROOT / path
    if whole.is_dir():
        names = subprocess.check_output(["git", "ls-files", str(path)], cwd=ROOT, text=True).split()
        return f"{ORPHAN}# {path}\n\n" + "".join(
            f"* [{name}]({os.path.relpath(name, path.parent)})\n" for name in names
        )
    text = whole.read_text(encoding="utf-8")
    head = f"{ORPHAN}# {path.name}\n\n`{path}`\n\n"
    return head + f"~~~~{LANGUAGES.get(path.suffix, 'text')}\n{text}~~~~\n"


def write(pages: Path, name: Path | str, text: str) -> None:
    file = pages / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def stage(pages: Path) -> None:
    """Copies docs/, and what it links to, and what that links to."""
    command = ["git", "ls-files", "-co", "--exclude-standard", "docs", "README.md"]
    names = subprocess.check_output(command, cwd=ROOT, text=True).split()
    wanted = [path for path in map(Path, names) if (ROOT / path).exists()]
    done: set[Path] = set()
    while wanted:
        path = wanted.pop()
        if path in done:
            continue
        done.add(path)
        if not (ROOT / path).exists():
            raise SystemExit(f"docs: a page links to {path}, which does not exist")
        if path.is_relative_to("docs") and path.suffix != ".md":
            if path.suffix in {".png", ".svg", ".jsonl"}:
                (pages / place(path)).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / path, pages / place(path))
            continue
        if path.suffix == ".md" or (ROOT / path).is_dir():
            text = file_as_page(path) if path.suffix != ".md" else (ROOT / path).read_text(encoding="utf-8")
            orphan = "" if path.is_relative_to("docs") or text.startswith("---") else ORPHAN
            write(pages, place(path), orphan + page_of(path, text, wanted))
        else:
            write(pages, place(path), file_as_page(path))
    with (pages / "index.md").open("a", encoding="utf-8") as index:
        index.write(contents(pages))
    for folder in ("explanation/algorithms", "adr"):
        names = sorted(page.stem for page in (pages / folder).glob("*.md") if page.stem != "README")
        with (pages / folder / "README.md").open("a", encoding="utf-8") as index:
            index.write(toctree("", names))


def toctree(caption: str, names: list[str]) -> str:
    options = [":hidden:", f":caption: {caption}"] if caption else [":hidden:"]
    return "\n".join(["", "```{toctree}", *options, "", *names, "```", ""])


def contents(pages: Path) -> str:
    """The site's contents are those of docs/README.md: its headings, and the pages under each."""
    parts = re.split(r"^## ", (pages / "index.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    text = ""
    for part in parts[1:]:
        names = [link.removesuffix(".md") for _, link in LINK.findall(part) if link.endswith(".md")]
        text += toctree(part.split("\n", 1)[0], list(dict.fromkeys(names)))
    return text


def table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    rendered = (" | ".join(cell.replace("|", "\\|") for cell in line) for line in lines)
    return "".join(f"| {line} |\n" for line in rendered) + "\n"


def names_page() -> str:
    """Whatever is selected by name, from `nuice list --json`."""
    listed = json.loads(subprocess.check_output([BIN / "nuice", "list", "--json"], text=True))
    text = "# Names: schedulers, executors, networks, machines\n\n"
    text += "`nuice list` prints the same. Sources with numbers: [papers](../explanation/papers.md).\n\n"
    shown = {
        "schedulers": ("name", "summary", "guarantees", "source"),
        "executors": ("name", "summary", "needs", "source"),
        "broadcasts": ("name", "summary", "source"),
        "patterns": ("name", "summary", "source"),
        "topologies": ("syntax", "summary", "source"),
        "machines": ("name", "topology", "summary"),
    }
    for kind, keys in shown.items():
        rows = (tuple(cell(key, row[key]) for key in keys) for row in listed[kind])
        text += f"## {kind.capitalize()}\n\n" + table(keys, rows)
    return text


def cell(key: str, value: object) -> str:
    text = ", ".join(value) if isinstance(value, list) else str(value)
    return f"`{text}`" if key in {"name", "syntax", "topology"} else text


def commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Commands and their commands, each with its whole name."""
    inner = getattr(command, "commands", None)
    if inner is None or name == "nuice":
        yield name, command
    for word, each in (inner or {}).items():
        yield from commands(each, f"{name} {word}")


def command_page() -> str:
    """Every command and program, in the words of its own --help."""
    import typer

    from nuice.cli.app import app

    text = "# The command line\n\nWhat every command says with `--help`."
    text += " Rules for all of them: [cli.md](cli.md).\n\n"
    for name, command in commands(typer.main.get_command(app), "nuice"):
        context = typer.Context(command, info_name=name)
        help_text = (command.help or "").split("\f")[0]
        text += f"## `{name}`\n\n{help_text}\n\n"
        text += f"    {name} {' '.join(command.collect_usage_pieces(context))}\n\n"
        records = [p.get_help_record(context) for p in command.get_params(context)]
        rows = [(f"`{' '.join(r[0].split())}`", " ".join(r[1].split())) for r in records if r]
        text += table(("option", "meaning"), iter(rows)) if rows else ""
    for program in PROGRAMS:
        if not (BIN / program).exists():  # not built: a library that it needs is not here
            continue
        done = subprocess.run([BIN / program, "--help"], capture_output=True, text=True, check=True)
        text += f"## `{program}`\n\n~~~~text\n{done.stdout.strip()}\n~~~~\n\n"
    return text


def api_page(api: Path) -> str:
    """The public headers, each with its first words and its page of Doxygen's."""
    text = "# The C and C++ API\n\n"
    text += 'All of it, searchable: <a href="api/index.html">the pages of Doxygen</a>.\n\n'
    text += "`<nuice/nuice.hpp>` holds what needs no MPI, `<nuice/mpi.hpp>` all but active messages. "
    text += "`<nuice/nuice.h>` is for C.\n\n"
    rows = []
    headers = {h.relative_to(ROOT / top).as_posix(): h for top in INCLUDE for h in (ROOT / top).rglob("*.h*")}
    for name, header in sorted(headers.items()):
        head = re.match(
            r"\S+ SPDX.*\n((?:[/ ]\*|//) .*\n)+?(?=//\n| \*\n|#|//   )", header.read_text(encoding="utf-8")
        )
        words = " ".join(line.strip("/* ") for line in head[0].splitlines()[1:]) if head else ""
        encoded = name.replace("_", "__").replace("/", "_2").replace(".", "_8") + ".html"
        # Doxygen drops as many folders as it can.
        page = next(api.glob(encoded[encoded.rindex("_2") + 2 :]), api / encoded.removeprefix("nuice_2"))
        rows.append(
            (f'<a href="api/{page.name}">{name}</a>', re.split(r"\. (?=[A-Z])", words)[0].rstrip("."))
        )
        if not page.exists():
            raise SystemExit(f"docs: Doxygen made no page {page.name}")
    return text + table(("header", "what it holds"), iter(rows))


def api(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    settings = (DOCS / "Doxyfile").read_text(encoding="utf-8")
    settings += f"\nINPUT = {' '.join(INCLUDE)}\nSTRIP_FROM_PATH = {' '.join(INCLUDE)}\n"
    settings += f"OUTPUT_DIRECTORY = {out}\n"
    subprocess.run(["doxygen", "-"], input=settings, text=True, cwd=ROOT, check=True)


def main() -> None:
    site = Path(sys.argv[1]).resolve()
    pages = site.with_name(site.name + "-pages")
    shutil.rmtree(pages, ignore_errors=True)
    shutil.rmtree(site, ignore_errors=True)
    write(pages, "reference/names.md", names_page())
    write(pages, "reference/command-line.md", command_page())
    api(pages / "extra/reference/api")
    write(pages, "reference/api.md", api_page(pages / "extra/reference/api"))
    stage(pages)
    for name in ("conf.py", "site.css"):
        shutil.copy(DOCS / name, pages)
    sphinx = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-j", "auto"]
    subprocess.run([*sphinx, "-d", pages.with_name(site.name + "-cache"), pages, site], check=True)
    print(f"docs: {site}/index.html")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/reference/api-*.md from the public headers, the Fortran module and Python's docstrings.

    .venv/bin/python tools/api_reference.py

The pages are committed; tests/python/test_api_reference.py fails where one is not current.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs/reference"
MADE = "<!-- Made by tools/api_reference.py. Do not edit. -->\n"
HEADERS = ("include", "am/include")
PYTHON_MODULES = ("nuice", "nuice.mpi", "nuice.plots", "nuice.airfoil", "nuice.advice_map")


def escaped(text: str) -> str:
    """Text of a comment as Markdown: outside `code` nothing of it is markup."""
    parts = re.split(r"(`[^`]+`)", text)
    parts[::2] = [re.sub(r"([*<]|\](?=\())", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def words_of(comment: str) -> str:
    """A comment without its signs, in one paragraph each."""
    lines = [re.sub(r"^\s*(///?<?|/\*\*<?|\*(?!/))\s?", "", line) for line in comment.split("\n")]
    return re.sub(r"\s*\*/$", "", "\n".join(lines)).strip()


def code(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```\n"


# ---- C and Fortran


def fortran_calls() -> dict[str, str]:
    """Procedure -> its call. Generic names stand for their first module procedure."""
    text = "\n".join(
        path.read_text(encoding="utf-8")
        for path in (ROOT / "src/fortran/nuice.F90", *sorted((ROOT / "src/fortran").glob("*.inc")))
    )
    joined = re.sub(r"&\s*\n\s*", "", text)
    kinds = re.findall(r"^ *(?:\w+ )?(subroutine|function) (\w+)\(([^)]*)\)", joined, re.M)
    arguments = {name: (kind, ", ".join(re.split(r",\s*", given))) for kind, name, given in kinds}
    generic = re.findall(r"interface (nuice_\w+)\s+module procedure (\w+)", joined)
    of = {name: name for name in arguments if name.startswith("nuice_")} | dict(generic)
    calls = {}
    for name, procedure in of.items():
        kind, given = arguments[procedure]
        calls[name] = f"{'call ' if kind == 'subroutine' else 'text = '}{name}({given})"
    return calls


C_ITEM = re.compile(
    r"/\* -{4} (?P<section>(?:(?!\*/).)*?)(?: -*)? \*/"
    r"|(?:/\*\*(?!<)(?P<comment>(?:(?!\*/).)*)\*/\s*)?(?P<code>typedef enum.*?\} \w+;|NUICE_API [^;]*;)",
    re.S,
)


def section_text(comment: str) -> str:
    """The text of a section: paragraphs, and examples, whose lines begin with two blanks."""
    lines = [re.sub(r"^ \* ?", "", line) for line in comment.split("\n")]
    blocks = "\n".join(lines).strip("\n").split("\n\n")
    return "".join(
        "\n" + code("c", inspect.cleandoc(block))
        if block.startswith("  ")
        else f"\n{escaped(' '.join(block.split()))}\n"
        for block in blocks
    )


def c_page() -> str:
    source = (ROOT / "include/nuice/nuice.h").read_text(encoding="utf-8")
    source = re.sub(r"^(#.*(\\\n.*)*|/\* clang-format \w+ \*/)\n", "", source, flags=re.M)
    calls = fortran_calls()
    text = "# The API of C and Fortran\n\n" + MADE
    text += "\n`nuice/nuice.h` and the Fortran module `nuice`. "
    text += "[How to use them](../how-to/languages.md), [errors](errors.md). "
    text += "Each C function with MPI handles has a twin, whose name ends in `_f`, for integer handles.\n"
    text += "\n## Status\n"
    for found in C_ITEM.finditer(source):
        if found["section"]:
            title, _, rest = found["section"].partition("\n")
            text += f"\n## {re.split(r': | -{4,}', title)[0].strip()}\n"
            text += section_text(rest) if rest else ""
            continue
        prototype = re.sub(r"\s+", " ", found["code"].replace("NUICE_API ", "")).strip()
        name = re.search(r"\b(nuice_\w+)\(", prototype)
        if name and name[1].endswith("_f"):
            continue
        if name:
            text += f"\n### `{name[1]}`\n\n" + code("c", prototype)
            text += code("fortran", calls[name[1]]) if name[1] in calls else ""
        else:
            text += "\n" + code("c", re.sub(r"\s*/\*\*<(.*?) \*/", r"  //\1", found["code"]))
        comment = escaped(" ".join(words_of(found["comment"] or "").split()))
        text += f"\n{comment}\n" if comment else ""
    return text


# ---- C++


Item = tuple[str, str, str]


def shortened(declaration: str) -> str:
    """A declaration on one line, without initialisers of constructors and without its body."""
    line = " ".join(declaration.split())
    return re.sub(r"(\) ?\w*) (: \w+\(|\{ ).*$|[;,]$| \{\}?$", r"\1", line).rstrip(";,")


def cpp_items(header: str) -> list[Item]:
    """(class or "", declaration, comment) of what a header documents."""
    items: list[Item] = []
    owner, public, is_enum = "", True, False
    pending: list[str] = []
    declaration = ""

    def end_item() -> None:
        nonlocal pending, declaration
        if "nternal" not in "".join(pending) and "static_assert" not in declaration:
            items.append((owner, shortened(declaration), "\n".join(pending)))
        pending, declaration = [], ""

    # A declaration on two lines, of which only the second has the comment, is one line.
    joined = re.sub(r"^( *[^/\n]*[^;{}:,(/\n])\n\s+([^/\s][^\n]*///<)", r"\1 \2", header, flags=re.M)
    for line in joined.split("\n"):
        bare = line.strip()
        opened = re.match(r"(?:class|struct|(enum(?: class)?)) (\w+)[^;]*\{", line)
        if opened:
            items.append((opened[2], "", "\n".join(pending)))
            is_closed = "}" in line
            owner = "" if is_closed else opened[2]
            public, is_enum = is_closed or not line.startswith("class"), opened[1] is not None
            pending, declaration = [], ""
        elif line.startswith("};") or (is_enum and line.startswith("}")):
            if is_enum and declaration:  # the last enumerator has no comma
                end_item()
            owner, public, is_enum, pending, declaration = "", True, False, [], ""
        elif bare in {"public:", "private:", "protected:"}:
            public, pending = bare == "public:", []
        elif bare.startswith("///<") and not declaration:  # goes on with the comment of the previous member
            name, short, comment = items[-1]
            items[-1] = (name, short, f"{comment}\n{bare}")
        elif bare.startswith("///"):
            pending.append(bare)
        elif bare.startswith("//") or not bare:
            pending, declaration = [], ""
        elif (
            public
            and (pending or declaration or "///<" in bare)
            and len(line) - len(line.lstrip()) <= (2 if owner else 0)
        ) or declaration:
            declaration += " " + bare.split("///<")[0]
            pending += ["///" + bare.split("///<")[1]] if "///<" in bare else []
            ends = r"[;{}:,]\s*$" if is_enum else r"[;{}:]\s*$"
            if declaration.count("(") == declaration.count(")") and re.search(ends, declaration.strip()):
                end_item()
        else:
            pending = []
    return items


def cpp_page() -> str:
    text = "# The API of C++\n\n" + MADE
    text += "\n`<nuice/nuice.hpp>` includes all headers that need no MPI, `<nuice/mpi.hpp>` includes all. "
    text += "The headers describe all errors.\n"
    headers = [header for folder in HEADERS for header in sorted((ROOT / folder / "nuice").rglob("*.hpp"))]
    for header in headers:
        path = header.relative_to(ROOT).as_posix()
        name = path.split("include/", 1)[1]
        source = header.read_text(encoding="utf-8")
        items = cpp_items(source)
        if not items:
            continue
        head = re.match(r"// SPDX.*\n((?:// .*\n)+)", source)
        words = " ".join(line.strip("/ ") for line in head[1].split("\n")) if head else ""
        words = re.split(r"(?<=\.) |:  ", words)[0].strip()
        text += f"\n## [{name}](../../{path})\n\n{escaped(words)}\n\n"
        for owner, declaration, comment in items:
            paragraphs = [" ".join(paragraph.split()) for paragraph in words_of(comment).split("\n\n")]
            said = escaped(paragraphs[0])
            if said.endswith(":") and len(paragraphs) > 1:  # a formula
                said += f" `{paragraphs[1]}`"
            sentences = re.split(r"(?<=[a-z0-9)`])\. (?=[A-Z])", said)
            first = ". ".join(sentences[: 2 if len(sentences[0].split()) < 4 else 1]).rstrip(".")
            if not declaration:
                text += f"* **`{owner}`**" + (f": {first}\n" if first else "\n")
            else:
                text += f"{'  ' if owner else ''}* `{declaration}`" + (f": {first}\n" if first else "\n")
    return text


# ---- Python


def signature(value: Any) -> str:
    try:
        text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(value)))
        return re.sub(r"<class '([\w.]+)'>", r"\1", re.sub(r"<[\w.]+ object at \w+>", "...", text))
    except (TypeError, ValueError):
        return ""


def entry(name: str, value: Any, level: int) -> str:
    documentation = inspect.cleandoc(getattr(value, "__doc__", None) or "")
    given = signature(value)
    first, _, rest = documentation.partition("\n")
    if not given and re.match(
        rf"{re.escape(name.split('.')[-1])}\(", first
    ):  # what the extension says of itself
        given, documentation = first[len(name.split(".")[-1]) :], rest
    text = f"\n{'#' * level} `{name}`\n" + ("\n" + code("python", f"{name}{given}") if given else "")
    body = documentation.strip()
    if "\n  " in body:  # a table or an example
        return text + "\n" + code("text", body)
    return text + (f"\n{escaped(body)}\n" if body else "")


def members(value: type) -> Iterator[tuple[str, Any]]:
    for name, member in vars(value).items():
        is_called = inspect.isroutine(member) or isinstance(member, (classmethod, staticmethod))
        if not name.startswith("_") and (is_called or type(member).__name__ == "nb_func"):
            yield name, getattr(value, name)


def python_page() -> str:
    import mpi4py

    mpi4py.rc.initialize = False  # nothing is exchanged here
    text = "# The API of Python\n\n" + MADE
    text += "\n[Planning](../how-to/python.md), [exchanges](../how-to/languages.md).\n"
    for module_name in PYTHON_MODULES:
        module = import_module(module_name)
        own = [n for n, v in vars(module).items() if getattr(v, "__module__", "") == module_name]
        names = getattr(module, "__all__", [n for n in own if not n.startswith("_")])
        text += f"\n## `{module_name}`\n"
        for name in names:
            value = getattr(module, name)
            if inspect.isclass(value):
                text += entry(f"{module_name}.{name}", value, 3)
                fields = [n for n, v in vars(value).items() if isinstance(v, property)]
                text += f"\nProperties: {', '.join(f'`{n}`' for n in fields)}\n" if fields else ""
                text += "".join(entry(f"{name}.{n}", member, 4) for n, member in members(value))
            elif callable(value):
                text += entry(f"{module_name}.{name}", value, 3)
            else:
                text += f"\n### `{module_name}.{name}`\n\nA constant of type `{type(value).__name__}`.\n"
    return text


MADE_PAGES = {"api-c.md": c_page, "api-cpp.md": cpp_page, "api-python.md": python_page}

if __name__ == "__main__":
    for name, make in MADE_PAGES.items():
        (PAGES / name).write_text(make(), encoding="utf-8")
        print(PAGES / name)

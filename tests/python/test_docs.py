# SPDX-License-Identifier: BSD-3-Clause
"""The pages are true.

The code of docs/how-to/python.md runs and prints what its comments say; that of docs/tutorial/planned-halo.md
is what the test `consumer` builds and runs. C++ elsewhere stands behind a comment `<!-- cpp: ... -->`, which
readers do not see: `program` (it is run), `file`, `part of FILE`, or the declarations that the lines need;
all of it compiles. Every figure of README is in the results, and every table of the results says what makes
it. How pages are written: test_prose.py.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import nuice
from nuice.cli.bench import environment, find_program

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/how-to/python.md"


def test_the_page_about_python_is_true(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
    promised = re.findall(r"^print\(.*\n# (.*)$", code, re.MULTILINE)
    assert len(promised) == code.count("print(") > 2
    exec(compile(code, str(PAGE), "exec"), {})
    assert capsys.readouterr().out.splitlines() == promised
    assert {p.name for p in tmp_path.iterdir()} == {"mesh.png", "phases.png"}


MARKED = re.compile(r"^<!-- cpp: ?(.*?) ?-->\n```cpp\n(.*?)^```$", re.DOTALL | re.MULTILINE)
HOW_TO = ("at-scale", "exchange", "halo", "own-schedulers")
COMPILED_PAGES = ["README.md", "am/docs/active-messages.md", *(f"docs/how-to/{page}.md" for page in HOW_TO)]


def cpp_blocks(page: str) -> list[tuple[str, str]]:
    text = (ROOT / page).read_text(encoding="utf-8")
    found = MARKED.findall(text)
    assert len(found) == text.count("```cpp") > 0, f"{page}: a block of C++ without <!-- cpp: ... -->"
    return found


def compiler() -> str:
    try:
        return find_program("mpicxx")
    except nuice.Error as error:
        pytest.skip(str(error))


@pytest.mark.slow
@pytest.mark.parametrize("page", COMPILED_PAGES)
def test_the_code_of_the_pages_compiles(page: str, tmp_path: Path) -> None:
    headers = {"#include <mpi.h>", "#include <span>", "#include <string>", "#include <vector>"}
    headers |= {"#include <nuice/mpi.hpp>", "#include <nuice/nuice.hpp>"}
    source = ""
    for number, (mark, code) in enumerate(cpp_blocks(page)):
        if mark.startswith("part of "):
            assert code in (ROOT / mark.removeprefix("part of ")).read_text(encoding="utf-8")
            continue
        lines = code.splitlines()
        headers.update(line for line in lines if line.startswith("#include"))
        body = "\n".join(line for line in lines if not line.startswith("#include"))
        if mark == "program":
            body = body.replace("int main(", "int main_of_page(")
        elif mark != "file":
            declared = re.sub(r"([\w:]+& \w+);", r"extern \1;", mark)
            body = f"{declared}\nvoid lines() {{\n{body}\n}}"
        source += f"namespace block_{number} {{\n{body}\n}}\n"
    file = tmp_path / "page.cpp"
    file.write_text("\n".join(sorted(headers)) + "\n" + source)
    command = [
        compiler(),
        "-std=c++20",
        "-fsyntax-only",
        f"-I{ROOT}/include",
        f"-I{ROOT}/am/include",
        str(file),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:3000]


@pytest.mark.slow
def test_the_program_of_the_readme_runs(tmp_path: Path) -> None:
    (code,) = [code for mark, code in cpp_blocks("README.md") if mark == "program"]
    (tmp_path / "main.cpp").write_text(code)
    prefix = Path(compiler()).parent.parent
    if not (prefix / "lib" / "libnuice.a").exists():
        pytest.skip("nuice is not installed next to mpicxx")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(first CXX)\nfind_package(nuice REQUIRED)\n"
        "add_executable(first main.cpp)\ntarget_link_libraries(first nuice::mpi)\n"
    )
    build = str(tmp_path / "build")
    for words in (
        [
            "-S",
            str(tmp_path),
            "-B",
            build,
            f"-DCMAKE_PREFIX_PATH={prefix}",
            f"-DMPI_CXX_COMPILER={compiler()}",
        ],
        ["--build", build],
    ):
        done = subprocess.run(["cmake", *words], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    run = [find_program("mpiexec"), "-n", "2", f"{build}/first"]
    done = subprocess.run(run, capture_output=True, text=True, timeout=60, env=environment())
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Chose ")
    named = {**environment(), "NUICE_OPTIONS": "scheduler=lp"}  # there is no advice then
    done = subprocess.run(run, capture_output=True, text=True, timeout=60, env=named)
    assert (done.returncode, done.stdout) == (0, "")


SHELL_PAGES = [p.relative_to(ROOT) for p in (ROOT / "docs").rglob("*.md") if "```sh" in p.read_text()]


@pytest.mark.parametrize("page", SHELL_PAGES, ids=str)
def test_the_shell_of_the_pages_can_be_parsed(page: Path) -> None:
    for code in re.findall(r"```sh\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL):
        done = subprocess.run(["bash", "-n"], input=code, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub and the site make it."""
    text = re.sub(r"[`*]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading))
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def without_code(page: Path) -> str:
    return re.sub(r"```.*?```|<!--.*?-->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_every_page_is_in_the_index() -> None:
    docs = ROOT / "docs"
    index = (docs / "README.md").read_text(encoding="utf-8")
    for page in docs.rglob("*.md"):
        name = page.relative_to(docs).as_posix()
        if page.name != "README.md" and page.parent.name not in {"adr", "algorithms"}:
            assert re.search(rf"\]\({name}[#)]", index), f"docs/README.md does not list {name}"
    decisions = (docs / "adr/README.md").read_text(encoding="utf-8")
    for page in (docs / "adr").glob("0*.md"):
        assert f"]({page.name})" in decisions, f"docs/adr/README.md does not list {page.name}"


def dead_links(page: Path, text: str, tracked: set[Path]) -> list[str]:
    dead = []
    for link, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", re.sub("`[^`]*`", "", text)):
        target = Path(os.path.normpath(page.parent / link)) if link else page
        if "://" in link:
            continue
        if target != page and target not in tracked:
            dead.append(f"{page.relative_to(ROOT)}: {link}")
        elif anchor and target.suffix == ".md":
            headings = re.findall(r"^#+ (.*)$", text if target == page else without_code(target), re.M)
            if anchor not in map(slug, headings):
                dead.append(f"{page.relative_to(ROOT)}: {link}#{anchor}")
    return dead


@pytest.fixture(scope="module")
def tracked() -> set[Path]:
    """Files and folders of a clone, without what a build adds to them."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    files = {ROOT / name for name in names if (ROOT / name).exists()}
    return files | {folder for file in files for folder in file.parents}


def test_every_link_leads_somewhere_in_the_tree_as_cloned(tracked: set[Path]) -> None:
    pages = [path for path in tracked if path.suffix == ".md"]
    assert len(pages) > 100
    assert [dead for page in pages for dead in dead_links(page, without_code(page), tracked)] == []


def test_a_dead_link_is_found(tracked: set[Path]) -> None:
    text = "# A b\n[a](docs/README.md#start) [b](#a-b) [c](src) [d](https://e.f/g) `[h](i)`"
    assert dead_links(ROOT / "x.md", text, tracked) == []
    text = "[a](names.md) [b](#a-b) [c](docs/README.md#nowhere) [d](build/x)"
    assert len(dead_links(ROOT / "x.md", text, tracked)) == 4


def test_pages_named_in_sources_exist(tracked: set[Path]) -> None:
    dead, found = [], 0
    kinds = {"", ".hpp", ".cpp", ".h", ".py", ".sh", ".toml", ".txt", ".F90"}
    for file in tracked:
        if file.suffix in kinds and file.is_file():
            for page in re.findall(
                r"(?<![\w./])(?:am/|papers/)?docs/[\w./-]+\.md\b", file.read_text("utf-8", "replace")
            ):
                found += 1
                if not any((folder / page) in tracked for folder in (ROOT, *file.parents)):
                    dead.append(f"{file.relative_to(ROOT)}: {page}")
    assert (dead, found > 50) == ([], True)


RESULTS = ROOT / "docs/explanation/results.md"


def test_every_table_of_the_results_says_what_makes_it() -> None:
    text = RESULTS.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    sections = re.split(r"^##+ ", text, flags=re.M)
    for section in sections:
        tables = len(re.findall(r"^\|[-|]+\|$", section, re.M))
        commands = len(re.findall(r"[Mm]ade by\s`|; the last two rows, loaded, by `", section))
        assert commands >= tables, section.split("\n", 1)[0]


def test_every_option_and_error_and_variable_has_its_row() -> None:
    def first_column(page: str) -> set[str]:
        text = (ROOT / "docs/reference" / page).read_text(encoding="utf-8")
        return set(re.findall(r"^\| `([^`]+)` \|", text, re.M))

    table = (ROOT / "src/exchange/plan/options.cpp").read_text(encoding="utf-8")
    options = set(re.findall(r'Row\{"([\w.]+)",', table))
    assert len(options) > 20
    assert first_column("options.md") == options
    codes = re.findall(r"^  (\w+) = \d+, +///<", (ROOT / "include/nuice/core/error.hpp").read_text(), re.M)
    assert len(codes) > 8
    assert first_column("errors.md") == set(codes)
    sources = [
        *(ROOT / "src").rglob("*.cpp"),
        *(ROOT / "am/src").rglob("*.cpp"),
        *(ROOT / "python").rglob("*.py"),
    ]
    read = r"""(?:getenv|environment|number_from|environ\.get)\("(NUICE_\w+)"""
    variables = {name for file in sources for name in re.findall(read, file.read_text(encoding="utf-8"))}
    assert len(variables) > 8
    assert variables <= first_column("environment.md")


def test_the_code_of_the_tutorial_is_that_of_its_programs() -> None:
    page = (ROOT / "docs/tutorial/planned-halo.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^<!-- (\S+) \[(\w+)\] -->\n```cpp\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) == page.count("```cpp") > 5
    for file, region, code in blocks:
        program = (ROOT / file).read_text(encoding="utf-8")
        marked = rf"^ *// \[{region}\]\n(.*?)^ *// \[/{region}\]$"
        (found,) = re.findall(marked, program, re.DOTALL | re.MULTILINE)
        assert textwrap.dedent(found) == code, (file, region)


def test_the_pictures_can_be_drawn_and_are_shown(tmp_path: Path) -> None:
    script = ROOT / "docs/pictures/make.py"
    done = subprocess.run([sys.executable, str(script), str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    drawn = {file.name for file in tmp_path.iterdir()}
    assert len(drawn) == 3
    shown = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md"))
    for name in drawn:
        assert (ROOT / "docs/pictures" / name).exists() and f"pictures/{name})" in shown


RESULT_PAGES = ("results.md", "tuned-mpi.md", "small-costs.md", "tcp-windows.md", "lossless-fabric.md")


DECIMAL = re.compile(r"(?<![\w.])\d+\.\d+(?![\w.])")


def section(page: str, anchor: str) -> str:
    """What stands under a heading, or the whole page."""
    parts = re.split(r"^(?=#+ )", page, flags=re.MULTILINE)
    return next(
        (part for part in parts if anchor and slug(part.split("\n", 1)[0].lstrip("# ")) == anchor), page
    )


def quoted_without_source(text: str, results: dict[str, str]) -> tuple[int, list[str]]:
    """How many decimal numbers a page quotes from results, and those that are not where its links lead.

    A number is quoted if its paragraph or row links to results, or its row says "measured" or "the same"
    below a row that does.
    """
    checked, missing = 0, []
    for block in re.split(r"\n\s*\n|\n(?=[*] )", re.sub(r"```.*?```|<!--.*?-->", "", text, flags=re.DOTALL)):
        source = ""
        for part in re.split(r"\n(?=\|)", block):
            links = re.findall(r"\]\((?:[^)#\s]*/)?([^/)#\s]+\.md)(?:#([^)\s]*))?\)", part)
            own = "\n".join(section(results[name], anchor) for name, anchor in links if name in results)
            source = own or (source if re.search("measured|the same", part) else "")
            for number in DECIMAL.findall(re.sub(r"\]\([^)]*\)|`[^`]*`", "", part)) if source else []:
                checked += 1
                if not re.search(rf"(?<![\d.]){re.escape(number)}0?(?![\d.])", source):
                    missing.append(number)
    return checked, missing


@pytest.fixture(scope="module")
def results() -> dict[str, str]:
    pages = {page.name: page for page in (ROOT / "docs").rglob("*.md") if page.name in RESULT_PAGES}
    assert {*pages} == {*RESULT_PAGES}
    return {name: page.read_text(encoding="utf-8") for name, page in pages.items()}


def test_numbers_quoted_from_the_results_are_there(results: dict[str, str]) -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    pages = [page for page in pages if page.name not in RESULT_PAGES and page.parent.name != "adr"]
    found = {
        page.relative_to(ROOT): quoted_without_source(page.read_text("utf-8"), results) for page in pages
    }
    assert {page: missing for page, (_, missing) in found.items() if missing} == {}
    assert sum(checked for checked, _ in found.values()) > 35


def test_a_wrong_number_is_found(results: dict[str, str]) -> None:
    quoted = {"results.md": "# Title\n11.5 1.55 | 2.50\n## A part\n1.7"}
    assert quoted_without_source("NUICE takes 1.5 or 2.5 ms ([more](a/results.md)).", quoted) == (2, ["1.5"])
    assert quoted_without_source("| 2.5 | [a](results.md) |\n| 1.5 | measured there |", quoted) == (
        2,
        ["1.5"],
    )
    assert quoted_without_source("NUICE takes 1.5 ms.", quoted) == (0, [])
    assert quoted_without_source("1.7 and 2.5 ms ([more](results.md#a-part))", quoted) == (2, ["2.5"])
    text = (ROOT / "docs/will-it-help.md").read_text(encoding="utf-8")
    checked, _ = quoted_without_source(text, results)
    wrong = DECIMAL.sub(lambda number: number[0] + "7", text)
    assert len(quoted_without_source(wrong, results)[1]) == checked > 30

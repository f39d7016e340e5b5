# SPDX-License-Identifier: BSD-3-Clause
"""Walks include/nuice/nuice.h: every function has a comment, a procedure in Fortran and tests.

The names in docs/how-to/languages.md exist; docs/reference/api-c.md has all (test_api_reference.py).
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEADER = (ROOT / "include/nuice/nuice.h").read_text()
FUNCTION = re.compile(r"(/\*\*(?:(?!\*/).)*\*/)?\s*NUICE_API\s+([^;]*?)\b(nuice_\w+)\(([^;]*)\);", re.S)
FUNCTIONS = {name: (comment, arguments) for comment, _, name, arguments in FUNCTION.findall(HEADER)}
TAKES_MPI_HANDLES = re.compile(r"\bMPI_(Comm|Datatype|Op|Request)\b")
# All calls with MPI's arguments have one twin; names that MPI's requests have are those of exchanges.
ONE_TWIN = re.compile(r"^nuice_(?:neighbor_)?alltoall[vw](_init)?(?:_c)?$")
# For layers of other languages on top of C, which find errors in the program's objects.
OF_LAYERS = {"nuice_plan_refuse", "nuice_halo_agree", "nuice_halo_refuse"}
# For profilers, which are libraries of C.
OF_PROFILERS = {"nuice_observe"}
# An optional argument of Fortran's nuice_halo_bind_gather and _scatter.
ARGUMENTS_IN_FORTRAN = {"nuice_halo_set_wires"}


def text_of(*patterns: str) -> str:
    return "\n".join(path.read_text() for pattern in patterns for path in sorted(ROOT.glob(pattern)))


def calls_by_macro(text: str) -> str:
    """The calls that CALL of alltoallv_test.c makes: it joins names and ends of names."""
    ends = re.findall(r"\bnuice_##name(?:##(\w+))?\(", text)
    names = set(re.findall(r"\bCALL\(way, (\w+),", text))
    return "".join(f"\nnuice_{name}{end}(" for name in sorted(names) for end in ends)


C_TESTS = text_of("tests/capi/*.c", "tests/capi/*.cpp")
C_TESTS += calls_by_macro(C_TESTS)
FORTRAN_MODULE = text_of("src/fortran/nuice.F90", "src/fortran/*.inc")
FORTRAN_TESTS = text_of("tests/fortran/*90")
DOCS = text_of("docs/how-to/languages.md")


def missing(functions: dict[str, tuple[str, str]]) -> list[str]:
    """What a header lacks, in words."""
    found = []
    for name, (comment, arguments) in functions.items():
        base = name.removesuffix("_f")
        if len(comment.strip("/* \n")) < 10:
            found.append(f"{name}: no comment")
        if not re.search(rf"\b{name}\(", C_TESTS):
            found.append(f"{name}: no test in C")
        if TAKES_MPI_HANDLES.search(arguments):
            if ONE_TWIN.sub(r"nuice_alltoallv\1", name) + "_f" not in functions:
                found.append(f"{name}: no twin with Fortran's handles")
            continue
        if name in OF_LAYERS | OF_PROFILERS:
            continue
        if name in ARGUMENTS_IN_FORTRAN:
            continue
        if not re.search(rf"\b(subroutine|function|interface) {base}\b", FORTRAN_MODULE):
            found.append(f"{base}: not in the Fortran module")
        if not re.search(rf"\b{base}\b", FORTRAN_TESTS):
            found.append(f"{base}: no test in Fortran")
    return found


def test_the_header_is_read() -> None:
    assert len(FUNCTIONS) == len(re.findall(r"^NUICE_API ", HEADER, re.M)) > 50
    assert "nuice_plan_create" in FUNCTIONS


def test_every_function_has_all_that_it_needs() -> None:
    assert missing(FUNCTIONS) == []


def test_what_is_missing_is_found() -> None:
    found = missing(
        {"nuice_new": ("", "void"), "nuice_other": ("/** Something with MPI. */", "MPI_Comm comm")}
    )
    assert [problem.partition(": ")[2] for problem in found] == [
        "no comment",
        "no test in C",
        "not in the Fortran module",
        "no test in Fortran",
        "no test in C",
        "no twin with Fortran's handles",
    ]


def test_the_page_names_functions_that_exist() -> None:
    named = set(re.findall(r"`(nuice_\w+)`", DOCS))
    assert len(named) > 12
    assert named <= FUNCTIONS.keys()


def test_the_table_names_what_python_has() -> None:
    pytest.importorskip("mpi4py")
    import nuice
    import nuice.mpi

    rows = re.findall(r"^\|[^|]*\| `nuice_[^|]*\|[^|]*\|([^|]*)\|$", DOCS, re.M)
    owners = {"Plan": nuice.mpi.Plan, "Exchange": nuice.mpi.Exchange, "Halo": nuice.mpi.Halo}
    names = [name for row in rows for name in re.findall(r"`([\w.]+)", row)]
    assert len(names) > 8
    for name in names:
        owner, _, member = name.partition(".")
        if not member:
            assert hasattr(nuice.mpi, name), name
        elif owner in owners:
            assert hasattr(owners[owner], member) or member in owners[owner].__slots__, name
        else:
            assert hasattr(nuice if owner == "nuice" else nuice.CommMatrix, member), name

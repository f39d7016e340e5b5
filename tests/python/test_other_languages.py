# SPDX-License-Identifier: BSD-3-Clause
"""The program in Julia calls what nuice.h declares."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def arguments_in(text: str, name: str) -> list[str]:
    """Of the declaration or call of this function."""
    found = re.search(rf"(?:NUICE_API int |\.){name}\((.*?)\)(?:;|::Cint)", text, re.DOTALL)
    assert found, name
    return found[1].split(",")


def test_julia_calls_what_the_header_declares() -> None:
    header = (ROOT / "include/nuice/nuice.h").read_text()
    program = (ROOT / "examples/julia/exchange.jl").read_text()
    widths = {"int": "Cint", "MPI_Datatype": "MPI.API.MPI_Datatype"}
    widths |= {"MPI_Comm": "MPI.API.MPI_Comm", "MPI_Info": "MPI.API.MPI_Info"}
    for name in ("nuice_alltoallv_init", "nuice_start", "nuice_wait", "nuice_free"):
        declared, called = arguments_in(header, name), arguments_in(program, name)
        assert len(declared) == len(called), name
        for before, after in zip(declared, called, strict=True):
            kind = after.rpartition("::")[2]
            if "*" in before or "[" in before or "nuice_request" in before:
                assert kind.startswith("Ptr{"), after
                assert ("int " in before) == (kind == "Ptr{Cint}"), after
            else:
                assert kind == widths[before.split()[0]], after

# SPDX-License-Identifier: BSD-3-Clause
"""The program in Rust runs where bindgen and rustc are; that in Julia calls what nuice.h has."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PREFIX = Path(sys.executable).parents[1]


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


@pytest.mark.slow
@pytest.mark.skipif(not (shutil.which("bindgen") and shutil.which("rustc")), reason="no bindgen, no rustc")
def test_the_program_in_rust_runs(tmp_path: Path) -> None:
    rust, mpi, lib = ROOT / "examples/rust", PREFIX / "bin", PREFIX / "lib"
    where = subprocess.run(["cc", "-print-file-name=include"], capture_output=True, text=True, check=True)
    own_headers = where.stdout.strip()  # stddef.h, where clang's are not installed
    allowed = "nuice_.*|MPI_.*|world|real8|no_info"
    env = os.environ | {"OUT_DIR": str(tmp_path)}
    env |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    for command in (
        f"bindgen {rust}/binding.h --allowlist-function {allowed} -o {tmp_path}/nuice.rs"
        f" -- -I{PREFIX}/include -I{own_headers}",
        f"{mpi}/mpicc -c {rust}/binding.c -I{PREFIX}/include -o {tmp_path}/binding.o",
        f"rustc {rust}/main.rs -C link-arg={tmp_path}/binding.o -L {lib} -l nuice -l mpi"
        f" -C link-arg=-Wl,-rpath,{lib} -o {tmp_path}/program",
        f"{mpi}/mpiexec --oversubscribe -n 3 {tmp_path}/program",
    ):
        done = subprocess.run(command.split(), env=env, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(done.stdout.split("\n")[:3]) == [f"rank {rank} of 3 is done" for rank in range(3)]

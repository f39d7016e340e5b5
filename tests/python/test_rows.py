# SPDX-License-Identifier: BSD-3-Clause
"""Rows from a shared object: the toy scheduler and the toy executor of tests/toy, built as a user would."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import nuice

TOY = Path(__file__).parents[1] / "toy"
INSTALLED = Path(sys.prefix)


@pytest.fixture(scope="module")
def toy_rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of docs/how-to/own-schedulers.md."""
    path = tmp_path_factory.mktemp("toy") / "toy_rows.so"
    core = min(INSTALLED.glob("lib*/**/libnuice.a"))  # lib64 may be a link to lib
    sources = [TOY / name for name in ("shift.cpp", "patient.cpp", "rows.cpp")]
    command = [
        "c++",
        "-std=c++20",
        "-shared",
        "-fPIC",
        f"-I{INSTALLED / 'include'}",
        *sources,
        core,
        "-o",
        path,
    ]
    subprocess.run(command, check=True, timeout=300)
    return path


@pytest.mark.slow
def test_rows_of_a_shared_object(toy_rows: Path, nuice_command, tmp_path: Path) -> None:
    listed = nuice_command("--plugin", toy_rows, "list", "--json").json()
    assert listed["schedulers"][-1]["name"] == "shift"
    assert listed["executors"][-1] == {
        "name": "patient",
        "needs": ["direct", "one_port"],
        "simulated": True,
        "on_mpi": False,
        "source": "tests/toy",
        "summary": "all sends at once, of schedules without node contention",
    }
    shutil.copy(toy_rows, tmp_path / "mine.so")  # by its name alone, from where it lies
    assert nuice_command("--plugin", "mine.so", "list", "--json").json() == listed
    matrix = nuice.random_regular(8, 3, unit_bytes=4096, max_units=4, seed=1)
    nuice.save_matrix_market(tmp_path / "m.mtx", matrix)
    asked = ("advise", "m.mtx", "--machine", "ethernet-1g", "--json")
    advice = nuice_command("--plugin", toy_rows, *asked).json()
    assert {"shift:phased", "shift:patient"} <= {c["candidate"] for c in advice["candidates"]}
    assert "shift" not in json.dumps(nuice_command(*asked).json())
    planned = nuice_command("--plugin", toy_rows, "plan", "m.mtx", "--scheduler", "shift", "-o", "m.plan")
    assert planned.status == 0, planned.err
    refused = nuice_command("--plugin", toy_rows, "--plugin", toy_rows, "list", "--json")
    assert refused.status == 2
    assert 'there is a scheduler "shift" already' in refused.json()["error"]["message"]


def test_what_is_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(nuice.Error, match="rows cannot be loaded: .*nowhere.so"):
        nuice.load_rows(tmp_path / "nowhere.so")

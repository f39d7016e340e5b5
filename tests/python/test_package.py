# SPDX-License-Identifier: BSD-3-Clause
"""The package itself: its stub, what importing it costs, its error, its version."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

import nuice

PACKAGE = Path(nuice.__file__).parent
ROOT = Path(__file__).parents[2]


def test_the_committed_stub_is_what_stubgen_makes(tmp_path: Path) -> None:
    """If this fails: python -m nanobind.stubgen -m nuice._core -o python/nuice/_core.pyi"""
    command = [
        sys.executable,
        "-m",
        "nanobind.stubgen",
        "-q",
        "-m",
        "nuice._core",
        "-o",
        tmp_path / "_core.pyi",
    ]
    subprocess.run(command, check=True)
    assert (tmp_path / "_core.pyi").read_text() == (ROOT / "python/nuice/_core.pyi").read_text()
    assert (ROOT / "python/nuice/py.typed").exists()


def test_importing_is_quick_and_leaves_large_packages_alone() -> None:
    large = ("matplotlib", "gmsh", "pymetis", "scipy", "typer", "rich")
    code = f"import sys, nuice; print(*[m for m in {large} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_the_version_is_that_of_the_build_files() -> None:
    text = (ROOT / "CMakeLists.txt").read_text()
    assert re.search(r"project\(nuice VERSION ([0-9.]+)", text).group(1) == nuice.__version__


def test_all_names_exist() -> None:
    assert all(hasattr(nuice, name) for name in nuice.__all__)


def test_errors_survive_pickling() -> None:
    with pytest.raises(nuice.Error) as caught:
        nuice.find_scheduler("none")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.code) == (str(caught.value), "invalid_argument")

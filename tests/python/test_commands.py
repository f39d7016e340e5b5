# SPDX-License-Identifier: BSD-3-Clause
"""The commands of the pages run as printed.

A page's commands are the lines of its ```sh blocks, those behind "$ " in blocks of a session, whose other
lines must be printed, indented lines that begin with a program, and what begins so between backquotes and is
more than a name. They run in order in a folder with what the pages presuppose: a built source folder, a
program, some matrices. NOT_RUN says why a command is not run here; every other command's page is in PAGES or
ON_A_NETWORK. A command whose comment begins with "fails" must fail. What else the pages name:
test_named_options.py.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import nuice
from nuice.cli.bench import environment, find_program
from test_testbed import needs_network

ROOT = Path(__file__).parents[2]
PREFIX = Path(sys.executable).parents[1]

PAGES = [
    "docs/explanation/advise.md",
    "docs/explanation/algorithms/README.md",
    "docs/explanation/algorithms/broadcast.md",
    "docs/explanation/algorithms/link-free.md",
    "docs/how-to/compare.md",
    "docs/how-to/exchange.md",
    "docs/how-to/install.md",
    "docs/how-to/lossless-fabric.md",
    "docs/how-to/lossy-switch.md",
    "docs/how-to/own-schedulers.md",
    "docs/how-to/replace-alltoallv.md",
    "docs/how-to/trace.md",
    "docs/reference/applications.md",
    "docs/reference/cli.md",
    "docs/reference/machines.md",
    "docs/tutorial/planned-halo.md",
    "docs/will-it-help.md",
    "papers/docs/irregular.md",
    "papers/docs/lee.md",
    "papers/docs/reproduce.md",
]
ON_A_NETWORK = [
    "docs/how-to/many-ranks-on-a-host.md",
    "docs/how-to/testbed.md",
    "docs/how-to/unmodified-program.md",
]

# How a command begins, or a page: why it is not run here.
NOT_RUN = {
    "cmake -S . -B build -DCMAKE_INSTALL_PREFIX": "builds NUICE; all these commands use what it installs",
    "cmake --build build --parallel": "the same",
    "cmake --install build": "the same",
    "make build": "the same",
    "make install": "the same, by pip too",
    "make demo": "test_demo.py",
    "make testbed": "the same, then the command that run_as_printed() begins with",
    "make petsc": "needs PETSc: tests/petsc",
    "make fuzz": "ctest runs its targets",
    "mpiexec -n 4 ./program -dll_append": "needs PETSc: tests/petsc",
    "srun": "needs Slurm: tests/slurm/prove.sh",
    "CONTRIBUTING.md": "builds and tests NUICE itself",
    "RELEASING.md": "the same, for a release",
    "mpiexec -n P ": "the words in capitals are the reader's",
    "mpiexec -n 2 nuice-lee --size N": "the same",
    "mpiexec -n 2 nuice-am-bench": "takes minutes: bench_cli_test.py",
    "mpiexec -n 2 first_exchanges": "is not installed, as are no programs of bench/call_programs",
    "build/release/tests": "needs the tests of C++",
    "ctest ": "the same",
    "pip install": "compiles the Python package: test_package.py",
    "docs/how-to/languages.md": "tests/consumer builds programs so; Rust: test_other_languages.py",
    "docs/how-to/slurm.md": "needs Slurm: tests/slurm/prove.sh runs the job as printed",
    "ibnetdiscover": "needs a fabric: test_ib.py",
    "dump_fts": "the same",
    'NUICE_OPTIONS="scheduler=link_list executor=depend topology=ib:fabric"': "the same, with 64 ranks",
    "nuice show halo.mtx --topology ib:fabric": "the same",
    'NUICE_OPTIONS="scheduler=distributed_coloring planning=distributed" mpiexec -n 4096': "4096 ranks",
    "mpiexec -n 8 nuice-calibrate": "needs a core for each rank: nuice_calibrate_test",
    "nuice-bench --schedulers auto,ac,rs_n,coloring --machine my.toml ...": "the dots are the reader's",
    "docs/how-to/recorded-runs.md": "needs a recording of another tool: test_recording.py makes some",
    "nuice-testbed up --name a": "another network may have this name: test_testbed.py",
    "nuice-testbed port HOST RATE": "the words in capitals are the reader's: test_testbed.py",
    "nuice-testbed switch down": "needs the network that is down by then: test_testbed.py",
    "nuice-testbed rdma": "test_lossless.py",
    "nuice-testbed up --preset lossless": "needs Soft-RoCE or many cores: test_lossless.py",
    "nuice-testbed run nuice-bench --matrix M16.mtx --topology": "the same",
}
PROGRAM = r"nuice(?:-(?!network|schedule)[\w-]+)?|mpiexec|mpicc|mpicxx|cmake|make|python|srun|export"
STARTS = rf"(?:[A-Z_]+=\S+ )*(?:{PROGRAM}) "
INLINE = r"(?:mpiexec -n|mpicc|mpicxx|mpifort|cmake|ctest|pip|python \w+/|build/[^\s`]+|\.venv/[^\s`]+) "
BLOCK = re.compile(r"^ *```sh\n(.*?)^ *```", re.S | re.M)
SESSION = re.compile(r"^```\n(\$ .*?)^```", re.S | re.M)


def commands(page: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    lines = [line.strip() for line in "".join(BLOCK.findall(text)).splitlines()]
    lines += re.findall(r"^\$ (.*)$", "".join(SESSION.findall(text)), re.M)
    others = re.sub(r"^ *```.*?^ *```", "", text, flags=re.S | re.M)
    lines += re.findall(rf"^    ({STARTS}.*)$", others, re.M) + re.findall(rf"`({INLINE}[^`\n]+)`", others)
    order = sorted(lines, key=text.index)
    return [line for line in order if line and not line.startswith("#")]


def printed(page: str) -> list[str]:
    """Lines that the commands of sessions print, without times and the lines that a page leaves out."""
    sessions = "".join(SESSION.findall((ROOT / page).read_text(encoding="utf-8")))
    lines = [line for line in sessions.splitlines() if not line.startswith(("$ ", "..."))]
    return [without_times(line) for line in lines]


def without_times(text: str) -> str:
    return re.sub(r"[ \u2500]+", " ", re.sub(r"[\d.]+ [num]s\b", "TIME", text)).strip()


def why_not_run(page: str, command: str) -> str | None:
    return next((start for start in NOT_RUN if start == page or command.startswith(start)), None)


def test_every_command_of_the_pages_is_run_or_has_a_reason() -> None:
    folders = ("docs", "papers", "am", "packaging", "examples")
    files = [*ROOT.glob("*.md"), *(file for folder in folders for file in (ROOT / folder).rglob("*.md"))]
    used = set()
    for page in [str(file.relative_to(ROOT)) for file in [*files, ROOT / "bench/README.md"]]:
        for command in commands(page):
            reason = why_not_run(page, command)
            used.add(reason)
            assert reason or page in PAGES + ON_A_NETWORK, (
                f"{page}: add the page to PAGES, or say in NOT_RUN why this does not run: {command}"
            )
    assert {*NOT_RUN} - used == set(), "not on any page"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (PREFIX / "lib/libnuice.a").exists() or not (PREFIX / "bin/nuice-euler").exists():
        pytest.skip("library and programs are not installed in the virtual environment (make build)")
    home = tmp_path_factory.mktemp("home")
    (home / "opt").mkdir()
    (home / "opt/nuice").symlink_to(PREFIX)
    work = home / "nuice"
    work.mkdir()
    (work / ".venv").symlink_to(PREFIX)
    for name in ("examples", "tests", "bench"):
        (work / name).symlink_to(ROOT / name)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (work / "main.cpp").write_text(re.findall(r"```cpp\n(.*?)```", readme, re.DOTALL)[0])
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "nuice-cxx"],
        env={**os.environ, "PKG_CONFIG_PATH": f"{PREFIX}/lib/pkgconfig"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    compile_it = [find_program("mpicxx"), "-std=c++20", "main.cpp", *flags, "-o", "program"]
    subprocess.run(compile_it, cwd=work, check=True)
    for name in ("my_program", "PROGRAM"):
        shutil.copy(work / "program", work / name)
    for name, ranks in {"halo": 8, "M16": 16, "M32": 32, "FILE": 16}.items():
        matrix = nuice.random_regular(ranks, 4, unit_bytes=4096, max_units=4, seed=1)
        nuice.save_matrix_market(work / f"{name}.mtx", matrix)
    (work / "demo").mkdir()
    shutil.copy(work / "halo.mtx", work / "demo/airfoil.mtx")
    shutil.copy(ROOT / "data/machines/ethernet-1g.toml", work / "my.toml")
    rows = "".join(f"{i} {i} 2\n{i + 1} {i} -1\n" for i in range(1, 64)) + "64 64 2\n"
    (work / "stiffness.mtx").write_text(f"%%MatrixMarket matrix coordinate real symmetric\n64 64 127\n{rows}")
    return work


def run_as_printed(page: str, folder: Path, name: str) -> None:
    lines = [line for line in commands(page) if not why_not_run(page, line)]
    if any(line.startswith("make testbed") for line in commands(page)):
        lines.insert(0, "nuice-testbed up --preset fast")
    script = "\n".join(f"if {line}\nthen false; fi" if "# fails" in line else line for line in lines)
    assert script
    variables = {
        **environment(),
        "HOME": str(folder.parent),
        "PREFIX": str(PREFIX),
        "PATH": f"{PREFIX}/bin:{folder}:{os.environ['PATH']}",
        "XDG_CONFIG_HOME": str(folder.parent / "config"),
        "NUICE_TESTBED": name,
        "LD_LIBRARY_PATH": f"{PREFIX}/lib",
    }
    done = subprocess.run(
        ["bash", "-euxo", "pipefail", "-c", script],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    shown = [without_times(line) for line in done.stdout.splitlines()]
    assert [line for line in printed(page) if line not in shown] == [], done.stdout


@pytest.mark.long
@pytest.mark.alone
@pytest.mark.parametrize("page", PAGES)
def test_commands_run_as_printed(page: str, folder: Path) -> None:
    run_as_printed(page, folder, "unused")


@needs_network
@pytest.mark.long
@pytest.mark.alone
@pytest.mark.parametrize("page", ON_A_NETWORK)
def test_commands_run_as_printed_on_a_network(page: str, folder: Path) -> None:
    name = f"c{os.getpid()}"
    try:
        run_as_printed(page, folder, name)
    finally:
        command = [sys.executable, str(ROOT / "bench/testbed/nuice_testbed.py"), "down", "--name", name]
        subprocess.run(command, capture_output=True)

# SPDX-License-Identifier: BSD-3-Clause
"""The command where something is wrong: its input, its files, its streams."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from pathlib import Path

import pytest

import nuice
from matrices import MATRIX
from nuice_fixtures import COMMAND

BAD = (
    ("show none.mtx", "none.mtx", "io"),
    ("show bad.mtx", "bad.mtx:3: ", "parse"),
    ("plan a.mtx --scheduler nope -o new.plan --plot new.png", "rs_n", "invalid_argument"),
    ("plan a.mtx --seed -1", "seed", "invalid_argument"),
    ("plan a.mtx --phase-cost-bytes -1 -o new.plan", "--phase-cost-bytes", "invalid_argument"),
    ("compare a.mtx --phase-cost-bytes 4611686018427387905", "--phase-cost-bytes", "invalid_argument"),
    ("plan a.mtx --plot picture.gif", "picture.gif", "invalid_argument"),
    ("plan a.mtx -o no/folder.plan", "no/folder.plan", "io"),
    ("plan a.mtx -o new.plan --plot no/folder.png", "no/folder.png", "io"),
    ("plan bad.mtx -o new.plan", "bad.mtx:3: ", "parse"),
    ("plan", "FILE.mtx", "invalid_argument"),
    ("check bad.mtx a.mtx", "bad.mtx:1: ", "parse"),
    ("check other.plan a.mtx", "another matrix", "mismatch"),
    ("compare a.mtx --schedulers lp,nope --plot new.png", "nope", "invalid_argument"),
    ("plan a.mtx --topology ring:8", 'unknown topology "ring"', "invalid_argument"),
    ("plan a.mtx --topology torus:8xq", "torus:8xq", "invalid_argument"),
    ("plan a.mtx --topology file:bad.mtx -o new.plan", "bad.mtx:1: ", "parse"),
    ("plan a.mtx --topology hypercube:2 -o new.plan", "has 4 ranks, the matrix has 8", "mismatch"),
    ("plan a.mtx --scheduler rs_nl -o new.plan", "needs a network", "not_applicable"),
    ("compare a.mtx --topology mesh:7", "mesh:7 has 7 ranks", "mismatch"),
    ("compare a.mtx --repeat 0", "repeat", "invalid_argument"),
    ("generate random --ranks 4 --degree 4 -o new.mtx", "degree", "invalid_argument"),
    (
        "generate random --ranks 4 --degree 1 --unit 99999999999999999999 -o new.mtx",
        "--unit",
        "invalid_argument",
    ),
    ("generate random --ranks 4 --degree 3 --max-units 4611686018427387904 -o new.mtx", "2^62", "limit"),
    ("generate density --ranks 4 --density 1.5 -o new.mtx", "--density", "invalid_argument"),
    ("generate airfoil --points 7 --parts 2 -o new.mtx", "7 points", "invalid_argument"),
    ("generate airfoil --points 600 --parts 601 -o new.mtx --mesh-plot new.png", "parts", "invalid_argument"),
    ("generate nothing", "nothing", "invalid_argument"),
    ("broadcast --ranks 4 --algorithm tree", "known: lib, reb", "invalid_argument"),
    ("broadcast --ranks 4 --root 4", "the root is rank 4", "invalid_argument"),
    ("broadcast --ranks 4 --group 1,4", "the member is rank 4", "invalid_argument"),
    ("broadcast --ranks 4 --group 1,1", "rank 1 is twice", "invalid_argument"),
    ("broadcast --ranks 4 --group 1,x", "'x' is not a rank", "invalid_argument"),
    ("broadcast --ranks 0", "0 is not in 1..", "invalid_argument"),
    ("nothing", "nothing", "invalid_argument"),
)


@pytest.mark.parametrize(("words", "named", "code"), BAD, ids=[words for words, _, _ in BAD])
def test_bad_input_is_one_line_exit_code_2_and_no_files(
    nuice_main, matrix_file: Path, tmp_path: Path, words: str, named: str, code: str
) -> None:
    (tmp_path / "bad.mtx").write_text("%%MatrixMarket matrix coordinate integer general\n2 2 1\n1 9 4\n")
    nuice.plan(nuice.random_regular(8, 3, seed=99)).save(tmp_path / "other.plan")
    before = sorted(p.name for p in tmp_path.iterdir())
    done = nuice_main(*words.split(), "--json")
    assert done.status == 2
    assert len(done.err.splitlines()) == 1
    assert done.err.startswith("nuice: ")
    assert named in done.err
    error = done.json()["error"]
    assert error["code"] == code
    assert f"nuice: {error['message']}\n" == done.err
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_errors_without_json_leave_stdout_empty(nuice_command) -> None:
    done = nuice_command("show", "none.mtx")
    assert (done.status, done.out) == (2, "")


def test_a_failed_run_keeps_the_old_file(nuice_command, matrix_file: Path, tmp_path: Path) -> None:
    (tmp_path / "a.plan").write_text("old")
    assert nuice_command("plan", "a.mtx", "--scheduler", "nope", "-o", "a.plan").status == 2
    assert (tmp_path / "a.plan").read_text() == "old"


def test_file_names_are_printed_as_they_are(nuice_command, tmp_path: Path) -> None:
    nuice.save_matrix_market(tmp_path / "[red]x.mtx", MATRIX)
    assert nuice_command("show", "[red]x.mtx").out.startswith("[red]x.mtx\n")


def in_shell(line: str, tmp_path: Path, timeout_s: float = 60) -> subprocess.CompletedProcess[bytes]:
    """What bash makes of it; `nuice` is the installed command."""
    path = f"{COMMAND.parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", line],
        cwd=tmp_path,
        capture_output=True,
        timeout=timeout_s,
        env={**os.environ, "PATH": path},
    )


@pytest.mark.parametrize(
    ("line", "status", "complaint"),
    [
        ("nuice show $'\\xff.mtx'", 2, rb"nuice: \xff.mtx: No such file"),
        ("nuice list --json >/dev/full", 2, b"standard output: No space left"),
        ("nuice list >/dev/full", 2, b"standard output: No space left"),
        ("ulimit -f 0; nuice export goal a.mtx -o a.goal", 2, b"nuice: a.goal: cannot be written: File too"),
        ("nuice simulate a.mtx --machine ./none", 2, b"nuice: ./none: No such file"),
        ("nuice show none.mtx --json >/dev/full", 2, b"none.mtx: No such file"),
        ("nuice show none.mtx --json 2>/dev/full >/dev/full", 2, b""),
        ("nuice list >&-", 2, b"nuice: stdout is closed"),
        ("nuice list --json >&-", 2, b"nuice: stdout is closed"),
        ("nuice show none.mtx 2>&-", 2, b""),
        ("nuice list >/dev/null 2>&-", 0, b""),
        ("nuice list | head -1 >/dev/null; exit ${PIPESTATUS[0]}", 0, b""),
        ("nuice show --help | head -1 >/dev/null; exit ${PIPESTATUS[0]}", 0, b""),
        ("nuice list --json | true; exit ${PIPESTATUS[0]}", 0, b""),
        ("nuice compare a.mtx --schedulers ,", 2, b"--schedulers ',': no name in it"),
        ("nuice simulate a.mtx --machine cm5-32 --schedulers ,", 2, b"no name in it"),
        ("nuice plan a.mtx -o /proc/x", 2, b"nuice: /proc/x: cannot be written: "),
        ("nuice show <(cat a.mtx)", 0, b""),
        ("nuice show <(gzip <a.mtx)", 0, b""),
    ],
)
def test_whatever_happens_to_the_streams(
    line: str, status: int, complaint: bytes, matrix_file: Path, tmp_path: Path
) -> None:
    done = in_shell(line, tmp_path)
    assert (done.returncode, b"Traceback" in done.stderr) == (status, False), done.stderr
    assert complaint in done.stderr
    assert bool(complaint) or done.stderr.count(b"\n") == 0
    assert done.stderr.count(b"\n") <= 1


def test_a_name_that_is_not_utf8_is_told_as_json(tmp_path: Path) -> None:
    done = in_shell("nuice show $'\\xff.mtx' --json", tmp_path)
    assert json.loads(done.stdout)["error"]["code"] == "io"


@pytest.mark.long  # waits ten seconds for a writer
def test_a_pipe_that_nobody_writes_to_is_an_error(nuice_command, matrix_file: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    refused = nuice_command("compare", "a.mtx", "--topology", "file:pipe", timeout_s=40)
    assert refused.status == 2
    assert "pipe: no program writes to this pipe" in refused.err


def test_headers_that_promise_too_much_are_refused(nuice_command, tmp_path: Path) -> None:
    (tmp_path / "b.mtx").write_text(
        "%%MatrixMarket matrix coordinate integer general\n2147483647 2147483647 0\n"
    )
    refused = nuice_command("show", "b.mtx", "--json")
    assert (refused.status, refused.json()["error"]["code"]) == (2, "limit")
    assert "b.mtx:2: 2147483647 rows" in refused.err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may replace a device")
def test_devices_are_written_to_and_stay(nuice_command, tmp_path: Path) -> None:
    """Once root's `-o /dev/null` made it a regular file. The device here is one of our own."""
    os.mknod(tmp_path / "null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    words = ("generate", "random", "--ranks", "4", "--degree", "2")
    assert nuice_command(*words, "-o", "null").status == 0
    assert stat.S_ISCHR((tmp_path / "null").stat().st_mode)

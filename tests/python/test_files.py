# SPDX-License-Identifier: BSD-3-Clause
"""Matrix Market and plan files: both ways, with SciPy as the other side, and malformed ones."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import nuice
from matrices import comm_matrices
from nuice.files import OutputFiles
from nuice_fixtures import COMMAND

HEADER = "%%MatrixMarket matrix coordinate integer general\n"


@given(matrix=comm_matrices())
def test_scipy_reads_what_we_write(matrix: nuice.CommMatrix, tmp_path: Path) -> None:
    nuice.save_matrix_market(tmp_path / "a.mtx", matrix, "a comment\nof two lines")
    assert (scipy.io.mmread(tmp_path / "a.mtx").toarray() == nuice.to_dense(matrix)).all()
    assert nuice.load_matrix_market(tmp_path / "a.mtx") == matrix


@given(
    matrix=comm_matrices(max_bytes=1 << 50), field=st.sampled_from(["integer", "real"]), sparse=st.booleans()
)
def test_we_read_what_scipy_writes(
    matrix: nuice.CommMatrix, field: str, sparse: bool, tmp_path: Path
) -> None:
    array = nuice.to_scipy(matrix) if sparse else nuice.to_dense(matrix)
    if field == "real":
        array = array.astype(np.float64)
    scipy.io.mmwrite(tmp_path / "b.mtx", array, field=field, precision=17, symmetry="general")
    assert nuice.load_matrix_market(tmp_path / "b.mtx") == matrix


@given(matrix=comm_matrices(max_ranks=6, max_bytes=1 << 30))
def test_symmetric_files_have_both_directions(matrix: nuice.CommMatrix, tmp_path: Path) -> None:
    dense = nuice.to_dense(matrix)
    both = dense + dense.T
    scipy.io.mmwrite(tmp_path / "s.mtx", scipy.sparse.coo_array(both), symmetry="symmetric")
    assert "symmetric" in (tmp_path / "s.mtx").read_text().splitlines()[0]
    assert nuice.load_matrix_market(tmp_path / "s.mtx") == nuice.from_dense(both)


def test_pattern_files_mean_one_byte_each(tmp_path: Path) -> None:
    (tmp_path / "p.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n3 1\n")
    matrix = nuice.load_matrix_market(tmp_path / "p.mtx")
    assert [matrix.message(i) for i in range(2)] == [(0, 1, 1), (2, 0, 1)]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("1 1 0\n", 1),
        (HEADER + "% comment\n2 2 1\n1 3 4\n", 4),
        ("%%MatrixMarket matrix array integer general\n2 2\n0\n1\n", 4),
    ],
)
def test_malformed_matrices_are_refused_with_the_line(text: str, line: int, tmp_path: Path) -> None:
    """All others: tests/unit/matrix_market_test.cpp."""
    file = tmp_path / "bad.mtx"
    file.write_text(text)
    with pytest.raises(nuice.Error) as caught:
        nuice.load_matrix_market(file)
    assert caught.value.code == "parse"
    assert str(caught.value).startswith(f"{file}:{line}: "), caught.value


def test_what_is_wrong_with_the_whole_file_is_said_with_its_name(tmp_path: Path) -> None:
    file = tmp_path / "bad.mtx"
    file.write_text(HEADER + "2 2 2\n1 1 4611686018427387904\n1 2 1\n")
    with pytest.raises(nuice.Error, match="rank 0") as caught:
        nuice.load_matrix_market(file)
    assert str(caught.value).startswith(f"{file}:")


def test_a_plan_for_another_matrix_is_refused(tmp_path: Path) -> None:
    nuice.plan(nuice.random_regular(8, 3, seed=1)).save(tmp_path / "a.plan")
    with pytest.raises(nuice.Error, match="another matrix") as caught:
        nuice.load_plan(tmp_path / "a.plan", nuice.random_regular(8, 3, seed=2))
    assert caught.value.code == "mismatch"


def test_missing_files_are_io_errors(tmp_path: Path) -> None:
    matrix = nuice.random_regular(4, 1)
    for call in (
        lambda: nuice.load_matrix_market(tmp_path / "none.mtx"),
        lambda: nuice.load_plan(tmp_path / "none.plan", matrix),
        lambda: nuice.save_matrix_market(tmp_path / "no" / "folder.mtx", matrix),
        lambda: nuice.plan(matrix).save(tmp_path / "no" / "folder.plan"),
    ):
        with pytest.raises(nuice.Error) as caught:
            call()
        assert caught.value.code == "io"
        assert str(tmp_path) in str(caught.value)


def test_output_files_appear_together_or_not_at_all(tmp_path: Path) -> None:
    old = tmp_path / "old.txt"
    old.write_text("before")
    with pytest.raises(RuntimeError), OutputFiles() as out:
        out.temporary(old).write_text("half")
        out.temporary(tmp_path / "new.txt").write_text("half")
        raise RuntimeError
    assert old.read_text() == "before"
    assert os.listdir(tmp_path) == ["old.txt"]
    with OutputFiles() as out:
        out.temporary(old).write_text("after")
        out.temporary(tmp_path / "not needed after all")
    assert old.read_text() == "after"
    assert os.listdir(tmp_path) == ["old.txt"]


def test_output_files_keep_mode_and_links(tmp_path: Path) -> None:
    file, link = tmp_path / "a.txt", tmp_path / "link.txt"
    file.write_text("before")
    file.chmod(0o600)
    link.symlink_to("a.txt")
    with OutputFiles() as out:
        out.temporary(link).write_text("after")
    assert link.is_symlink()
    assert file.read_text() == "after"
    assert file.stat().st_mode & 0o777 == 0o600
    (tmp_path / "dangling").symlink_to("new.txt")
    with OutputFiles() as out:
        out.temporary(tmp_path / "dangling").write_text("new")
    assert (tmp_path / "new.txt").read_text() == "new"
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "dangling", "link.txt", "new.txt"]


def test_errors_name_the_file_that_was_asked_for(tmp_path: Path) -> None:
    final = tmp_path / "a.mtx"
    with pytest.raises(nuice.Error, match=f"^{final}: is full$") as caught, OutputFiles() as out:
        raise nuice.Error(f"{out.temporary(final)}: is full", "io")
    assert caught.value.code == "io"
    with pytest.raises(nuice.Error, match="^/proc/x: cannot be written: "), OutputFiles() as out:
        out.temporary("/proc/x")


def test_special_files_are_written_to_and_never_replaced(tmp_path: Path) -> None:
    """A device node of our own: the real /dev/null is not put at risk."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    file = tmp_path / "a.txt"
    with OutputFiles() as out:
        out.temporary(fifo).write_text("through the pipe")
        out.temporary(file).write_text("a file")
    assert os.read(reader, 100) == b"through the pipe"
    os.close(reader)
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    assert file.read_text() == "a file"
    if os.geteuid() == 0:
        for name, minor in (("null", 3), ("full", 7)):
            os.mknod(tmp_path / name, 0o600 | stat.S_IFCHR, os.makedev(1, minor))
        with OutputFiles() as out:
            out.temporary(tmp_path / "null").write_text("x")
        assert stat.S_ISCHR((tmp_path / "null").stat().st_mode)
        with pytest.raises(nuice.Error, match="full: cannot be written: No space"), OutputFiles() as out:
            out.temporary(file).write_text("other")
            out.temporary(tmp_path / "full").write_text("x")
        assert file.read_text() == "a file"


def test_stdout_is_written_to_also_where_it_is_a_file(tmp_path: Path) -> None:
    with open(tmp_path / "out.txt", "wb") as out:
        words = ["generate", "random", "--ranks", "3", "--degree", "1", "-o", "/dev/stdout"]
        subprocess.run([COMMAND, *words], stdout=out, check=True)
        out.write(b"end\n")
    lines = (tmp_path / "out.txt").read_text().splitlines()
    assert lines[0].startswith("%%MatrixMarket")
    assert lines[-1] == "end"

# SPDX-License-Identifier: BSD-3-Clause
from pathlib import Path

import pytest

import nuice
from matrices import MATRIX
from nuice_fixtures import nuice_command, nuice_main, turn

__all__ = ["nuice_command", "nuice_main", "turn"]


@pytest.fixture
def matrix_file(tmp_path: Path) -> Path:
    nuice.save_matrix_market(tmp_path / "a.mtx", MATRIX)
    return tmp_path / "a.mtx"

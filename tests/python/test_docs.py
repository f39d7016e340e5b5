# SPDX-License-Identifier: BSD-3-Clause
"""docs/python.md is true: its code runs and prints what the comments below the print calls say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs/python.md"


def test_the_page_about_python_is_true(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
    promised = re.findall(r"^print\(.*\n# (.*)$", code, re.MULTILINE)
    assert len(promised) == code.count("print(") > 2
    exec(compile(code, str(PAGE), "exec"), {})
    assert capsys.readouterr().out.splitlines() == promised
    assert {p.name for p in tmp_path.iterdir()} == {"mesh.png", "phases.png"}

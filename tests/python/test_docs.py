# SPDX-License-Identifier: BSD-3-Clause
"""The pages are true.

The code of docs/python.md runs and prints what its comments say; that of docs/tutorial.md is what the test
`consumer` builds and runs.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/python.md"


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


def test_the_code_of_the_tutorial_is_that_of_its_programs() -> None:
    page = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^<!-- (\S+) \[(\w+)\] -->\n```cpp\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) == page.count("```cpp") > 5
    for file, region, code in blocks:
        program = (ROOT / file).read_text(encoding="utf-8")
        marked = rf"^ *// \[{region}\]\n(.*?)^ *// \[/{region}\]$"
        (found,) = re.findall(marked, program, re.DOTALL | re.MULTILINE)
        assert textwrap.dedent(found) == code, (file, region)

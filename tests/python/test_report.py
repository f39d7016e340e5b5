# SPDX-License-Identifier: BSD-3-Clause
"""nuice report: one page that stands alone, of a matrix or a trace; opened in a browser if there is one."""

from __future__ import annotations

import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

import nuice
from test_tracing import two_ranks

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
VOID = {"meta", "br"}


class Page(HTMLParser):
    """Every element is closed, nothing is loaded from elsewhere."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.headings: list[str] = []
        self.text = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list) -> None:
        values = dict(attrs)
        assert "src" not in values
        assert not values.get("href", "#").startswith(("http", "//", "file"))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)


@pytest.fixture
def report(nuice_command, tmp_path: Path):
    def make(source: Path, *words: str) -> Page:
        done = nuice_command("report", str(source), "-o", str(tmp_path / "report.html"), *words)
        assert done.status == 0, done.err
        return Page((tmp_path / "report.html").read_text(encoding="utf-8"))

    return make


def test_of_a_matrix(report, tmp_path: Path) -> None:
    matrix = nuice.random_regular(8, 3, unit_bytes=40_000, seed=1)
    path = tmp_path / "a<b>&.mtx"  # a name is not markup
    nuice.save_matrix_market(path, matrix)
    page = report(path, "--machine", "ethernet-1g", "--reuse", "50")
    assert page.headings == [
        "The matrix",
        "Degrees and bytes of each rank",
        "Advice",
        "The plan",
        "What to do next",
    ]
    advice = nuice.advise(matrix, "ethernet-1g", reuse=50)
    assert advice.sentence in page.text
    assert advice.candidates[1].why_not in page.text
    assert "a<b>&.mtx" in page.text


def test_of_a_matrix_without_messages(report, tmp_path: Path) -> None:
    nuice.save_matrix_market(tmp_path / "none.mtx", nuice.CommMatrix.from_messages(3, []))
    assert "The plan" not in report(tmp_path / "none.mtx").headings


def test_of_a_trace(report, tmp_path: Path) -> None:
    two_ranks(tmp_path)
    page = report(tmp_path)
    assert "What happened" in page.headings
    assert "rank 0 to rank 1: 100 B, 0 ns to 2.5 s" in page.text
    assert "rank 0 waits for rank 1 (message), 500 ms to 3 s" in page.text


def test_what_is_none_of_these_is_refused(nuice_command, tmp_path: Path) -> None:
    done = nuice_command("report", str(tmp_path), "-o", "r.html")
    assert done.status == 2
    assert "nuice run --record" in done.err
    assert not Path("r.html").exists()


def in_browser(page: Path, *words: str) -> subprocess.CompletedProcess[str]:
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
    profile = f"--user-data-dir={page.parent / 'profile'}"
    command = [BROWSER, *options, profile, *words, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no chromium (Debian: apt-get install chromium)")
def test_in_a_browser_it_has_no_errors_and_names_what_is_touched(report, tmp_path: Path) -> None:
    two_ranks(tmp_path)
    report(tmp_path)
    page = tmp_path / "report.html"
    touch = "<script>document.querySelector('.lanes rect').dispatchEvent(new Event('pointerenter'));</script>"
    page.write_text(page.read_text().replace("</body>", touch + "</body>"))
    done = in_browser(page, "--window-size=390,844", "--dump-dom")
    assert "CONSOLE" not in done.stderr
    said = done.stdout.partition('id="said">')[2].partition("<")[0]
    assert said.startswith("rank ")
    picture = tmp_path / "phone.png"
    in_browser(page, "--window-size=390,844", f"--screenshot={picture}")
    assert picture.stat().st_size > 10_000

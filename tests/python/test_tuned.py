# SPDX-License-Identifier: BSD-3-Clause
"""The bench of tuned MPIs: settings, the three peers that are made of its rows, tables in the documents."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from test_demo import missing_programs
from test_testbed import needs_network

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs/explanation/results"
sys.path.insert(0, str(ROOT / "bench"))

from cases.tuned import without_folders  # noqa: E402
from kit import Failed  # noqa: E402
from kit.place import made_of  # noqa: E402
from kit.plan_map import draw_map  # noqa: E402
from kit.settings import KNOBS, UnknownKnob, setting, usual_settings  # noqa: E402
from kit.three_peers import TUNED_TABLE, filled, markdown, three_peers  # noqa: E402


def test_a_setting_is_what_its_mpi_calls_it() -> None:
    assert setting("installed", "openmpi").prefix == []
    both = setting("rcvbuf=4k+eager=1m", "openmpi")
    assert both.environment == {
        "OMPI_MCA_btl_tcp_rcvbuf": "4096",
        "OMPI_MCA_btl_tcp_eager_limit": "1048576",
        "OMPI_MCA_btl_tcp_rndv_eager_limit": "1048576",
        "OMPI_MCA_btl_tcp_max_send_size": "2097152",
    }
    assert setting("rcvbuf=2560", "mpich-ucx").environment["UCX_TCP_RCVBUF"] == "2560"
    own = setting("governor:LD_PRELOAD=/a.so+with=nice -n 1", "openmpi")
    assert own.is_column and not both.is_column
    assert own.prefix == ["/usr/bin/env", "LD_PRELOAD=/a.so", "nice", "-n", "1"]


def test_every_usual_setting_is_one() -> None:
    for mpi in KNOBS:
        names = [setting(word, mpi).name for word in usual_settings(mpi)]
        assert names[0] == "installed" and len({*names}) == len(names)


@pytest.mark.parametrize(
    ("word", "error", "text"),
    [
        ("rcvbuf=4k", UnknownKnob, "rcvbuf .mpich-ofi has eager"),
        ("eager=much", Failed, "much is not a count of bytes"),
        ("fast", Failed, "fast is not a setting"),
    ],
)
def test_what_is_no_setting_is_named(word: str, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        setting(word, "mpich-ofi")


def test_rows_have_no_paths_of_the_machine() -> None:
    assert without_folders("/opt/nuice/lib/libnuice_flow.so") == "libnuice_flow.so"
    assert without_folders("1048576") == "1048576"


def test_networks_are_made_of_their_names() -> None:
    assert made_of("fast:reno") == ["--preset", "fast", "--cc", "reno"]
    assert made_of("fast:ranks=4") == ["--preset", "fast", "--ranks-per-host", "4"]
    words = ["--hosts", "16", "--rate", "100mbit", "--queue", "16k", "--cc", "bbr", "--rto-min", "5ms"]
    assert made_of("16x100/16k:bbr:rto_min=5ms") == words


def cell(pattern: str, name: str, ms: dict[str, float], reps: int = 9, is_column: bool = False) -> dict:
    methods = {method: {"median_s": each / 1e3} for method, each in ms.items()}
    row = {"mpi": "Open MPI 5", "network": "fast", "pattern": pattern, "setting": name, "reps": reps}
    return row | {"is_column": is_column, "methods": methods, "pressure": 0.5, "bound_s": 0.08}


ROWS = [
    cell("d8", "installed", {"alltoallv": 300, "nbx": 200, "auto": 100, "coloring:async": 90}),
    cell("d8", "small", {"alltoallv": 110, "isend": 120, "coloring:async": 100}),
    cell("d8", "large", {"alltoallv": 95, "coloring:async": 100}),
    cell("d8", "governor", {"alltoallv": 80, "coloring:async": 100}, is_column=True),
    cell("dense", "installed", {"alltoallv": 400, "nbx": 410, "auto": 95}),
    cell("dense", "small", {"alltoallv": 90, "coloring:async": 100}),
    cell("dense", "small", {"alltoallv": 10, "coloring:async": 100}, reps=3),  # from the screening
    cell("dense", "large", {"alltoallv": 300, "coloring:async": 100}),
    cell("hot", "small", {"alltoallv": 90, "coloring:async": 100}),  # never as installed
]


def test_three_peers() -> None:
    d8, dense = three_peers(ROWS, 5)
    assert (d8["alltoallv_s"], d8["installed_s"], d8["installed_method"]) == (0.3, 0.2, "nbx")
    assert (d8["once"], d8["once_s"]) == ("small", 0.11)  # 1.16 and 1, against 1 and 3.3
    assert (d8["each"], d8["each_s"]) == ("large", 0.095)
    assert (d8["nuice"], d8["over_each"]) == ("auto", pytest.approx(0.95))
    assert d8["columns"] == {"governor": 0.08}  # no tuning of MPI
    assert (dense["once_s"], dense["each"], dense["over_installed"]) == (
        0.09,
        "small",
        pytest.approx(4.21, 1e-2),
    )


def test_tables_are_made_of_rows(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    page = "a\n<!-- rows.jsonl: fast:dense, fast:d8 -->\n| old |\n|---|\n\nb\n"
    once = filled(page, tmp_path)
    assert markdown(ROWS, ["fast:dense", "fast:d8"]) in once
    assert (
        "| 16 hosts, 50 Mbit/s, 32 KiB; 8 partners, 64 KiB | 300 | 200 | 110 | 95 | 100 | 2.00, 1.10, 0.95 |"
        in once
    )
    assert once.startswith("a\n<!--") and once.endswith(" |\n\nb\n") and "old" not in once
    assert filled(once, tmp_path) == once
    with pytest.raises(Failed, match="no row of fast:hot"):
        markdown(ROWS, ["fast:hot"])
    draw_map(three_peers(ROWS, 5), tmp_path / "map.png")
    assert (tmp_path / "map.png").stat().st_size > 10_000


PAGES = [
    page
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
    if TUNED_TABLE.search(page.read_text())
]


def test_readme_and_results_have_such_tables() -> None:
    assert {ROOT / "README.md", ROOT / "docs/explanation/tuned-mpi.md"} <= {*PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_tables_of_the_documents_are_those_of_the_raw_data(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert filled(text, RESULTS) == text, "bench/run.py tuned --minutes 0 --fill PAGE"


def test_every_gain_over_the_best_of_mpi_says_of_which() -> None:
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        if page.parent.name != "adr":
            for line in page.read_text(encoding="utf-8").splitlines():
                for found in re.finditer(r"best of MPI(?! as installed|'s (own )?methods|s\b)", line):
                    assert re.search("installed|tuned|setting|memory|MPI Advance", line), (
                        page.name,
                        found[0],
                        line[:80],
                    )


@needs_network
@pytest.mark.long
@pytest.mark.skipif(bool(missing_programs()), reason=f"not installed: {missing_programs()}")
def test_cells_are_measured_once(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    command = [sys.executable, str(ROOT / "bench/run.py"), "tuned", "--quick", "--networks", "4x100/32k"]
    command += [
        "--patterns",
        "d8",
        "--reps",
        "1",
        "--json",
        str(file),
        "--settings",
        "installed",
        "rcvbuf=4k",
    ]
    command += ["OMPI_MCA_btl_tcp_no_such=1"]
    first = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert first.returncode == 0, first.stderr
    assert "does not know OMPI_MCA_btl_tcp_no_such" in first.stderr
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [row["setting"] for row in rows] == ["installed", "rcvbuf=4k"]
    assert rows[1]["found"]["variables"]["btl_tcp_rcvbuf"] == "4096"
    assert rows[1]["found"]["receive_buffer_bytes"][1] < rows[0]["found"]["receive_buffer_bytes"][1]
    again = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert again.returncode == 0, again.stderr
    assert len(file.read_text().splitlines()) == 2

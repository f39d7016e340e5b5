# SPDX-License-Identifier: BSD-3-Clause
"""Records of unmodified programs: the ranks' files put together, and the commands around them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import nuice
from nuice.cli.recording import verdict
from nuice.cli.running import RECORDER, find_library, mpi_of
from nuice.recording import Pattern, RecordedExchange, load
from test_demo import missing_programs

NUICE = Path(sys.executable).parent / "nuice"


def write(folder: Path, rank: int, rows: list, series: list, **more) -> None:
    one = {
        "format": 1,
        "rank": rank,
        "ranks": 2,
        "seconds": 10.0,
        "host": f"h{rank}",
        "mpi": "Some MPI, of today",
    }
    one |= {"communicators": [[0, 1]], "sites": [["program+0x10"]], "rows": rows, "series": series} | more
    (folder / f"rank-{rank:05d}.json").write_text(json.dumps(one))


def series(runs: list, us: list, **more) -> dict:
    calls = sum(count for _, count in runs)
    one = {
        "call": "MPI_Alltoallv",
        "communicator": 0,
        "site": 0,
        "calls": calls,
        "row_runs": runs,
        "call_us": us,
    }
    return one | {"seconds": 1e-6 * sum(us), "bytes": 100.0 * calls} | more


def test_the_ranks_rows_make_matrices(tmp_path: Path) -> None:
    write(tmp_path, 0, [[1, 100], [1, 50]], [series([[0, 2], [1, 1]], [10, 20, 40])])
    write(tmp_path, 1, [[0, 7]], [series([[0, 3]], [30, 20, 10])])
    recording = load(tmp_path)
    (exchange,) = recording.exchanges
    assert (recording.num_ranks, recording.hosts, recording.seconds) == (2, ("h0", "h1"), 10.0)
    assert (exchange.call, exchange.site, exchange.num_calls) == ("MPI_Alltoallv", ("program+0x10",), 3)
    assert exchange.seconds == pytest.approx(65e-6)
    assert exchange.waiting_s == pytest.approx((20 + 0 + 30) * 1e-6 / 2)
    assert [pattern.num_calls for pattern in exchange.patterns] == [2, 1]
    columns = [column.tolist() for column in exchange.patterns[0].matrix().entries()]
    assert columns == [[0, 1], [1, 0], [100, 7]]
    assert exchange.patterns[1].rows == ((1, 50), (0, 7))


def test_a_rank_that_calls_less_often_sends_nothing_then(tmp_path: Path) -> None:
    write(tmp_path, 0, [[1, 8]], [series([[0, 2]], [1, 1])])
    write(tmp_path, 1, [[0, 8]], [series([[0, 1]], [1])])
    (exchange,) = load(tmp_path).exchanges
    assert {pattern.rows for pattern in exchange.patterns} == {((1, 8), (0, 8)), ((1, 8), ())}


def test_communicators_of_the_same_ranks_are_told_apart(tmp_path: Path) -> None:
    both = {"communicators": [[0, 1], [0, 1]]}
    calls = [series([[0, 1]], [1]), series([[0, 4]], [1, 1, 1, 1], communicator=1)]
    for rank in (0, 1):
        write(tmp_path, rank, [[1 - rank, 8]], calls, **both)
    assert sorted(exchange.num_calls for exchange in load(tmp_path).exchanges) == [1, 4]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: [path.unlink() for path in folder.iterdir()], "no rank-\\*.json in it"),
        (lambda folder: (folder / "rank-00001.json").write_text("{"), "rank-00001.json: not a record"),
        (lambda folder: write(folder, 1, [], [], ranks=3), "different runs"),
        (lambda folder: write(folder, 1, [], [], format=9), "format 9, but this nuice reads format 1"),
    ],
)
def test_damaged_records_are_refused(tmp_path: Path, spoil, message: str) -> None:
    for rank in (0, 1):
        write(tmp_path, rank, [], [])
    spoil(tmp_path)
    with pytest.raises(nuice.Error, match=message):
        load(tmp_path)


def exchange_of(**more) -> RecordedExchange:
    given = {
        "call": "MPI_Alltoallv",
        "site": (),
        "ranks": (0, 1),
        "num_calls": 10,
        "seconds": 5.0,
        "waiting_s": 0.0,
    }
    return RecordedExchange(**(given | {"bytes_per_call": 1.0, "share": 0.5, "patterns": ()} | more))


def test_the_verdict_says_where_nothing_is_to_be_gained(tmp_path: Path) -> None:
    for rank in (0, 1):
        write(tmp_path, rank, [], [])
    on_two_hosts = load(tmp_path)
    write(tmp_path, 1, [], [], host="h0")
    on_one_host = load(tmp_path)
    for size, what in ((65536, "a plan by auto uses its shared memory"), (65537, "messages are long")):
        patterns = (Pattern(((1, size), (0, size + 1)), 10, 5.0),)
        assert what in verdict(exchange_of(patterns=patterns), on_one_host, None)
    assert "1.0% of the run" in verdict(exchange_of(share=0.01), on_one_host, None)
    assert "1.0% of the run" in verdict(exchange_of(share=0.01), on_two_hosts, None)
    assert "come late" in verdict(exchange_of(waiting_s=4.0), on_two_hosts, None)
    assert "calibrate" in verdict(exchange_of(), on_two_hosts, None)


def run(*words: object, status: int = 0) -> subprocess.CompletedProcess:
    done = subprocess.run([str(NUICE), *map(str, words)], capture_output=True, text=True, timeout=120)
    assert done.returncode == status, done.stderr
    return done


@pytest.mark.skipif(bool(missing_programs()), reason=f"not installed: {missing_programs()}")
def test_a_real_program_is_recorded_and_its_matrix_comes_back(tmp_path: Path) -> None:
    matrix = nuice.random_regular(4, 2, unit_bytes=1000, seed=3)
    nuice.save_matrix_market(tmp_path / "in.mtx", matrix)
    bin_folder = Path(sys.executable).parent
    start = [bin_folder / "mpiexec", "-n", 4, "--map-by", ":oversubscribe", bin_folder / "nuice-bench"]
    folder = tmp_path / "record"
    bench = ["--matrix", tmp_path / "in.mtx", "--schedulers", "alltoallv", "--reps", 5]
    done = run("run", "--record", folder, "--", *start, *bench)
    assert "alltoallv" in done.stdout
    assert "of the run" in done.stderr or "share a host" in done.stderr or "come late" in done.stderr
    shown = json.loads(run("record", "show", folder, "--json").stdout)
    calls = [one for one in shown["exchanges"] if one["call"] == "MPI_Alltoallv"]
    assert shown["ranks"] == 4
    assert sum(one["calls"] for one in calls) >= 5
    run("record", "merge", folder)
    written = json.loads((folder / "exchanges.json").read_text())
    (ours, *_) = (one for one in written if one["call"] == "MPI_Alltoallv" and one["calls"] >= 5)
    assert nuice.load_matrix_market(folder / ours["file"]).fingerprint == matrix.fingerprint


def test_the_commands_say_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert (
        "takes one of --record DIR, --report DIR and --off"
        in run("run", "--off", "--report", "here", "--", "true", status=2).stderr
    )
    assert "not empty" in run("run", "--record", tmp_path, "--", "true", status=2).stderr
    assert "no rank-*.json" in run("record", "show", tmp_path, status=2).stderr
    assert run("run", "--off", "--", "false", status=1).stderr == ""
    assert run("run", "--", "false", status=1).stderr == ""


@pytest.mark.skipif(bool(missing_programs()), reason=f"not installed: {missing_programs()}")
def test_a_program_without_mpi_is_named_and_its_status_kept(tmp_path: Path) -> None:
    done = run("run", "--record", tmp_path / "new", "--", "sh", "-c", "echo out; exit 7", status=7)
    assert done.stdout == "out\n"
    assert "it is not an MPI program" in done.stderr
    assert find_library(RECORDER).name == "libnuice_record.so"
    assert mpi_of(Path(sys.executable).parent / "nuice-bench") in ("Open MPI", "MPICH")
    assert mpi_of(Path(__file__)) is None

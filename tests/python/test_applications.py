# SPDX-License-Identifier: BSD-3-Clause
"""What real programs' matrices need: imports, machines that grow, figures of skewed matrices, mixtures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nuice
from nuice.importing import read_mpip, read_otf2
from nuice.matrix_figures import size_classes
from nuice.mixture import SKEWS, dispatch

# As mpiP 3.4 with a communication matrix prints it, cut down. 100 iterations, and a set-up.
REPORT = """@ mpiP
@ MPI Task Assignment      : 0 a
@ MPI Task Assignment      : 1 a
@ MPI Task Assignment      : 2 b
@--- Callsites: 2 ---------------------------------------------------------
 ID Lev File/Address        Line Parent_Funct                      MPI_Call
  1   0 0x40e5d9                 exchange_halo                     Isend
  2   0 0x491c62                 set_up                            Send
@--- Callsite Message Sent statistics (all, sent bytes) -------------------
Name              Site Rank   Count       Max      Mean       Min       Sum
Isend                1    0     100      8000      8000      8000    800000
Isend                1    *     100      8000      8000      8000    800000
Send                 2    1       2         4         4         4         8
------- Start Communication Matrix -------------
Src Dst Bytes Count
0	1	800000	100
1	0	400000	100
1	2	8	2
2	2	64	1

------- End Communication Matrix -------------
"""


def test_a_report_of_mpip_gives_the_run_and_one_exchange(nuice_main, tmp_path: Path) -> None:
    file = tmp_path / "report.mpiP"
    file.write_text(REPORT)
    result = nuice_main(
        "import", "mpip", file, "--iterations", "100", "-o", tmp_path / "out", "--json"
    ).json()
    run, one, repeated, set_up = (
        nuice.load_matrix_market(tmp_path / "out" / name) for name in result["written"][0]["files"]
    )
    assert [tuple(map(int, row)) for row in zip(*run.entries(), strict=True)] == [
        (0, 1, 800000), (1, 0, 400000), (1, 2, 8),
    ]  # fmt: skip
    assert list(one.bytes[:2]) == [8000, 4000]
    assert list(repeated.bytes) == [8000, 4000]
    assert [tuple(map(int, row)) for row in zip(*set_up.entries(), strict=True)] == [(1, 2, 4)]
    assert [row["from"] for row in result["call_sites"]] == ["exchange_halo", "set_up"]
    assert [row["pairs"] for row in result["written"][0]["classes"]] == [2, 1]


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda text: "hello\n", "names no MPI task"),
        (lambda text: text.replace("Start Communication", "Start"), "no communication matrix"),
        (lambda text: text.replace("0\t1\t800000\t100", "0\t1\t800000"), ":16: four numbers"),
        (lambda text: text.replace("0\t1\t8", "0\t7\t8"), ":16: rank 7 of 3"),
        (lambda text: text.split("------- End")[0], "ends within"),
    ],
)
def test_damaged_reports_are_refused(tmp_path: Path, spoil, words: str) -> None:
    file = tmp_path / "report.mpiP"
    file.write_text(spoil(REPORT))
    with pytest.raises(nuice.Error, match=words):
        read_mpip(file)


def write_trace(otf2, folder: Path) -> None:
    """Three ranks; each sends four times to the next one from solve, and once to rank 0 from set_up."""
    with otf2.writer.open(str(folder), timer_resolution=1000) as trace:
        names = trace.definitions
        root = names.system_tree_node("root")
        regions = {name: names.region(name) for name in ("solve", "set_up", "MPI_Isend")}
        locations = [
            names.location("main", group=names.location_group(f"rank {rank}", system_tree_parent=root))
            for rank in range(3)
        ]
        names.group("all", group_type=otf2.GroupType.COMM_LOCATIONS, members=locations)
        members = names.group("world", group_type=otf2.GroupType.COMM_GROUP, members=[0, 1, 2])
        world = names.comm("world", group=members)
        for rank, location in enumerate(locations):
            events, now = trace.event_writer_from_location(location), 0
            for place, to, size in [("set_up", 0, 8)] + [("solve", (rank + 1) % 3, 100)] * 4:
                now += 10
                events.enter(now, regions[place])
                events.enter(now + 1, regions["MPI_Isend"])
                events.mpi_isend(now + 2, to, world, 1, size, now)
                events.leave(now + 3, regions["MPI_Isend"])
                events.leave(now + 4, regions[place])


def test_a_trace_gives_a_matrix_for_each_function_that_sends(tmp_path: Path) -> None:
    otf2 = pytest.importorskip("otf2")
    write_trace(otf2, tmp_path / "trace")
    imported = read_otf2(tmp_path / "trace")
    by_site = {exchange.site: exchange for exchange in imported.exchanges}
    assert set(by_site) == {"", "solve", "set_up"}
    assert list(by_site["solve"].matrix().bytes) == [400, 400, 400]
    assert list(by_site["solve"].one().bytes) == [100, 100, 100]
    assert [tuple(map(int, row)) for row in zip(*by_site["set_up"].matrix().entries(), strict=True)] == [
        (1, 0, 8), (2, 0, 8),
    ]  # fmt: skip
    with pytest.raises(nuice.Error, match="no such trace"):
        read_otf2(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("name", "ranks", "per_host", "topology"),
    [
        ("ethernet-10g", 10, 1, "crossbar:64"),
        ("ethernet-10g", 1000, 1, "crossbar:1000"),
        ("ethernet-10g", 1000, 4, "tree:4x250/4"),
        ("ib-hdr-fattree", 800, 1, "fattree:20x40"),
        ("ib-hdr-fattree", 1000, 1, "fattree:20x20x3"),
        ("ib-hdr-fattree", 1000, 4, "fattree:4x20x20/4x1"),
        ("ib-ndr-fattree", 4096, 1, "fattree:32x32x4"),
        ("roce-pfc", 1000, 1, "fattree:32x32/2"),
        ("slingshot-dragonfly", 4096, 1, "dragonfly:a=16,h=8,p=8,g=32"),
        ("cm5", 1000, 1, "tree:4x4x63/1x2"),
    ],
)
def test_families_of_machines_grow(name: str, ranks: int, per_host: int, topology: str) -> None:
    machine = nuice.find_machine(name, ranks, per_host)
    assert machine.topology == topology
    assert machine.num_ranks >= ranks


def test_ranks_of_a_host_share_its_port() -> None:
    """Four ranks of a host that send to four other hosts take four times as long as one rank does."""
    matrix = nuice.CommMatrix.from_messages(20, [(rank, 4 * rank + 4, 10**7) for rank in range(4)])
    schedule = nuice.make_schedule(matrix, "ac")[0]
    alone = nuice.simulate(matrix, schedule, nuice.find_machine("ethernet-10g", 20), "async").seconds
    shared = nuice.simulate(matrix, schedule, nuice.find_machine("ethernet-10g", 20, 4), "async").seconds
    assert shared == pytest.approx(4 * alone, rel=0.02)


def test_what_does_not_grow_says_so(tmp_path: Path) -> None:
    matrix = nuice.random_regular(1000, 3, seed=1)
    with pytest.raises(
        nuice.Error, match=r"fattree-ib.* 256 ranks, the matrix has 1000; `grows = true`.*roce"
    ):
        nuice.advise(matrix, "fattree-ib")
    with pytest.raises(nuice.Error, match="its network is fixed"):
        nuice.find_machine("fattree-ib", 10, 4)
    with pytest.raises(nuice.Error, match="several ranks are not modelled"):
        nuice.find_machine("slingshot-dragonfly", 10, 4)
    with pytest.raises(nuice.Error, match="16000 hosts at most"):
        nuice.find_machine("ib-hdr-fattree", 20000)


def test_size_classes_are_logarithmic_and_share_out_everything() -> None:
    sizes = np.array([8] * 900 + [1000] * 90 + [2**27] * 10)
    classes = size_classes(sizes)
    assert len(classes) <= 16
    assert sum(row["messages"] for row in classes) == 1000
    assert sum(row["byte_share"] for row in classes) == pytest.approx(1)
    assert (classes[0]["messages"], classes[-1]["messages"]) == (900, 10)
    assert classes[-1]["byte_share"] > 0.999
    assert size_classes(np.array([5, 5])) == [
        {"from_bytes": 4, "to_bytes": 8, "messages": 2, "message_share": 1.0, "byte_share": 1.0}
    ]


def test_show_names_hubs_and_tells_symmetry(nuice_main, tmp_path: Path) -> None:
    star = [(0, rank, 4) for rank in range(1, 40)] + [(rank, 0, 4) for rank in range(1, 40)]
    ring = [(rank, rank % 39 + 1, 1000) for rank in range(1, 40)]
    file = tmp_path / "star.mtx"
    nuice.save_matrix_market(file, nuice.CommMatrix.from_messages(40, star + ring))
    result = nuice_main("show", file, "--json").json()
    assert result["hubs"] == [0]
    assert result["partners"] == {"min": 3, "avg": 3.9, "max": 39, "median": 3.0}
    assert not result["symmetric"]
    assert result["two_way_share"] == pytest.approx(78 / 117)
    assert "rank 0 (median 4 B)" in nuice_main("show", file).out


@pytest.mark.parametrize("skew", SKEWS)
def test_mixtures_of_experts(skew: str) -> None:
    matrix = dispatch(16, skew, tokens=300, experts=4, token_bytes=100, popularity=8, seed=3)
    src, dst, sizes = matrix.entries()
    sent, received = (np.bincount(part, weights=sizes) for part in (src, dst))
    assert sent.mean() == pytest.approx(300 * 4 * 100 * 15 / 16, rel=0.05)
    assert (received.max() / np.median(received) > 2) == (skew == "hot")
    assert (sizes % 100 == 0).all() == (skew != "lengths")
    assert matrix.fingerprint == dispatch(16, skew, 300, 4, 100, popularity=8, seed=3).fingerprint

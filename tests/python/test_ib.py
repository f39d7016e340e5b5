# SPDX-License-Identifier: BSD-3-Clause
"""Fabrics that ibsim plays and OpenSM routes: our routes compared with ibtracert's."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import ib_fabric
import nuice

pytestmark = pytest.mark.skipif(
    bool(ib_fabric.missing_tools()), reason=f"not installed: {', '.join(ib_fabric.missing_tools())}"
)
SAMPLES = 40


@pytest.mark.parametrize(
    ("spec", "engine", "lmc"),
    [
        ("fattree:18x18", "ftree", 0),
        ("fattree:18x18", "minhop", 0),
        ("fattree:6x6x6", "dfsssp", 0),
        ("fattree:6x6", "dfsssp", 1),
    ],
)
def test_routes_are_those_of_ibtracert(tmp_path: Path, spec: str, engine: str, lmc: int) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with ib_fabric.simulated(ib_fabric.network_text(spec), engine, lmc, tmp_path) as environment:
        for name in ("ibnetdiscover", "dump_fts"):
            (out / f"{name}.txt").write_text(ib_fabric.run([name], environment, tmp_path))
        lids = ib_fabric.host_lids(out)
        net = nuice.make_topology(f"ib:{out}")
        assert net.num_ranks == len(lids) == nuice.make_topology(spec).num_ranks
        draw = random.Random(spec + engine)
        asked = []
        while len(asked) < SAMPLES:
            src, dst, path = draw.randrange(len(lids)), draw.randrange(len(lids)), draw.randrange(1 << lmc)
            if src != dst:
                asked.append((src, dst, path))
        pairs = [(lids[src], lids[dst] + path) for src, dst, path in asked]
        truth = ib_fabric.routes_of(pairs, environment, tmp_path)
    for (src, dst, path), pair in zip(asked, pairs, strict=True):
        ours = [net.vertex_name(net.link(link).dst) for link in net.path(src, dst, path)]
        assert ours == truth[pair][1:], (src, dst, path)

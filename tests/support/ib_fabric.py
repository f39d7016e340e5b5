#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""InfiniBand fabrics without InfiniBand: ibsim plays the switches, OpenSM routes them, tools read them out.

usage: ib_fabric.py OUT fattree:18x18 [--engine ftree] [--lmc 0] [--routes ROUTES.txt]

Writes OUT/ibnetdiscover.txt and OUT/dump_fts.txt, as `--topology ib:OUT` reads them. --routes: what ibtracert
says of all routes, one line each, "LID LID: SWITCH SWITCH ...". Needs ibsim, opensm and infiniband-diags
(Debian: ibsim-utils opensm infiniband-diags).
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nuice

TOOLS = ("ibsim", "opensm", "ibnetdiscover", "dump_fts", "ibtracert")
AGGREGATION = "Mellanox Technologies Aggregation Node"


def missing_tools() -> list[str]:
    path = os.environ.get("PATH", "") + ":/usr/sbin"
    return [tool for tool in TOOLS if shutil.which(tool, path=path) is None]


def network_text(spec: str, sharp: bool = False) -> str:
    """ibsim's description of one of our networks whose ranks hang on switches; sharp: one reduces."""
    net = nuice.make_topology(spec)
    cables: dict[str, list[tuple[str, int]]] = defaultdict(list)  # by switch: (peer, its port)
    leaf_of = {}
    for rank in range(net.num_ranks):
        others = (net.route(rank, other) for other in (0, net.num_ranks - 1))
        leaf_of[rank] = f"sw{net.link(next(r for r in others if r)[0]).src}"
    for rank, leaf in leaf_of.items():
        cables[leaf].append((f"host{rank}", 1))
    if sharp:
        cables[leaf_of[0]].append((AGGREGATION, 1))
    for link in (net.link(i) for i in range(net.num_links)):
        if link.src < link.dst:
            a, b = f"sw{link.src}", f"sw{link.dst}"
            cables[a].append((b, len(cables[b]) + 1))
            cables[b].append((a, len(cables[a])))
    lines = []
    for name, ports in cables.items():
        lines.append(f'Switch\t{len(ports)} "{name}"')
        lines += [f'[{i}]\t"{peer}"[{port}]' for i, (peer, port) in enumerate(ports, 1)]
        lines.append("")
    for name, ports in cables.items():
        for i, (peer, _) in enumerate(ports, 1):
            if not peer.startswith("sw"):
                lines += [f'Hca\t1 "{peer}"', f'[1]\t"{name}"[{i}]', ""]
    return "\n".join(lines)


@contextmanager
def simulated(text: str, engine: str, lmc: int, folder: Path) -> Iterator[dict[str, str]]:
    """The environment in which the tools see the fabric, routed."""
    (folder / "net.txt").write_text(text)
    environment = dict(
        os.environ,
        SIM_HOST="host0",
        IBSIM_SOCKNAME=f"nuice{os.getpid()}",
        OSM_TMP_DIR=str(folder),
        OSM_CACHE_DIR=str(folder),
        PATH=os.environ.get("PATH", "") + ":/usr/sbin",
    )
    sizes = ["-N", "8192", "-S", "2048", "-P", "131072", "-L", "8192"]
    with (folder / "ibsim.log").open("w") as log:
        fabric = subprocess.Popen(
            ["ibsim", "-s", *sizes, str(folder / "net.txt")],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            env=environment,
            cwd=folder,
        )
    try:
        time.sleep(1)
        words = ["opensm", "-o", "-R", engine, "-l", str(lmc), "-e", "-f", str(folder / "osm.log")]
        run(words, environment, folder)
        yield environment
    finally:
        fabric.kill()
        fabric.communicate()


def run(words: list[str], environment: dict[str, str], folder: Path, timeout: int = 120) -> str:
    done = subprocess.run(
        ["ibsim-run", *words], env=environment, cwd=folder, capture_output=True, text=True, timeout=timeout
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def routes_of(
    pairs: list[tuple[int, int]], environment: dict[str, str], folder: Path
) -> dict[tuple[int, int], list[str]]:
    """By pair of LIDs: the switches that ibtracert passes."""
    result = {}
    for src, dst in pairs:
        text = run(["ibtracert", str(src), str(dst)], environment, folder)
        result[src, dst] = re.findall(r'-> switch port .* "([^"]*)"', text)
    return result


def make(out: Path, spec: str, engine: str, lmc: int, routes: str | None, sharp: bool) -> None:
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="nuice-ib-") as scratch:
        folder = Path(scratch)
        with simulated(network_text(spec, sharp), engine, lmc, folder) as environment:
            (out / "ibnetdiscover.txt").write_text(run(["ibnetdiscover"], environment, folder))
            (out / "dump_fts.txt").write_text(run(["dump_fts"], environment, folder))
            if routes is None:
                return
            lids = host_lids(out)
            every = [lid + k for lid in lids for k in range(1 << lmc)]
            pairs = [(a, b) for a in lids for b in every if not a <= b < a + (1 << lmc)]
            found = routes_of(pairs, environment, folder)
            lines = [f"{a} {b}: {' '.join(way)}" for (a, b), way in found.items()]
            Path(routes).write_text("\n".join(lines) + "\n")


def host_lids(folder: Path) -> list[int]:
    text = (folder / "ibnetdiscover.txt").read_text()
    adapters = re.findall(r'^Ca\t.*# "([^"]*)"\n\[1\].*# lid (\d+) lmc', text, re.M)
    return sorted(int(lid) for name, lid in adapters if name != AGGREGATION)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("spec", help="one of our networks whose ranks hang on switches")
    parser.add_argument("--engine", default="ftree", help="of OpenSM: minhop, ftree, dfsssp, updn, ...")
    parser.add_argument("--lmc", type=int, default=0)
    parser.add_argument("--routes")
    parser.add_argument("--sharp", action="store_true", help="with an aggregation node on a switch")
    arguments = parser.parse_args()
    if missing := missing_tools():
        parser.error(f"not installed: {', '.join(missing)}")
    make(arguments.out, arguments.spec, arguments.engine, arguments.lmc, arguments.routes, arguments.sharp)


if __name__ == "__main__":
    main()

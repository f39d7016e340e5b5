# SPDX-License-Identifier: BSD-3-Clause
"""Halos whose values cross the network once for all ranks of a host, compared with one transfer per rank.

A tetrahedral mesh (Delaunay, random points in a cube) is cut by coordinates into a part for each rank.
Ghosts are the points within this number of layers of edges. Entries between hosts are counted on this
machine. Times are those of a gather on a test network of hosts with several ranks: interleaved, medians of
the slowest rank. Without --testbed, entries are only counted.
"""

import numpy as np
from scipy.sparse import coo_matrix
from scipy.spatial import Delaunay

from kit import ROOT, Case, Failed, Table, objects, place, scratch
from nuice.halos import bisect


def mesh(points, ranks, layers):
    """Returns the owners, and for each rank the entries that it needs from others."""
    at = np.random.Generator(np.random.PCG64(points)).random((points, 3))
    corners = Delaunay(at).simplices.astype(np.int64)
    ends = np.concatenate([corners[:, [a, b]] for a in range(4) for b in range(4) if a != b])
    near = coo_matrix((np.ones(len(ends), bool), ends.T), shape=(points, points)).tocsr()
    owner = bisect(at, ranks)
    needed = []
    for rank in range(ranks):
        reached = owner == rank
        for _ in range(layers):
            reached = reached | (near @ reached)
        needed.append(np.flatnonzero(reached & (owner != rank)))
    return owner, needed


def crossing(owner, needed, ranks_per_host):
    """Returns the number of entries between hosts, counted for every rank, and once per host."""
    host_of = owner // ranks_per_host
    other = [need[host_of[need] != rank // ranks_per_host] for rank, need in enumerate(needed)]
    hosts = range(len(needed) // ranks_per_host)
    once = [np.unique(np.concatenate(other[h * ranks_per_host : (h + 1) * ranks_per_host])) for h in hosts]
    return sum(map(len, other)), sum(map(len, once))


def measured(where, owner, needed, options):
    program = ROOT / options.build / "bench" / "halo_programs" / "halo_once"
    with scratch() as folder:
        owner.astype(np.int64).tofile(folder / "owners")
        for rank, need in enumerate(needed):
            need.astype(np.int64).tofile(folder / f"needed-{rank}")
        words = [program, folder, options.components, options.reps, *options.method.split(":")]
        found = objects(where.run(words).stdout)
    if any(row["wrong"] for row in found):
        raise Failed("values differ")
    return found


def rows(options):
    hosts = 4 if options.quick and options.testbed else 0
    with place(options.testbed, options.ranks, hosts=hosts) as where:
        per_host = where.settings["ranks_per_host"] if where.settings else options.ranks_per_host
        for points in options.points:
            owner, needed = mesh(points, where.ranks, options.layers)
            every, once = crossing(owner, needed, per_host)
            row = {"place": where.name, "layers": options.layers, "points": points, "ranks": where.ranks}
            row |= {"every_rank": every, "once": once}
            row |= {"crossing_ratio": once / every if every else None, "time_ratio": None}
            if options.testbed:
                by_rank, by_host = measured(where, owner, needed, options)
                row |= {"exchange_s": by_host["exchange_s"], "before_s": by_rank["exchange_s"]}
                row["time_ratio"] = by_host["exchange_s"] / by_rank["exchange_s"]
                row["spared_bytes"] = by_host["spared_bytes"]
            yield row


CASE = Case(
    rows,
    options=dict(
        ranks=64,
        ranks_per_host=(4, "where no network says it"),
        points=([2000, 8000, 32000], "of the mesh"),
        layers=(1, "of ghosts"),
        components=(16, "doubles a point"),
        reps=11,
        method=("coloring:async", "SCHEDULER:EXECUTOR"),
        testbed="",
        build=("build/release", "with the program halo_once"),
    ),
    quick=dict(points=[2000], reps=3),
    minutes=1,
    tables=Table(
        "a tetrahedral mesh's halo, {o.layers} layers, {o.components} doubles a point",
        "points | ranks | entries between hosts = every_rank | once per host = once | / = crossing_ratio .3f",
        "time / before = time_ratio .3f",
    ),
)

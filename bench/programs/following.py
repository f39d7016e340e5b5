# SPDX-License-Identifier: BSD-3-Clause
"""Plans for a matrix some of whose messages repeatedly get other partners: followed, and planned again.

usage: mpiexec -n N python3 following.py DEGREE SHARE ROUNDS

Prints a JSON object: per round the seconds of the slowest rank for Plan.follow(), for a new plan made in
pairs and for one made with a gather; and the number of messages that kept their place, with the number of
all messages.
"""

import json
import random
import sys
from time import perf_counter

from mpi4py import MPI

import nuice.mpi

PAIRS = "scheduler=distributed_coloring planning=distributed distributed.gather=0"
GATHER = "scheduler=distributed_coloring"

comm = MPI.COMM_WORLD
degree, share, rounds = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
draw = random.Random(1)  # the same on all ranks


def all_rows() -> list[set[int]]:
    """Returns rows in which every rank sends and receives `degree` messages."""
    order = list(range(comm.size))
    draw.shuffle(order)
    place = {rank: at for at, rank in enumerate(order)}
    ring = draw.sample(range(1, comm.size), degree)
    return [{order[(place[rank] + far) % comm.size] for far in ring} for rank in range(comm.size)]


def change(rows: list[set[int]], count: int) -> None:
    """Gives this many messages other partners, two by two, so that all ranks keep their numbers of
    messages."""
    changed = tries = 0
    while changed < count:
        tries += 1
        if tries > 1000 * count:
            raise SystemExit(f"{degree} messages of each of {comm.size} ranks leave no other partners")
        a, c = draw.sample(range(comm.size), 2)
        b, d = draw.choice(sorted(rows[a])), draw.choice(sorted(rows[c]))
        if b == d or a == d or c == b or d in rows[a] or b in rows[c]:
            continue
        rows[a] = rows[a] - {b} | {d}
        rows[c] = rows[c] - {d} | {b}
        changed += 2


def timed(make):
    comm.Barrier()
    began = perf_counter()
    made = make()
    return comm.allreduce(perf_counter() - began, MPI.MAX), made


rows = all_rows()
row = dict.fromkeys(rows[comm.rank], 1024)
plan = nuice.mpi.Plan(comm, row, PAIRS)
seconds = {"follow": [], "pairs": [], "gather": []}
kept = messages = phases = 0
for _ in range(rounds):
    change(rows, max(2, round(share * degree * comm.size)))
    row = dict.fromkeys(rows[comm.rank], 1024)
    took, followed = timed(lambda: plan.follow(row))  # noqa: B023
    seconds["follow"].append(took)
    for name, options in (("pairs", PAIRS), ("gather", GATHER)):
        took, anew = timed(lambda: nuice.mpi.Plan(comm, row, options))  # noqa: B023
        seconds[name].append(took)
        anew.Free()
    plan.Free()
    plan = followed
    kept, messages = kept + plan.figure("kept"), messages + plan.figure("messages")
    phases = max(phases, plan.figure("phases"))
if comm.rank == 0:
    print(json.dumps({"seconds": seconds, "kept": kept, "messages": messages, "phases": phases}))

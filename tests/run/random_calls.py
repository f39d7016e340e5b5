# SPDX-License-Identifier: BSD-3-Clause
"""Random calls of MPI, alike on all ranks by their seed, in a program that knows nothing of NUICE.

Every byte that arrives is compared with what was sent. Rank 0 prints at the end "sum X of N calls": a sum of
all that has arrived on all ranks, and how many calls that move data all ranks have made.

usage: random_calls.py ROUNDS SEED
"""

from __future__ import annotations

import random
import sys
from typing import NamedTuple

import numpy as np
from mpi4py import MPI

MOST_MESSAGES = 4  # between two ranks in one round
MOST_BITS = 18  # of a message's bytes


class Message(NamedTuple):
    src: int
    dst: int
    tag: int
    bytes: int
    seed: int

    def content(self) -> np.ndarray:
        at = np.arange(self.bytes)
        return (self.seed + at * 31 + (at >> 8)).astype(np.uint8)


class Calls:
    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.comm = MPI.COMM_WORLD.Dup()
        self.sum = self.calls = 0

    @property
    def ranks(self) -> range:
        return range(self.comm.size)

    def message(self, src: int, dst: int, tag: int = 0) -> Message:
        """As many small ones as large ones."""
        size = self.draw.randrange(1 << self.draw.randrange(MOST_BITS + 1))
        return Message(src, dst, tag, size, self.draw.randrange(256))

    def compare(self, message: Message, arrived: np.ndarray) -> None:
        if not np.array_equal(arrived, message.content()):
            print(f"rank {self.comm.rank}: {message} is wrong", flush=True)
            MPI.COMM_WORLD.Abort(3)
        self.sum += int(arrived.sum(dtype=np.uint64))

    def messages(self) -> None:
        """Any number between any two ranks, received in another order, in each of MPI's modes."""
        pairs = [(src, dst) for src in self.ranks for dst in self.ranks]
        numbers = [self.draw.choice((0, self.draw.randrange(MOST_MESSAGES))) for _ in pairs]
        sent = [
            self.message(*pair, tag)
            for pair, number in zip(pairs, numbers, strict=True)
            for tag in range(number)
        ]
        self.draw.shuffle(sent)
        are_expected = self.draw.random() < 0.5
        send = self.comm.Issend if self.draw.random() < 0.25 else self.comm.Isend
        mine = [each for each in reversed(sent) if each.dst == self.comm.rank]
        buffers = [np.empty(each.bytes, np.uint8) for each in mine]

        def receives() -> list[MPI.Request]:
            return [
                self.comm.Irecv(into, each.src, each.tag) for each, into in zip(mine, buffers, strict=True)
            ]

        requests = receives() if are_expected else []
        requests += [send(each.content(), each.dst, each.tag) for each in sent if each.src == self.comm.rank]
        requests += [] if are_expected else receives()
        MPI.Request.Waitall(requests)
        self.calls += len(requests)
        for each, into in zip(mine, buffers, strict=True):
            self.compare(each, into)

    def ring(self) -> None:
        distance = self.draw.choice(self.ranks)
        everyones = [self.message(src, (src + distance) % self.comm.size, 9) for src in self.ranks]
        to, source = everyones[self.comm.rank], everyones[self.comm.rank - distance]
        into = np.empty(source.bytes, np.uint8)
        self.comm.Sendrecv(to.content(), to.dst, 9, into, source.src, 9)
        self.calls += 1
        self.compare(source, into)

    def alltoallv(self) -> None:
        everyones = [self.message(src, dst) for src in self.ranks for dst in self.ranks]
        to = [each for each in everyones if each.src == self.comm.rank]
        sources = [each for each in everyones if each.dst == self.comm.rank]
        counts = [each.bytes for each in sources]
        out, into = np.concatenate([each.content() for each in to]), np.empty(sum(counts), np.uint8)
        arguments = [out, [each.bytes for each in to]], [into, counts]
        if self.draw.random() < 0.5:
            self.comm.Alltoallv(*arguments)
        else:
            self.comm.Ialltoallv(*arguments).Wait()
        self.calls += 1
        for each, part in zip(sources, np.split(into, np.cumsum(counts)[:-1]), strict=True):
            self.compare(each, part)

    def broadcast(self) -> None:
        root = self.draw.choice(self.ranks)
        message = self.message(root, self.comm.rank)
        data = message.content() if root == self.comm.rank else np.empty(message.bytes, np.uint8)
        self.comm.Bcast(data, root)
        self.calls += 1
        self.compare(message, data)

    def reduce(self) -> None:
        """The sum of values that differ by rank."""
        at = np.arange(self.message(0, 0).bytes // 8)
        into = np.empty_like(at)
        self.comm.Allreduce(at + self.comm.rank, into)
        self.calls += 1
        if not np.array_equal(into, len(self.ranks) * at + sum(self.ranks)):
            MPI.COMM_WORLD.Abort(3)
        self.sum += int(into.sum())

    def gather(self) -> None:
        """To all, or to one."""
        root = self.draw.choice(self.ranks)
        first = self.message(0, root)
        everyones = [first._replace(src=src, seed=first.seed + src) for src in self.ranks]
        into = np.empty((self.comm.size, first.bytes), np.uint8)
        is_for_all = self.draw.random() < 0.5
        content = everyones[self.comm.rank].content()
        if is_for_all:
            self.comm.Allgather(content, into)
        else:
            self.comm.Gather(content, into, root)
        self.calls += 1
        if is_for_all or self.comm.rank == root:
            for each, part in zip(everyones, into, strict=True):
                self.compare(each, part)

    def change_communicator(self) -> None:
        """The same ranks in another order."""
        turned = self.draw.choice(self.ranks)
        previous = self.comm
        self.comm = previous.Split(0, (previous.rank + turned) % previous.size)
        previous.Free()
        self.calls += 1


def main() -> None:
    rounds, seed = map(int, sys.argv[1:])
    run = Calls(seed)
    kinds = [run.ring, run.alltoallv, run.broadcast, run.reduce, run.gather, run.change_communicator]
    for _ in range(rounds):
        run.draw.choice([*kinds, run.messages, run.messages])()
    total = run.comm.reduce(np.array([run.sum, run.calls], dtype=object))
    if run.comm.rank == 0:
        print(f"sum {total[0]:x} of {total[1]} calls")


main()

# SPDX-License-Identifier: BSD-3-Clause
"""Communication matrices of real programs: bench/data/applications, whose README gives their origin.

A file, packed by xz, holds the number of ranks, 1 if the matrix is symmetric, a bit for every pair in the
order of senders, and the bytes of the pairs whose bit is set. Numbers are little-endian with 32 bits. A
symmetric matrix has only the pairs whose sender is the smaller rank.
"""

from __future__ import annotations

import lzma
from functools import cache
from pathlib import Path

import numpy as np

import nuice

FOLDER = Path(__file__).parents[1] / "data" / "applications"


def application_names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.xz"))


@cache
def application(name: str) -> nuice.CommMatrix:
    """Returns the bytes from rank to rank in a whole run."""
    content = lzma.decompress((FOLDER / f"{name}.xz").read_bytes())
    ranks, is_symmetric = np.frombuffer(content, "<u4", 2).tolist()
    end = 8 + (ranks * ranks + 7) // 8
    bits = np.unpackbits(np.frombuffer(content[8:end], np.uint8), count=ranks * ranks)
    src, dst = np.divmod(np.flatnonzero(bits), ranks)
    sizes = np.frombuffer(content[end:], "<u4").astype(np.int64)
    if is_symmetric:
        src, dst = np.concatenate([src, dst]), np.concatenate([dst, src])
        sizes = np.concatenate([sizes, sizes])
    return nuice.CommMatrix.from_arrays(ranks, src, dst, sizes)


def pack(matrix: nuice.CommMatrix, path: Path) -> None:
    """Writes a file for application()."""
    src, dst, sizes = (np.asarray(part) for part in matrix.entries())
    ranks = matrix.num_ranks
    table = dict(zip(zip(src.tolist(), dst.tolist(), strict=True), sizes.tolist(), strict=True))
    is_symmetric = all(table.get((to, from_)) == size for (from_, to), size in table.items())
    kept = (src < dst) | (not is_symmetric)
    order = np.lexsort((dst[kept], src[kept]))
    bits = np.zeros(ranks * ranks, np.uint8)
    bits[src[kept] * ranks + dst[kept]] = 1
    parts = [np.array([ranks, is_symmetric], "<u4"), np.packbits(bits), sizes[kept][order].astype("<u4")]
    path.write_bytes(
        lzma.compress(b"".join(part.tobytes() for part in parts), preset=9 | lzma.PRESET_EXTREME)
    )


def permuted(matrix: nuice.CommMatrix, seed: int) -> nuice.CommMatrix:
    """Returns the matrix of the same program with its ranks in another order."""
    place = np.random.Generator(np.random.PCG64(seed)).permutation(matrix.num_ranks)
    src, dst, sizes = matrix.entries()
    return nuice.CommMatrix.from_arrays(matrix.num_ranks, place[src], place[dst], sizes)


def first_ranks(matrix: nuice.CommMatrix, ranks: int) -> nuice.CommMatrix:
    """Returns the messages among the first `ranks` ranks."""
    src, dst, sizes = matrix.entries()
    kept = (src < ranks) & (dst < ranks)
    return nuice.CommMatrix.from_arrays(ranks, src[kept], dst[kept], sizes[kept])


def merged(matrix: nuice.CommMatrix, together: int) -> nuice.CommMatrix:
    """Merges each `together` neighbouring ranks into one rank; their messages to the same other rank become
    one."""
    src, dst, sizes = (np.asarray(part) for part in matrix.entries())
    ranks = -(-matrix.num_ranks // together)
    table = np.zeros((ranks, ranks), np.int64)
    np.add.at(table, (src // together, dst // together), sizes)
    np.fill_diagonal(table, 0)
    src, dst = np.divmod(np.flatnonzero(table), ranks)
    return nuice.CommMatrix.from_arrays(ranks, src, dst, table[src, dst])


def held_out() -> list[tuple[str, nuice.CommMatrix]]:
    """Returns twenty matrices with which nothing was tuned: the same programs permuted and resized."""
    cases = []
    for i, name in enumerate(application_names()):
        whole = application(name)
        cases.append((f"{name}, permuted", permuted(whole, i)))
        some = whole.num_ranks * 5 // 8
        cases.append((f"{name}, first {some}", first_ranks(whole, some)))
        if whole.num_ranks > 64:
            cases.append((f"{name}, 3 ranks as one", permuted(merged(whole, 3), i)))
    return cases

# SPDX-License-Identifier: BSD-3-Clause
"""The statistics of a communication matrix that `nuice show` prints."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._core import NO_RANK, Busiest, CommMatrix

MAX_HISTOGRAM_ROWS = 16
MANY_PARTNERS = 2  # multiple of the median from which a rank is a hub


def matrix_figures(matrix: CommMatrix) -> dict[str, Any]:
    bounds = _core.lower_bounds(matrix)
    self_bytes = matrix.self_bytes
    pairs = matrix.num_ranks * (matrix.num_ranks - 1)
    return {
        "ranks": matrix.num_ranks,
        "messages": matrix.num_messages,
        "density": matrix.num_messages / pairs if pairs else 0.0,
        "self_messages": int(np.count_nonzero(self_bytes)),
        "self_bytes": sum(self_bytes.tolist()),
        "total_bytes": bounds.total_bytes,
        "send_degree": _spread(np.bincount(matrix.src, minlength=matrix.num_ranks)),
        "receive_degree": _spread(np.bincount(matrix.dst, minlength=matrix.num_ranks)),
        "message_bytes": _spread(matrix.bytes),
        "max_degree": bounds.max_degree,
        "max_degree_at": _place(bounds.max_degree_at),
        "bound_bytes": bounds.max_port_bytes,
        "bound_bytes_at": _place(bounds.max_port_bytes_at),
        "whole_message_bytes": _core.whole_message_bytes(matrix),
        **_shape(matrix),
        "size_classes": size_classes(matrix.bytes),
        "fingerprint": f"{matrix.fingerprint:016x}",
    }


def _shape(matrix: CommMatrix) -> dict[str, Any]:
    """Finds ranks with many partners, and the distances of messages."""
    ranks = matrix.num_ranks
    src, dst, sizes = (np.asarray(part) for part in (matrix.src, matrix.dst, matrix.bytes))
    # Both arrays are sorted by sender and receiver: the first as it is, the second with the ends swapped.
    there, back = src * ranks + dst, dst * ranks + src
    turned = np.argsort(back, kind="stable")
    answered = _is_in(back, there)
    partners = np.bincount(src, minlength=ranks) + np.bincount(dst[~answered], minlength=ranks)
    median = float(np.median(partners)) if ranks else 0.0
    order = np.argsort(-partners, kind="stable")
    hubs = [int(rank) for rank in order if partners[rank] > MANY_PARTNERS * max(median, 1.0)]
    distance = np.abs(src - dst)
    return {
        "partners": {**_spread(partners), "median": median},
        "hubs": hubs,
        "two_way_share": float(answered.mean()) if len(src) else 0.0,
        "symmetric": bool(answered.all() and (sizes == sizes[turned]).all()),
        "bandwidth": int(distance.max()) if len(src) else 0,
        "bytes_within_16": float(sizes[distance <= 16].sum() / sizes.sum()) if sizes.sum() else 0.0,
    }


def _is_in(values: Any, ascending: Any) -> Any:
    """Returns whether a value is among the others."""
    if not len(ascending):
        return np.zeros(len(values), dtype=bool)
    at = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    return ascending[at] == values


def size_classes(sizes: Any) -> list[dict[str, Any]]:
    """Returns classes of message sizes, and the share of each class. The limits of classes are powers of two;
    if there would be too many classes, powers of four, and so on. A class includes its lower limit and
    excludes its upper limit.
    """
    if not len(sizes):
        return []
    powers = np.frexp(np.asarray(sizes, dtype=np.float64))[1].astype(int) - 1
    low, high = int(powers.min()), int(powers.max())
    step = 1
    while high // step - low // step >= MAX_HISTOGRAM_ROWS:
        step += 1
    which = powers // step
    first = int(which.min())
    counts = np.bincount(which - first)
    in_class = np.bincount(which - first, weights=sizes)
    return [
        {
            "from_bytes": 2 ** ((first + i) * step),
            "to_bytes": 2 ** ((first + i + 1) * step),
            "messages": int(count),
            "message_share": float(count / len(sizes)),
            "byte_share": float(in_class[i] / in_class.sum()),
        }
        for i, count in enumerate(counts)
    ]


def _spread(values: Any) -> dict[str, float]:
    if not len(values):
        return {"min": 0, "avg": 0.0, "max": 0}
    return {"min": int(values.min()), "avg": float(values.mean()), "max": int(values.max())}


def _place(busiest: Busiest) -> dict[str, Any] | None:
    if busiest.rank == NO_RANK:
        return None
    return {"rank": busiest.rank, "direction": busiest.direction}

# SPDX-License-Identifier: BSD-3-Clause
"""Mixtures of experts: the bytes of tokens from rank to rank, with skew."""

from __future__ import annotations

import numpy as np

from ._core import CommMatrix
from .errors import Error

SKEWS = ("even", "hot", "fan", "lengths")
SPREAD = 0.25  # for fan and lengths: standard deviation over the mean


def dispatch(
    ranks: int,
    skew: str,
    tokens: int,
    experts: int,
    token_bytes: int,
    hot_ranks: int = 2,
    popularity: float = 4.0,
    seed: int = 0,
) -> CommMatrix:
    """Makes the matrix of a dispatch. Every rank has `tokens` tokens and one expert; each token goes to
    `experts` different experts.

    The kinds of skew: "even": all experts are equally likely. "hot": the experts of hot_ranks randomly drawn
    ranks are `popularity` times as likely as the others. "fan": the number of experts per token varies about
    the mean. "lengths": the length of tokens varies in the same way. Raises nuice.Error if there are more
    experts per token, or more hot ranks, than ranks.
    """
    if experts > ranks:
        raise Error(f"a token cannot go to {experts} experts of {ranks} ranks", "invalid_argument")
    if hot_ranks > ranks:
        raise Error(f"{hot_ranks} hot ranks of {ranks}", "invalid_argument")
    random = np.random.Generator(np.random.PCG64(seed))
    weights = np.zeros(ranks)
    if skew == "hot":
        weights[random.choice(ranks, hot_ranks, replace=False)] = np.log(popularity)
    table = np.zeros((ranks, ranks), np.int64)
    for rank in range(ranks):
        # The largest values of weight + Gumbel noise are a draw without replacement with these likelihoods.
        order = np.argsort(-(weights + random.gumbel(size=(tokens, ranks))), axis=1)
        fan = np.full(tokens, experts)
        length = np.full(tokens, token_bytes)
        if skew in ("fan", "lengths"):
            fan = np.clip(np.rint(random.normal(experts, SPREAD * experts, tokens)), 1, ranks).astype(int)
        if skew == "lengths":
            length = np.maximum(1, np.rint(random.normal(token_bytes, SPREAD * token_bytes, tokens))).astype(
                int
            )
        chosen = np.arange(ranks) < fan[:, None]
        table[rank] = np.bincount(order[chosen], weights=np.repeat(length, fan), minlength=ranks)
    np.fill_diagonal(table, 0)
    src, dst = np.divmod(np.flatnonzero(table), ranks)
    return CommMatrix.from_arrays(ranks, src, dst, table[src, dst])

# SPDX-License-Identifier: BSD-3-Clause
"""Checks numbers from files that are not trusted: recordings and traces."""

from __future__ import annotations

from typing import Any

MOST_OF_ANYTHING = 1e18


def whole(value: Any, least: int, most: int = 2**63 - 1) -> int:
    """Returns a whole number. Raises ValueError."""
    if type(value) is not int or not least <= value <= most:
        raise ValueError(value)
    return value


def amount(value: Any) -> float:
    """Returns a number of seconds or bytes, from 0 to 10^18. Raises ValueError, TypeError."""
    if not 0 <= value <= MOST_OF_ANYTHING:
        raise ValueError(value)
    return float(value)

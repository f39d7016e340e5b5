# SPDX-License-Identifier: BSD-3-Clause
"""Rates and sizes as tc writes them."""

from __future__ import annotations

import re

PREFIX = "[kmgt]i?|"


def bits_per_s(rate: str) -> float | None:
    return amount(rate, rf"({PREFIX})(bit|bps|)", {"bit": 1, "bps": 8, "": 1})


def amount(text: str, unit: str, units: dict[str, float], base: int = 1000) -> float | None:
    found = re.fullmatch(rf"(\d+(?:\.\d*)?|\.\d+){unit}", text.lower())
    if not found:
        return None
    number, prefix, name = found.groups()
    power = " kmgt".index(prefix[:1] or " ")
    return float(number) * (1024 if prefix.endswith("i") else base) ** power * units[name]

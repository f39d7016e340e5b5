# SPDX-License-Identifier: BSD-3-Clause
"""The papers' commands of `nuice`: reproduce and apps (entry-point group nuice.commands)."""

from __future__ import annotations

import typer

from . import pictures, reproducing


def register(app: typer.Typer) -> None:
    reproducing.register(app)
    pictures.register(app)

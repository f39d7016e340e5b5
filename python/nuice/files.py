# SPDX-License-Identifier: BSD-3-Clause
"""Output files that appear complete or not at all.

Usage:
    with OutputFiles() as out:
        save_matrix(out.temporary("a.mtx"))
        save_picture(out.temporary("a.png"))
    # both are in place now; after an exception neither is, and what was there before is untouched
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from types import TracebackType

from .errors import Error

PICTURE_ENDINGS = (".png", ".pdf", ".svg")


class OutputFiles:
    def __init__(self) -> None:
        self._pending: list[tuple[Path, Path]] = []

    def temporary(self, path: str | os.PathLike[str]) -> Path:
        """A new name beside `path`, with the same ending. Raises Error io if nothing can be written there."""
        final = Path(path)
        if final.is_dir():
            raise Error(f"{path}: is a folder", "io")
        if not final.parent.is_dir():
            raise Error(f"{path}: there is no folder {final.parent}", "io")
        if not os.access(final.parent, os.W_OK):
            raise Error(f"{path}: the folder {final.parent} cannot be written to", "io")
        temporary = final.with_name(f".{final.stem}.{secrets.token_hex(4)}{final.suffix}")
        self._pending.append((temporary, final))
        return temporary

    def optional(self, path: str | os.PathLike[str] | None) -> Path | None:
        return None if path is None else self.temporary(path)

    def picture(self, path: str | os.PathLike[str] | None) -> Path | None:
        """As optional(), for a name that must have the ending of a picture."""
        if path is not None and Path(path).suffix.lower() not in PICTURE_ENDINGS:
            raise Error(f"{path}: the name of a picture ends in {', '.join(PICTURE_ENDINGS)}")
        return self.optional(path)

    def __enter__(self) -> OutputFiles:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                for temporary, final in self._pending:
                    if temporary.exists():  # a name that was asked for and then not needed
                        temporary.replace(final)
        finally:
            for temporary, _ in self._pending:
                temporary.unlink(missing_ok=True)

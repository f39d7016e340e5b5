# SPDX-License-Identifier: BSD-3-Clause
"""Output files that appear complete or not at all.

Usage:
    with OutputFiles() as out:
        save_matrix(out.temporary("a.mtx"))
        save_picture(out.temporary("a.png"))
    # now both files exist; after an exception neither does, and files that existed before are unchanged

If a file is replaced, the new file has the mode and owner of the old one. A symbolic link stays, and its
target is replaced. Devices, pipes and descriptors of this process (/dev/null, a FIFO, /dev/stdout) are
written to and never replaced.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import stat
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from .errors import Error

WRITING_FAILED = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # errors for which Python names no file
PICTURE_ENDINGS = (".png", ".pdf", ".svg")

# These paths may lead to a regular file that the calling program has open. If it were replaced, the program
# would lose it.
_DESCRIPTORS = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
_DESCRIPTOR = re.compile(r"(?:/dev/fd|/proc/self/fd)/(\d+)")


@dataclass(frozen=True)
class _Pending:
    asked_for: str
    folder: Path  # private, so that no other user can replace the temporary file
    temporary: Path
    final: Path | None  # None: a file that is not replaced, see _write_straight()


class OutputFiles:
    def __init__(self) -> None:
        self._pending: list[_Pending] = []

    def temporary(self, path: str | os.PathLike[str]) -> Path:
        """Returns a new path with the same file name. Raises Error with code "io" if `path` cannot be
        written."""
        asked_for = os.fspath(path)
        try:
            final = None if _is_special(asked_for) else _target(asked_for)
            folder = Path(tempfile.mkdtemp(prefix=".nuice.", dir=final and final.parent))
        except OSError as error:
            raise Error(f"{asked_for}: cannot be written: {error.strerror}", "io") from None
        temporary = folder / Path(asked_for).name
        self._pending.append(_Pending(asked_for, folder, temporary, final))
        return temporary

    def optional(self, path: str | os.PathLike[str] | None) -> Path | None:
        return None if path is None else self.temporary(path)

    def picture(self, path: str | os.PathLike[str] | None) -> Path | None:
        """Returns optional(path). Raises Error unless the name ends like the name of a picture."""
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
                self._put_in_place()
            elif isinstance(error, Error | OSError):
                self._name_what_was_asked_for(error)
        finally:
            for pending in self._pending:
                shutil.rmtree(pending.folder, ignore_errors=True)

    def _put_in_place(self) -> None:
        written = [p for p in self._pending if p.temporary.exists()]  # others were not needed
        # Devices first: if one is full, the files stay unchanged.
        for pending in sorted(written, key=lambda p: p.final is not None):
            try:
                if pending.final is None:
                    _write_straight(pending.temporary, pending.asked_for)
                else:
                    _keep_mode(pending.temporary, pending.final)
                    pending.temporary.replace(pending.final)
            except BrokenPipeError:
                raise
            except OSError as error:
                raise Error(f"{pending.asked_for}: cannot be written: {error.strerror}", "io") from None

    def _name_what_was_asked_for(self, error: Error | OSError) -> None:
        """Raises the error again, without internal names."""
        if isinstance(error, OSError) and error.filename is None and error.errno in WRITING_FAILED:
            files = ", ".join(pending.asked_for for pending in self._pending)
            raise Error(f"{files}: cannot be written: {error.strerror}", "io") from None
        text = str(error) if isinstance(error, Error) else f"{error.filename}: {error.strerror}"
        for pending in self._pending:
            if str(pending.temporary) in text:
                code = error.code if isinstance(error, Error) else "io"
                raise Error(text.replace(str(pending.temporary), pending.asked_for), code) from None


def _is_special(path: str) -> bool:
    """Returns whether `path` is a device or pipe, which is written to instead of being replaced; False if no
    file exists. Raises Error for a folder.
    """
    if (descriptor := _descriptor(path)) is not None:
        os.fstat(descriptor)  # raises if it is not open
        return True
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(mode):
        raise Error(f"{path}: is a folder", "io")
    if not os.access(path, os.W_OK):
        raise Error(f"{path}: cannot be written to", "io")
    return not stat.S_ISREG(mode)


def _target(path: str) -> Path:
    """Follows all symbolic links and returns the file's path. The file need not exist."""
    final = Path(path).resolve()
    if not final.parent.is_dir():
        raise Error(f"{path}: there is no folder {final.parent}", "io")
    if not os.access(final.parent, os.W_OK):
        raise Error(f"{path}: the folder {final.parent} cannot be written to", "io")
    return final


def _descriptor(path: str) -> int | None:
    if path in _DESCRIPTORS:
        return _DESCRIPTORS[path]
    match = _DESCRIPTOR.fullmatch(path)
    return int(match[1]) if match else None


def _write_straight(temporary: Path, path: str) -> None:
    descriptor = _descriptor(path)
    if descriptor == 1 and sys.stdout is not None:
        sys.stdout.flush()
    where: int | str = path if descriptor is None else os.dup(descriptor)
    with open(temporary, "rb") as content, open(where, "wb", buffering=0) as out:
        for block in iter(lambda: content.read(1 << 20), b""):
            rest = memoryview(block)
            while rest:
                rest = rest[out.write(rest) :]


def _keep_mode(temporary: Path, final: Path) -> None:
    try:
        before = final.stat()
    except FileNotFoundError:
        return
    if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
        with contextlib.suppress(PermissionError):
            os.chown(temporary, before.st_uid, before.st_gid)
    temporary.chmod(before.st_mode & 0o777)

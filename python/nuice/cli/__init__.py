# SPDX-License-Identifier: BSD-3-Clause
"""The command `nuice`. Exit codes: 0 success, 1 a plan or an exchange is wrong, 2 bad input or a result that
could not be written, 130 interrupted.

With --json, stdout gets exactly one JSON object, also on errors: {"error": {"code": ..., "message": ...}}.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer


def main(arguments: Sequence[str] | None = None) -> int:
    import typer

    from ..errors import Error
    from ..files import WRITING_FAILED
    from .app import app

    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    as_json = "--json" in words
    if not _have_streams():
        return 2
    try:
        status = app(words, prog_name="nuice", standalone_mode=False)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except Error as error:
        return _fail(str(error), error.code, as_json)
    except _wrong_usage() as error:
        return _fail(_usage_text(error), "invalid_argument", as_json)
    except (BrokenPipeError, SystemExit):  # the reader has ended, which is no error
        _give_up(1)
        return 0
    except MemoryError:
        return _fail("there is not enough memory for that", "limit", as_json)
    except OSError as error:
        where = error.filename or ("standard output" if error.errno in WRITING_FAILED else "")
        return _fail(f"{where}: {error.strerror or error}".removeprefix(": "), "io", as_json)
    except (KeyboardInterrupt, typer.Abort):
        return 130


def _wrong_usage() -> type[typer.TyperException]:
    """Returns the error type for wrong options. Typer before 0.29 (in Spack) raises click's type."""
    import typer

    if hasattr(typer, "TyperException"):
        return typer.TyperException
    import click

    return click.ClickException


def _usage_text(error: typer.TyperException) -> str:
    """Returns the text of a usage error: the fault, the meaning of a missing option, and the command whose
    --help explains it.
    """
    message = (error.format_message() or "a command is missing").rstrip(".")
    context = getattr(error, "ctx", None)
    missing = getattr(error, "param", None) if message.startswith("Missing") else None
    meaning = (
        f": {missing.help.rstrip('.')}" if missing is not None and getattr(missing, "help", None) else ""
    )
    command = context.command_path if context is not None else "nuice"
    return f"{message}{meaning} (all options: {command} --help)"


def _have_streams() -> bool:
    """Returns False if stdout is closed. In this case results would be lost, and a file that is opened later
    would get the descriptor of stdout.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - for the rest of the program
    if sys.stdout is None:
        print("nuice: stdout is closed; for no output: >/dev/null", file=sys.stderr)
        return False
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names of files need not be UTF-8
    return True


def _fail(message: str, code: str, as_json: bool) -> int:
    line = " ".join(message.split())
    try:
        print(f"nuice: {line}", file=sys.stderr)
    except OSError:
        _give_up(2)
    if as_json:
        try:
            print(json.dumps({"error": {"code": code, "message": line}}), flush=True)
        except OSError:
            _give_up(1)
    else:
        _give_up_stdout_if_full()
    return 2


def _give_up_stdout_if_full() -> None:
    try:
        sys.stdout.flush()
    except OSError:
        _give_up(1)


def _give_up(descriptor: int) -> None:
    """Discards output that cannot be written, because Python would otherwise exit with status 120."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)

# SPDX-License-Identifier: BSD-3-Clause
"""The command `nuice`. Exit codes: 0 done, 1 a plan or an exchange is wrong, 2 bad input, 130 interrupted.

With --json, stdout gets exactly one JSON object, also on errors: {"error": {"code": ..., "message": ...}}.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    import typer

    from ..errors import Error
    from .app import app

    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    as_json = "--json" in words
    try:
        status = app(words, prog_name="nuice", standalone_mode=False)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except Error as error:
        return _fail(str(error), error.code, as_json)
    except typer.TyperException as error:  # wrong options or arguments
        message = error.format_message() or "a command is missing"
        return _fail(f"{message} (nuice --help)", "invalid_argument", as_json)
    except BrokenPipeError:  # the reader of our output has gone: not our error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _fail(f"{error.filename or ''}: {error.strerror or error}".removeprefix(": "), "io", as_json)
    except (KeyboardInterrupt, typer.Abort):
        return 130


def _fail(message: str, code: str, as_json: bool) -> int:
    line = " ".join(message.split())
    print(f"nuice: {line}", file=sys.stderr)
    if as_json:
        print(json.dumps({"error": {"code": code, "message": line}}))
    return 2

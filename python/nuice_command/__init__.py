# SPDX-License-Identifier: BSD-3-Clause
"""The entry point of the command `nuice`. It is separate from the package, whose imports take most of a
second: if Ctrl-C comes meanwhile, the command ends without a traceback, as later.
"""

import signal


def main() -> int:
    is_heard = (
        signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )  # not in the background of a script
    if is_heard:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from nuice.cli import main as command

    if is_heard:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return command()
    except KeyboardInterrupt:
        return 130
    finally:
        if is_heard:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python's own end would show one too

# SPDX-License-Identifier: BSD-3-Clause
"""Records the traffic of a switch's ports while programs run, by reading their counters repeatedly.

    ip netns exec SWITCH python ports.py FILE.json EVERY_S     until SIGTERM, which writes the file

The file: {"every_s": ..., "ports": [1, 2, ...], "at_s": [when], "bytes": [[towards each host so far]]}. A
host with several ports is in "ports" once for each of them, as [1, 1, 2, 2].
Times are those of the machine's monotonic clock, which all hosts of a test network share.
"""

from __future__ import annotations

import json
import re
import signal
import sys
import time
from array import array
from pathlib import Path

SENT_BYTES = 8  # column of /proc/net/dev, behind the name


class Stopped(Exception):
    """SIGTERM has come."""


def read_ports(text: str) -> dict[tuple[int, int], int]:
    """Returns, by host and port number, the bytes that the switch has sent there (network.switch_port)."""
    found = {}
    for line in text.splitlines():
        name, _, columns = line.strip().partition(":")
        if device := re.fullmatch(r"p(\d+)(?:-(\d+))?", name):
            found[int(device[1]), int(device[2] or 0)] = int(columns.split()[SENT_BYTES])
    return dict(sorted(found.items()))


def _stop(*_: object) -> None:
    raise Stopped


def main() -> None:
    path, every_s = Path(sys.argv[1]), float(sys.argv[2])
    signal.signal(signal.SIGTERM, _stop)
    counters = Path("/proc/net/dev")
    ports = [host for host, _ in read_ports(counters.read_text())]
    at_s, values = array("d"), array("q")
    try:
        while True:
            at_s.append(time.monotonic())
            values.extend(read_ports(counters.read_text()).values())
            time.sleep(every_s)
    except Stopped:
        pass
    width = len(ports)
    # The last reading may be incomplete.
    looks = min(len(at_s), len(values) // width) if width else 0
    rows = [list(values[i * width : (i + 1) * width]) for i in range(looks)]
    path.write_text(
        json.dumps({"every_s": every_s, "ports": ports, "at_s": list(at_s[:looks]), "bytes": rows})
    )


if __name__ == "__main__":
    main()

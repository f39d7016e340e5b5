# SPDX-License-Identifier: BSD-3-Clause
"""libnuice_flow.so in front of programs that use TCP: which connections it governs, and the bytes stay right.

127.0.0.1 and 127.0.0.2 are two hosts for it, so no network is needed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

LIBRARY = Path(sys.executable).parent.parent / "lib" / "nuice" / "libnuice_flow.so"
NUICE = Path(sys.executable).parent / "nuice"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="windows are set on Linux only")

EXCHANGE = """
import hashlib, os, socket, sys, threading
senders, size = int(sys.argv[1]), int(sys.argv[2])
listener = socket.create_server(("127.0.0.1", 0))
def send(seed):
    end = socket.socket()
    end.bind(("127.0.0.2", 0))
    end.connect(listener.getsockname())
    end.sendall(bytes([seed]) * size)
    end.shutdown(socket.SHUT_WR)
    assert end.recv(1) == b"k"
    end.close()
threads = [threading.Thread(target=send, args=(seed,)) for seed in range(senders)]
[thread.start() for thread in threads]
seen = set()
for _ in threads:
    end, _ = listener.accept()
    data = b"".join(iter(lambda: end.recv(65536), b""))
    assert len(data) == size and len(set(data)) == 1
    seen.add(data[0])
    end.sendall(b"k")
    end.close()
[thread.join() for thread in threads]
assert seen == set(range(senders))
MORE
print("right")
"""


def start(folder: Path, program: str, *arguments: object, **settings: str) -> list[dict]:
    """What the processes of this program report."""
    environment = os.environ | {"LD_PRELOAD": str(LIBRARY), "NUICE_FLOW_REPORT": str(folder)} | settings
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "right"), done.stderr
    return [json.loads(file.read_text()) for file in sorted(folder.glob("flow-*.json"))]


def test_a_programs_own_sockets_are_left_alone(tmp_path: Path) -> None:
    assert start(tmp_path, EXCHANGE.replace("MORE", ""), 4, 100000) == []


def test_all_connections_are_governed_if_asked(tmp_path: Path) -> None:
    (report,) = start(tmp_path, EXCHANGE.replace("MORE", ""), 8, 1_000_000, NUICE_FLOW="all")
    ports = {port["address"]: port for port in report["ports"]}
    assert ports["127.0.0.1"]["connections"] == 8
    assert ports["127.0.0.1"]["segments"] > 8
    if ports["127.0.0.1"]["out_of_order"] == 0:  # on a loaded machine packets overtake each other
        assert ports["127.0.0.1"]["share_bytes"] is None


def test_off_is_off(tmp_path: Path) -> None:
    assert start(tmp_path, EXCHANGE.replace("MORE", ""), 4, 100000, NUICE_FLOW="off") == []


def test_the_child_of_a_fork_says_and_does_nothing(tmp_path: Path) -> None:
    more = """
child = os.fork()
if child == 0:
    end = socket.create_connection(listener.getsockname())
    end.close()
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0"""
    (report,) = start(tmp_path, EXCHANGE.replace("MORE", more), 4, 100000, NUICE_FLOW="all")
    assert "127.0.0.1" in {port["address"] for port in report["ports"]}  # one report: the child wrote none


def test_a_reader_that_is_killed_leaves_its_sender_an_error(tmp_path: Path) -> None:
    program = """
import os, signal, socket, sys
listener = socket.create_server(("127.0.0.1", 0))
child = os.fork()
if child == 0:
    end, _ = listener.accept()
    end.recv(1000)
    os.kill(os.getpid(), signal.SIGKILL)
end = socket.socket()
end.bind(("127.0.0.2", 0))
end.connect(listener.getsockname())
listener.close()
try:
    while True: end.sendall(b"x" * 100000)
except (ConnectionResetError, BrokenPipeError):
    print("right")
os.waitpid(child, 0)"""
    start(tmp_path, program, NUICE_FLOW="all")


def test_a_report_into_a_folder_that_is_not_there_is_an_error_text_only(tmp_path: Path) -> None:
    environment = os.environ | {
        "LD_PRELOAD": str(LIBRARY),
        "NUICE_FLOW": "all",
        "NUICE_FLOW_REPORT": str(tmp_path / "none"),
    }
    done = subprocess.run(
        [sys.executable, "-c", EXCHANGE.replace("MORE", ""), "2", "1000"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "right")
    assert "none/flow-" in done.stderr and "No such file" in done.stderr


def nuice(*words: object, **settings: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(NUICE), *map(str, words)], capture_output=True, text=True, timeout=60, env=os.environ | settings
    )


def test_the_command_reports(tmp_path: Path) -> None:
    program = [sys.executable, "-c", EXCHANGE.replace("MORE", ""), 4, 100000]
    done = nuice("run", "--report", tmp_path / "new", "--", *program, NUICE_FLOW="all")
    assert (done.returncode, done.stdout) == (0, "right\n")
    assert "127.0.0.1" in done.stderr and "window of a sender" in done.stderr
    done = nuice("run", "--report", tmp_path / "other", "--", *program)
    assert (done.returncode, done.stdout) == (0, "right\n")
    assert "no TCP connection" in " ".join(done.stderr.split())
    assert "not empty" in nuice("run", "--report", tmp_path, "--", "true").stderr


def test_the_command_sets_what_the_user_has_not(tmp_path: Path) -> None:
    show = ["sh", "-c", "echo $OMPI_MCA_btl_tcp_eager_limit $OMPI_MCA_btl_tcp_max_send_size"]
    assert nuice("run", "--", *show).stdout == "528384 2097152\n"
    assert nuice("run", "--", *show, OMPI_MCA_btl_tcp_eager_limit="7").stdout == "7 2097152\n"
    assert nuice("run", "--off", "--", *show).stdout == "\n"
    assert "OMPI_MCA_btl_tcp_eager_limit=528384" in nuice("run", "--print-settings").stdout
    assert "OMPI_MCA_btl_tcp_eager_limit=528384" in nuice("run", "--verbose", "--", "true").stderr
    assert nuice("run", "--", "sh", "-c", "exit 7").returncode == 7
    assert "no program" in nuice("run").stderr

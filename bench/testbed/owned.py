# SPDX-License-Identifier: BSD-3-Clause
"""The namespaces and processes that test networks own, and which commands may run at the same time.

    /run/nuice-testbed/NAME.lock        flock: up and down alone, any number of runs together
    /run/nuice-testbed/NAME/state.json  owner, settings, the namespaces made with the kernel's number of each

A namespace belongs to a network if its name and number are in the state; other namespaces with names
nuice-... are not touched. The state is written before the first namespace is made, so it also lists those
that a killed start (-9) leaves behind. Processes of a run carry the run's number in their environment.
"""

from __future__ import annotations

import contextlib
import fcntl
import getpass
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path("/run/nuice-testbed")
RUN_VARIABLE = "NUICE_TESTBED_RUN"


class TestbedError(Exception):
    """One line that says what is wrong and what to do."""

    __test__ = False  # not a test, whatever pytest thinks of the name


@dataclass
class State:
    index: int
    owner: str
    settings: dict[str, Any]
    namespaces: dict[str, int | None] = field(default_factory=dict)  # None: about to be made
    complete: bool = False


def folder(name: str) -> Path:
    return ROOT / (name or "default-network")  # no name has a hyphen


@contextlib.contextmanager
def locked(name: str, alone: bool) -> Iterator[None]:
    """Holds the network's lock. Throws TestbedError if another command holds a lock that excludes this
    one."""
    ROOT.mkdir(mode=0o755, parents=True, exist_ok=True)
    path = folder(name).with_name(f"{folder(name).name}.lock")
    while True:
        lock = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(lock, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            raise TestbedError(
                f"test network {name or '(without a name)'} is in use by another nuice-testbed: "
                "wait for it, take another --name, or end it by down --force"
            ) from None
        if _is_still_there(path, lock):
            break
        os.close(lock)  # removed by the process that held it before
    try:
        yield
    finally:
        if alone and not folder(name).exists():
            path.unlink(missing_ok=True)
        os.close(lock)


def _is_still_there(path: Path, lock: int) -> bool:
    try:
        return path.stat().st_ino == os.fstat(lock).st_ino
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def locked_all() -> Iterator[None]:
    """Holds a lock while a network chooses its addresses. Other networks wait for this short time."""
    with open(ROOT / "lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def load(name: str) -> State | None:
    try:
        return State(**json.loads((folder(name) / "state.json").read_text()))
    except (OSError, ValueError, TypeError):
        return None


def indices() -> set[int]:
    """Returns the indices of all networks, including incomplete ones."""
    return {state.index for _, state in all_networks()}


def all_networks() -> list[tuple[str, State]]:
    found = []
    for path in sorted(ROOT.glob("*/state.json")):
        name = path.parent.name
        state = load("" if name == "default-network" else name)
        if state is not None:
            found.append(("" if name == "default-network" else name, state))
    return found


def begin(name: str, index: int, settings: dict[str, Any], namespaces: list[str]) -> None:
    folder(name).mkdir(exist_ok=True)
    user = os.environ.get("SUDO_USER") or getpass.getuser()
    owner = f"made by {user}, process {os.getpid()}, {time.strftime('%Y-%m-%d %H:%M:%S')}"
    _save(name, State(index, owner, settings, dict.fromkeys(namespaces)))


def note(name: str, namespace: str) -> None:
    """Notes that a namespace has been made."""
    state = load(name)
    assert state is not None
    state.namespaces[namespace] = namespace_id(namespace)
    _save(name, state)


def complete(name: str) -> None:
    state = load(name)
    assert state is not None
    state.complete = True
    _save(name, state)


def _save(name: str, state: State) -> None:
    temporary = folder(name) / f"state.{os.getpid()}"
    temporary.write_text(json.dumps(asdict(state)))
    temporary.replace(folder(name) / "state.json")


def namespace_id(namespace: str) -> int | None:
    """Returns the kernel's number of a namespace; None if there is no such namespace."""
    try:
        return (Path("/run/netns") / namespace).stat().st_ino
    except FileNotFoundError:
        return None


def namespaces(name: str) -> list[str]:
    """Returns the namespaces that the network made and that still exist unchanged."""
    state = load(name)
    if state is None:
        return []
    found = {namespace: namespace_id(namespace) for namespace in state.namespaces}
    # The number is None if a start was killed before it could write the number.
    return [n for n, number in found.items() if number is not None and state.namespaces[n] in (number, None)]


def remove(name: str) -> int:
    """Ends all programs in the network's namespaces and removes these. Returns their number."""
    mine = namespaces(name)
    kill(mine)
    for namespace in mine:
        subprocess.run(["ip", "netns", "del", namespace], capture_output=True)
    shutil.rmtree(folder(name), ignore_errors=True)
    return len(mine)


def kill(in_namespaces: list[str], run: str | None = None) -> None:
    """Sends SIGKILL to all processes in these namespaces, or only to those of a run."""
    for namespace in in_namespaces:
        listed = subprocess.run(["ip", "netns", "pids", namespace], capture_output=True, text=True).stdout
        for pid in map(int, listed.split()):
            if pid != os.getpid() and (run is None or _is_of_run(pid, run)):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def _is_of_run(pid: int, run: str) -> bool:
    try:
        return f"{RUN_VARIABLE}={run}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False  # it has just ended


def die_with_parent() -> None:
    """Called in a child before exec: the child gets a signal when this command is killed."""
    if sys.platform == "linux":
        import ctypes

        set_parent_death_signal = 1
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGTERM)

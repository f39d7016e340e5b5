# SPDX-License-Identifier: BSD-3-Clause
"""nuice run: starts an unmodified MPI program with windows for its TCP connections, or records it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import Error
from ..recording import load
from . import output
from .recording import machine_for_predictions, show_recording

RECORDER = "libnuice_record.so"
WINDOWS = "libnuice_flow.so"
LAUNCHERS = ("mpiexec", "mpirun", "orterun", "prterun")

# A message above the eager limit waits for an answer of its receiver, and the answer waits in a queue
# after other data. With this limit, messages of up to 512 KiB (and MPI's header) are sent at once; the window
# of the connection bounds the bytes in flight. Open MPI holds an unexpected message twice: for 64 senders at
# most 64 MiB.
SETTINGS = {
    "OMPI_MCA_btl_tcp_eager_limit": "528384",
    "OMPI_MCA_btl_tcp_rndv_eager_limit": "528384",
    "OMPI_MCA_btl_tcp_max_send_size": "2097152",
}


def run(
    program: Annotated[
        list[str] | None, typer.Argument(metavar="-- PROGRAM ...", help="The command without NUICE.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            metavar="DIR",
            help="Write the windows of each process into this folder, and a summary to stderr.",
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option("--record", metavar="DIR", help="Record into this folder, which must be new or empty."),
    ] = None,
    off: Annotated[bool, typer.Option("--off", help="Start the program without NUICE.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Print the settings made for MPI.")] = False,
    print_settings: Annotated[
        bool,
        typer.Option(
            "--print-settings", help="Print these settings, for use without NUICE, and start nothing."
        ),
    ] = False,
) -> int:
    """Start an unmodified MPI program with flow control for its TCP connections, or record it.

    nuice run -- mpiexec -n 64 ./my_program its arguments
    nuice run --record halo -- mpiexec -n 64 ./my_program its arguments

    The program's output and exit status do not change. By default each process divides one receive window
    among the TCP connections of MPI; no part of MPI is replaced. With --record, NUICE changes nothing and
    sends no messages: each rank writes a file when it ends, and `nuice record show DIR` says how much time a
    plan would save.
    """
    if print_settings:
        print("\n".join(f"{name}={value}" for name, value in SETTINGS.items()))
        return 0
    if not program:
        raise Error("nuice run: no program; nuice run -- PROGRAM ...")
    if off + (report is not None) + (record is not None) > 1:
        raise Error("nuice run takes one of --record DIR, --report DIR and --off")
    if off:
        return _start(program, {"NUICE_FLOW": "off"})
    if record is not None:
        return _record(program, record)
    settings = {name: value for name, value in SETTINGS.items() if name not in os.environ}
    if verbose:
        print(*(f"nuice: {name}={value}" for name, value in settings.items()), sep="\n", file=sys.stderr)
    if report is not None:
        _require_empty(report)
        report.mkdir(parents=True, exist_ok=True)
        settings |= {"NUICE_FLOW_REPORT": str(report.resolve())}
    status = _start(program, settings | _preloaded(WINDOWS))
    if report is not None:
        _report(report)
    return status


def _require_empty(folder: Path) -> None:
    if folder.exists() and any(folder.iterdir()):
        raise Error(f"{folder}: not empty; name a new folder", "io")


def _record(program: list[str], folder: Path) -> int:
    _require_empty(folder)
    refuse_other_mpi(program, find_library(RECORDER))
    folder.mkdir(parents=True, exist_ok=True)
    settings = _preloaded(RECORDER) | {"NUICE_RECORD_DIR": str(folder.resolve())}
    status = _start(program, settings)
    if any(folder.glob("rank-*.json")):
        show_recording(output.console(to_stderr=True), load(folder), machine_for_predictions(None))
    else:
        print(f"nuice: no rank has written a record into {folder}: {_why_nothing(program)}", file=sys.stderr)
    return status


def _report(folder: Path) -> None:
    """Returns a row for the port of each host, with the sums over all processes of the host."""
    ports: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for file in sorted(folder.glob("flow-*.json")):
        one = json.loads(file.read_text())
        for port in one["ports"]:
            ports.setdefault((one["host"], port["address"]), []).append(port)
    console = output.console(to_stderr=True)
    if not ports:
        console.print("nuice: MPI opened no TCP connection to another host, so there were no windows to set")
        return
    rows = []
    for (host, address), all_of_it in sorted(ports.items()):
        connections, segments, out_of_order = (
            sum(port[what] for port in all_of_it) for what in ("connections", "segments", "out_of_order")
        )
        share = f"{out_of_order / max(1, segments):.2%}"
        rows.append((host, address, str(connections), str(segments), share, _window(all_of_it)))
    columns = ("host", "address", "connections", "segments", "out of order", "window of a sender")
    console.print(output.table(columns, rows))


def _window(ports: list[dict[str, Any]]) -> str:
    shares = [port["share_bytes"] for port in ports if port["share_bytes"] is not None]
    if not shares:
        return "none"
    return f"{min(shares)} B" if min(shares) == max(shares) else f"{min(shares)} to {max(shares)} B"


def _preloaded(name: str) -> dict[str, str]:
    before = os.environ.get("LD_PRELOAD")
    return {"LD_PRELOAD": ":".join([str(find_library(name)), *([before] if before else [])])}


def _start(program: list[str], settings: dict[str, str]) -> int:
    try:
        return subprocess.run(_with_exports(program, settings), env=os.environ | settings).returncode
    except OSError as error:
        raise Error(f"{program[0]}: {error.strerror}", "io") from None


def _with_exports(program: list[str], settings: dict[str, str]) -> list[str]:
    """Adds the options by which Open MPI's launcher passes environment variables to other hosts."""
    if not settings or Path(program[0]).name not in LAUNCHERS or not _is_open_mpi(program[0]):
        return program
    exports = [word for name in settings for word in ("-x", name)]
    return [program[0], *exports, *program[1:]]


def _is_open_mpi(launcher: str) -> bool:
    try:
        said = subprocess.run([launcher, "--version"], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return "Open MPI" in said.stdout or "prte" in said.stdout.lower()


def find_library(name: str) -> Path:
    """Returns the path where `make build` or an installation puts the library. Raises Error with code "io" if
    the library is not there.
    """
    named = os.environ.get("NUICE_PRELOAD_LIBRARIES")
    folder = Path(named) if named else Path(sys.executable).parent.parent / "lib" / "nuice"
    path = folder / name
    if path.is_file():
        return path
    raise Error(f"{path}: not there; `make build` installs it, or set NUICE_PRELOAD_LIBRARIES", "io")


def mpi_of(file: Path) -> str | None:
    """Returns the MPI with which a program is linked, "Open MPI" or "MPICH"; None for scripts and other
    files."""
    try:
        with file.open("rb") as stream:
            if stream.read(4) != b"\x7fELF":
                return None
        text = subprocess.run(["ldd", str(file)], capture_output=True, text=True, timeout=20).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    if "libmpi.so.40" in text or "libmpi_mpifh.so" in text:
        return "Open MPI"
    return "MPICH" if "libmpi.so.12" in text or "libmpich.so" in text else None


def _programs(words: list[str]) -> list[Path]:
    found = (shutil.which(word) for word in words if not word.startswith("-"))
    return [Path(path) for path in found if path is not None]


def refuse_other_mpi(program: list[str], library: Path) -> None:
    """Raises Error if the library was built for another MPI, because handles are numbers in one MPI and
    addresses in the other.
    """
    ours = "Open MPI" if b"ompi_mpi_comm_world" in library.read_bytes() else "MPICH"
    for path in _programs(program):
        theirs = mpi_of(path)
        if theirs is not None and theirs != ours:
            raise Error(f"{path} is linked with {theirs}, but {library} is for {ours}", "not_applicable")


def _why_nothing(program: list[str]) -> str:
    if any(mpi_of(path) for path in _programs(program)):
        return "it ended before MPI_Init, or was killed"
    return "it is not an MPI program, or is linked with MPI statically"


def register(app: typer.Typer) -> None:
    app.command(context_settings={"allow_interspersed_args": False})(run)

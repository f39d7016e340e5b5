#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The command `nuice-testbed`: a network with real contention on one machine, and MPI programs on it.

  nuice-testbed up --preset fast         16 hosts with ports of 50 Mbit/s and switch queues of 32 KiB
  nuice-testbed run nuice-bench --matrix FILE.mtx
  nuice-testbed down                     leaves nothing behind
  nuice-testbed up --name a              next to the one without a name; run, down and so on take --name too
  nuice-testbed once --hosts 8 PROGRAM   up, run and down in one; without root in a user namespace

Exit codes: 0 done, 2 bad input or no network possible, 130 interrupted; `run` ends with the program's own, or
with 3 where a lossless fabric could not keep up and the run is void.
"""

from __future__ import annotations

import signal

IS_HEARD = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not in the background of a script
if IS_HEARD and __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C while modules are imported: no traceback

# ruff: noqa: E402
import contextlib
import json
import math
import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Annotated

import launch
import network
import owned
import typer

import lossless


def _named(context: typer.Context, option: typer.CallbackParam, name: str) -> str:
    """An empty name on the command line comes from a variable that a script has not set, and does not mean
    the default network."""
    source = context.get_parameter_source(option.name or "")
    if not name and source is not None and source.name != "DEFAULT":
        raise owned.TestbedError("--name '': a name has 1 to 16 small letters and digits")
    return name


def _seconds(given: float) -> float:
    if not 0 <= given < math.inf:
        raise owned.TestbedError(f"--timeout {given:g}: seconds from 0 on")
    return given


Name = Annotated[
    str,
    typer.Option(
        "--name",
        metavar="NAME",
        envvar="NUICE_TESTBED",
        help="Name of the network; several may be up at once.",
        callback=_named,
    ),
]

Preset = Annotated[str, typer.Option(help=f"{', '.join(network.PRESETS)}; other options change it.")]
NumHosts = Annotated[int | None, typer.Option("--hosts", metavar="N", help="Number of hosts.")]
Rate = Annotated[str | None, typer.Option(metavar="RATE", help='Speed of every port, both ways, "20mbit".')]
Queue = Annotated[str | None, typer.Option(metavar="BYTES", help='Queue of a switch port, "32k".')]
Congestion = Annotated[str | None, typer.Option(help="TCP congestion control: bbr, reno, cubic.")]
RanksPerHost = Annotated[int | None, typer.Option(metavar="R", help="Ranks that `run` puts on a host.")]
PortsPerHost = Annotated[
    int | None, typer.Option(metavar="P", help="Ports of each host, each on its own switch.")
]
Uplink = Annotated[
    str | None, typer.Option(metavar="RATE", help="Two switches joined by a cable of this speed; '' for one.")
]
RtoMin = Annotated[
    str | None, typer.Option(metavar="TIME", help='Shortest timeout of TCP, "5ms"; default 200 ms.')
]
Topology = Annotated[
    str | None, typer.Option(metavar="SPEC", help="A fabric that drops nothing, as nuice plan names it.")
]
Flow = Annotated[str | None, typer.Option(help="Flow control of a lossless fabric: credits or pfc.")]
Buffer = Annotated[int | None, typer.Option(metavar="PACKETS", help="Buffer of each input of its switches.")]
Queueing = Annotated[str | None, typer.Option(help="fifo; voq: an input has a queue for every output.")]
Switching = Annotated[str | None, typer.Option(help="cut-through or store.")]
Routing = Annotated[str | None, typer.Option(help="table, hash (of a connection), adaptive.")]
NumRanks = Annotated[
    int, typer.Option("--ranks", metavar="N", help="Number of ranks; 0: as many as there is room for.")
]
Mpiexec = Annotated[str, typer.Option(help="mpiexec of Open MPI or MPICH; default: the one in PATH.")]
Timeout = Annotated[
    float, typer.Option(metavar="S", help="Time limit in seconds; 0: none.", callback=_seconds)
]
Counters = Annotated[
    str, typer.Option(metavar="FILE.json", help="Write retransmissions of each host and drops of each port.")
]
Ports = Annotated[str, typer.Option(metavar="FILE.json", help="Write what each port carried, every 4 ms.")]
TAKES_PROGRAM = {"allow_extra_args": True, "ignore_unknown_options": True}
PORTS_EVERY_S = 0.004
VOID = 3  # exit code

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A network with real contention on one machine, and MPI programs on it.",
)


@app.command()
def up(
    context: typer.Context,
    preset: Preset = "shallow",
    hosts: NumHosts = None,
    rate: Rate = None,
    queue: Queue = None,
    cc: Congestion = None,
    ranks_per_host: RanksPerHost = None,
    ports_per_host: PortsPerHost = None,
    uplink: Uplink = None,
    rto_min: RtoMin = None,
    topology: Topology = None,
    flow: Flow = None,
    buffer: Buffer = None,
    queueing: Queueing = None,
    switching: Switching = None,
    routing: Routing = None,
    name: Name = "",
) -> None:
    """Make the network. A failed or interrupted start removes what it made."""
    settings = _settings(context)
    network.up(settings, name)
    print(_words(settings))


def _settings(context: typer.Context) -> network.Settings:
    """The preset, with what else was given."""
    preset = context.params["preset"]
    asked = {field.name: context.params.get(field.name) for field in fields(network.Settings)}
    if preset not in network.PRESETS:
        raise owned.TestbedError(f"--preset {preset}: one of {', '.join(network.PRESETS)}")
    return replace(network.PRESETS[preset], **{k: v for k, v in asked.items() if v is not None})


@app.command()
def down(
    name: Name = "",
    force: Annotated[bool, typer.Option("--force", help="End programs that run on it.")] = False,
) -> None:
    """End all processes on the hosts and remove the network. Does nothing if there is none."""
    if os.geteuid() != 0:
        raise owned.TestbedError("network namespaces need root (run it with sudo)")
    removed = network.down(name, force)
    print(f"removed {removed} namespaces" if removed else "no test network was up")


@app.command()
def check() -> None:
    """Tell whether networks can be made here, and how; the exit code is 2 if they cannot."""
    if os.geteuid() == 0:
        reason = network.why_not()
        if reason:
            raise owned.TestbedError(reason)
        print("yes, as root")
    else:
        network.require_user_namespace()
        print("yes, without root: nuice-testbed once")


@app.command("list")
def list_networks() -> None:
    """List the networks that are up, and their owners."""
    for name, state in owned.all_networks():
        half = "" if state.complete else ", not complete"
        print(f"{name or '(without a name)'}: {state.settings['hosts']} hosts, {state.owner}{half}")


@app.command()
def status(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False, name: Name = ""
) -> None:
    """Show the network, the drops of its ports and the retransmissions of its hosts so far."""
    found = network.current(name)
    counts, uplink = network.counters(found), network.uplink_dropped(found)
    fabric = lossless.counts(found) if found.settings.topology else None
    if as_json:
        state = {"settings": asdict(found.settings), "hosts": counts, "uplink_dropped": uplink}
        print(json.dumps(state | {"prefix": found.prefix, "subnet": found.subnet(), "fabric": fabric}))
    else:
        print(_words(found.settings))
        print(_total(counts, uplink))
        if fabric:
            print(lossless.total(fabric))


@app.command(context_settings=TAKES_PROGRAM)
def run(
    context: typer.Context,
    ranks: NumRanks = 0,
    mpiexec: Mpiexec = "",
    timeout: Timeout = 0,
    counters: Counters = "",
    ports: Ports = "",
    name: Name = "",
) -> None:
    """Start an MPI program on the hosts: nuice-testbed run [OPTIONS] PROGRAM [ARGUMENTS]..."""
    raise typer.Exit(_run_on(name, context.args, ranks, mpiexec, timeout, counters, ports))


@app.command(context_settings=TAKES_PROGRAM)
def once(
    context: typer.Context,
    preset: Preset = "shallow",
    hosts: NumHosts = None,
    rate: Rate = None,
    queue: Queue = None,
    cc: Congestion = None,
    ranks_per_host: RanksPerHost = None,
    ports_per_host: PortsPerHost = None,
    uplink: Uplink = None,
    rto_min: RtoMin = None,
    topology: Topology = None,
    flow: Flow = None,
    buffer: Buffer = None,
    queueing: Queueing = None,
    switching: Switching = None,
    routing: Routing = None,
    ranks: NumRanks = 0,
    mpiexec: Mpiexec = "",
    timeout: Timeout = 0,
    counters: Counters = "",
    ports: Ports = "",
) -> None:
    """Make a network for one program: up, run and down. Without root it is in a user namespace."""
    if os.geteuid() != 0:
        network.enter_user_namespace([sys.executable, *sys.argv])
    name = f"once{os.getpid()}"
    network.up(_settings(context), name)
    try:
        status = _run_on(name, context.args, ranks, mpiexec, timeout, counters, ports)
    finally:
        network.down(name)
    raise typer.Exit(status)


@app.command(context_settings=TAKES_PROGRAM)
def rdma(context: typer.Context, timeout: Timeout = 0, counters: Counters = "", name: Name = "") -> None:
    """Exchange as RDMA cards do, on a lossless fabric: rdma --matrix M.mtx --plans FILE:EXECUTOR."""
    raise typer.Exit(_run_on(name, context.args, 0, "", timeout, counters, "", is_rdma=True))


def _run_on(
    name: str,
    program: list[str],
    ranks: int,
    mpiexec: str,
    timeout_s: float,
    counters: str,
    ports: str,
    is_rdma: bool = False,
) -> int:
    """Waits for the program's end on that network, and says what was lost. Returns the program's exit code,
    or 124. is_rdma: whether the program is nuice-fabric-rdma and these are its words."""
    if not program:
        raise owned.TestbedError("a program is missing: nuice-testbed run [OPTIONS] PROGRAM [ARGUMENTS]...")
    launcher = launch.Launcher("", "") if is_rdma else launch.find_launcher(mpiexec)
    with owned.locked(name, alone=False):
        here = network.current(name)
        num_ranks = ranks or here.settings.hosts * here.settings.ranks_per_host
        if is_rdma:
            words = [*lossless.rdma(here), *program]
        else:
            words = launch.command(launcher, here, num_ranks, program)
        before, uplink = network.counters(here), network.uplink_dropped(here)
        fabric = lossless.counts(here) if here.settings.topology else None
        with _watched_ports(here, ports):
            status = _run(words, launcher, here, timeout_s)
        change = [
            {key: after[key] - earlier[key] for key in after}
            for after, earlier in zip(network.counters(here), before, strict=True)
        ]
        uplink = network.uplink_dropped(here) - uplink
        found = {"settings": asdict(here.settings), "hosts": change, "uplink_dropped": uplink}
        if fabric:
            now = lossless.counts(here)
            found |= {"fabric": lossless.change(fabric, now)}
    if counters:
        with open(counters, "w") as file:
            json.dump(found, file)
    print(f"nuice-testbed: {_total(change, uplink)}", file=sys.stderr)
    if fabric:
        print(f"nuice-testbed: {lossless.words(found['fabric'])}", file=sys.stderr)
        if found["fabric"]["void"]:
            return status or VOID
    return status


@contextlib.contextmanager
def _watched_ports(here: network.Network, path: str) -> Iterator[None]:
    """ports.py looks at the switch meanwhile, if a path for its file is given."""
    if not path:
        yield
        return
    if here.settings.topology:
        raise owned.TestbedError("--ports looks at one switch: not with a lossless fabric")
    program = [sys.executable, str(Path(__file__).with_name("ports.py")), path, str(PORTS_EVERY_S)]
    looking = subprocess.Popen(
        ["ip", "netns", "exec", here.switch, *program], preexec_fn=owned.die_with_parent
    )
    try:
        yield
    finally:
        looking.terminate()
        looking.wait(10)


@app.command()
def port(
    host: Annotated[int, typer.Argument(help="1 is the first.")],
    rate: Annotated[str, typer.Argument(metavar="RATE", help='"2mbit"')],
    name: Name = "",
) -> None:
    """Give one host's ports another speed: a slow host."""
    network.set_rate(network.current(name), host, rate)


@app.command()
def switch(state: Annotated[str, typer.Argument(metavar="down|up")], name: Name = "") -> None:
    """Take the switch down, or up again: a network that fails for a while."""
    if state not in ("down", "up"):
        raise owned.TestbedError(f"switch {state}: down or up")
    network.set_switch(network.current(name), state == "up")


def _run(words: list[str], launcher: launch.Launcher, here: network.Network, timeout_s: float) -> int:
    """Returns the program's exit code, or 124 after the timeout. In every case all its processes on the hosts
    are ended, and other programs there continue."""
    run_id = secrets.token_hex(8)
    environment = launch.environment(launcher, here, run_id)
    process = subprocess.Popen(
        words, env=environment, start_new_session=True, preexec_fn=owned.die_with_parent
    )
    try:
        return _wait(process, here, timeout_s)
    except subprocess.TimeoutExpired:
        print(f"nuice-testbed: ended after {timeout_s:g} s", file=sys.stderr)
        return 124
    finally:
        if process.poll() is None:
            _end(process)
        owned.kill(owned.namespaces(here.name), run_id)
        shutil.rmtree(environment["TMPDIR"], ignore_errors=True)


def _wait(process: subprocess.Popen[bytes], here: network.Network, timeout_s: float) -> int:
    """Waits like process.wait(), but ends with an error if the fabric has ended."""
    if not here.settings.topology:
        return process.wait(timeout_s or None)
    deadline = time.monotonic() + (timeout_s or math.inf)
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(min(1.0, max(deadline - time.monotonic(), 0)))
        if time.monotonic() >= deadline:
            raise subprocess.TimeoutExpired(process.args, timeout_s)
        lossless.require_alive(here)


def _end(process: subprocess.Popen[bytes], patience_s: float = 3.0) -> None:
    for signum in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        os.killpg(process.pid, signum)
        deadline = time.monotonic() + patience_s
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)


def _words(settings: network.Settings) -> str:
    queues = lossless.describe(settings) if settings.topology else f"switch queues of {settings.queue}"
    text = f"{settings.hosts} hosts, ports of {settings.rate}, {queues}, {settings.cc}"
    if settings.ranks_per_host > 1:
        text += f", {settings.ranks_per_host} ranks on each"
    if settings.ports_per_host > 1:
        text += f", {settings.ports_per_host} ports each"
    return text + (f", two switches joined by {settings.uplink}" if settings.uplink else "")


def _total(found: list[dict[str, int]], uplink: int) -> str:
    sums = {key: sum(host[key] for host in found) for key in ("segments", "retransmitted", "dropped")}
    text = "{segments} segments sent, {retransmitted} retransmitted, {dropped} packets dropped by the switch"
    return text.format(**sums) + (f", {uplink} on the uplink" if uplink else "")


def main() -> int:
    if IS_HEARD:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    try:
        status = app(prog_name="nuice-testbed", standalone_mode=False)
        return status if isinstance(status, int) else 0
    except owned.TestbedError as error:
        message, status = str(error), 2
    except typer.TyperException as error:
        message, status = f"{error.format_message()} (nuice-testbed --help)", 2
    except (KeyboardInterrupt, typer.Abort):
        return 130
    print(f"nuice-testbed: {message}", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: BSD-3-Clause
"""A lossless fabric whose packets block each other: switches in user space between the hosts' ports.

    switches   one process nuice-fabric (bench/lossless) in the namespace of the switch
    host i     its eth0 is a TAP whose other end that process holds: it goes with the process
    launcher   so is br0, in the switch's namespace; what it sends is not shaped

All TAPs have the same Ethernet address and no ARP, so packets are for the host with the IP address. TCP's
packets leave the host's queue at the port's rate, as above a real card. Packets of class 1:6, of the peer
that behaves like RDMA, go to the card's own queues at once.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from network import Network, Settings

from commands import burst_bytes, keep_order, output
from owned import TestbedError

PROGRAM = "nuice-fabric"
RDMA = "nuice-fabric-rdma"
ETHERNET = "02:00:00:00:00:01"
TAP_QUEUE = 100_000  # packets: enough that unread packets are never dropped
READY_S = 20.0
STATUS_S = 0.1  # how often nuice-fabric writes its counts
# The largest share of the time with moving packets in which the fabric may be behind. Above it a run is void.
MOST_BEHIND = 0.01
CHOICES = {
    "flow": ("credits", "pfc"),
    "queueing": ("fifo", "voq"),
    "switching": ("cut-through", "store"),
    "routing": ("table", "hash", "adaptive"),
}


def check(settings: Settings) -> None:
    for option, known in CHOICES.items():
        if getattr(settings, option) not in known:
            raise TestbedError(f"--{option} {getattr(settings, option)}: one of {', '.join(known)}")
    if settings.buffer < 4:
        raise TestbedError(f"--buffer {settings.buffer}: at least 4 packets")
    if settings.uplink or settings.ports_per_host > 1:
        raise TestbedError("--topology: not with an uplink or several ports of a host")
    _program(PROGRAM)


def _program(name: str) -> str:
    path = f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}"
    if found := shutil.which(name, path=path):
        return found
    raise TestbedError(f"{name}: not found; make build")


def _files(network: Network) -> tuple[Path, Path]:
    """Returns the files of counts and of messages."""
    folder = network.state.resolve()
    return folder / "fabric.json", folder / "fabric.log"


def start(network: Network, bits_per_s: float) -> None:
    """Starts nuice-fabric; the namespaces must exist. Throws TestbedError with the message of
    nuice-fabric."""
    counts, log = _files(network)
    settings = network.settings
    words = [_program(PROGRAM), "--prefix", network.prefix, "--topology", settings.topology]
    words += ["--hosts", str(settings.hosts), "--bits-per-s", str(bits_per_s)]
    words += ["--buffer", str(settings.buffer), "--status", str(counts)]
    words += [word for option in CHOICES for word in (f"--{option}", getattr(settings, option))]
    with open(log, "w") as said:
        process = subprocess.Popen(
            ["ip", "netns", "exec", network.switch, *words],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    deadline = time.monotonic() + READY_S
    while "ready" not in log.read_text() or not counts.exists():
        if process.poll() is not None or time.monotonic() > deadline:
            said_last = log.read_text().strip().splitlines()[-1:] or ["it did not start"]
            raise TestbedError(said_last[0])
        time.sleep(0.02)
    _address(network, network.switch, "br0", 254)
    for host in network.hosts:
        _address(network, network.host(host), "eth0", host)
        _shape(network.host(host), settings.rate)


def _address(network: Network, namespace: str, device: str, number: int) -> None:
    output("ip", "netns", "exec", namespace, "sysctl", "-qw", f"net.ipv6.conf.{device}.disable_ipv6=1")
    link = ("ip", "-n", namespace, "link", "set", device)
    output(*link, "address", ETHERNET, "arp", "off", "txqueuelen", str(TAP_QUEUE))
    output("ip", "-n", namespace, "addr", "add", f"{network.address(number)}/24", "dev", device)
    output(*link, "up")
    keep_order(namespace, device, number)


def _shape(namespace: str, rate: str) -> None:
    """Shapes TCP to the port's rate, so that TCP sees its queue. Packets of class 1:6 leave at once."""
    change = ("tc", "-n", namespace, "qdisc", "add", "dev", "eth0")
    classes = ("tc", "-n", namespace, "class", "add", "dev", "eth0", "parent", "1:", "classid")
    output(*change, "root", "handle", "1:", "htb", "default", "2")
    burst = str(burst_bytes(rate))
    output(*classes, "1:2", "htb", "rate", rate, "burst", burst, "cburst", burst)
    output(*classes, "1:6", "htb", "rate", "100gbit", "burst", "1m", "cburst", "1m")
    for leaf in ("1:2", "1:6"):
        output(*change, "parent", leaf, "pfifo", "limit", str(TAP_QUEUE))


def counts(network: Network, fresh: bool = True) -> dict[str, Any]:
    """Returns the counts of nuice-fabric after it has written them again. Throws TestbedError if it has
    ended."""
    require_alive(network)
    path = _files(network)[0]
    if fresh:
        before, deadline = path.stat().st_mtime_ns, time.monotonic() + 20 * STATUS_S
        while path.stat().st_mtime_ns == before and time.monotonic() < deadline:
            time.sleep(STATUS_S / 5)
    found = json.loads(path.read_text())
    return found | {"lost": found["lost"] + sum(_port_drops(network, host) for host in network.hosts)}


def _port_drops(network: Network, host: int) -> int:
    shown = json.loads(output("ip", "-n", network.host(host), "-s", "-j", "link", "show", "eth0"))[0]
    return int(shown["stats64"]["tx"]["dropped"] + shown["stats64"]["rx"]["dropped"])


def require_alive(network: Network) -> None:
    listed = subprocess.run(["ip", "netns", "pids", network.switch], capture_output=True, text=True).stdout
    if str(json.loads(_files(network)[0].read_text())["pid"]) not in listed.split():
        raise TestbedError(f"{PROGRAM} of this network has ended, and its ports with it: down and up again")


def change(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Returns the difference of two counts, from before and after a run. void: why measurements of the run
    are invalid, or ""."""
    found = {key: after[key] - before[key] for key in ("delivered", "lost", "moving_s", "behind_s", "busy_s")}
    found["void"] = ""
    if found["lost"]:
        found["void"] = f"{found['lost']} packets were lost"
    elif found["behind_s"] > MOST_BEHIND * found["moving_s"]:
        found["void"] = f"{PROGRAM} was too slow for {_behind(found)} of the time"

    return found


def _behind(found: dict[str, Any]) -> str:
    return f"{100 * found['behind_s'] / max(found['moving_s'], 1e-9):.1f} %"


def words(found: dict[str, Any]) -> str:
    text = "{delivered} packets through the fabric, {lost} lost, ".format(**found)
    text += f"behind for {_behind(found)} of the time"
    return text + (f"; VOID: {found['void']}" if found["void"] else "")


def total(found: dict[str, Any]) -> str:
    text = "fabric: {delivered} packets, {lost} lost, {peak_load:.2f} of a core at most, behind for "
    return text.format(**found) + f"{_behind(found)} of the time"


def describe(settings: Settings) -> str:
    return (
        f"{settings.topology}, {settings.flow}, {settings.queueing} inputs of {settings.buffer} packets, "
        f"{settings.switching}, routing by {settings.routing}"
    )


def rdma(network: Network) -> list[str]:
    """Returns the program that emulates the hosts' RDMA cards."""
    if not network.settings.topology:
        raise TestbedError("RDMA needs a fabric that drops nothing: --preset lossless")
    subnet = network.subnet().rpartition(".")[0]
    return [
        _program(RDMA),
        "--prefix",
        network.prefix,
        "--subnet",
        subnet,
        "--topology",
        network.settings.topology,
    ]

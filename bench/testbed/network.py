# SPDX-License-Identifier: BSD-3-Clause
"""Hosts as network namespaces on a shaped bridge: node contention, and link contention, that are real.

    host i   namespace nuice-h<i>, address 10.77.0.<i>, its port shaped to `rate` both ways
    switch   namespace nuice-sw: a bridge; towards each host a queue of `queue` bytes, as in a cheap switch
    fabric   two bridges, half of the hosts on each, joined by a cable of `uplink`: links contend as well

Several senders to one receiver overflow its short queue and TCP retransmits: incast, as on a real
switch. All that is made lives in namespaces, so deleting those leaves nothing behind. Needs root, iproute2
and ethtool.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

SWITCH = "nuice-sw"
STATE = Path("/run/nuice-testbed")
NETWORK = "10.77.0.0/24"
SWITCH_ADDRESS = "10.77.0.254"
MAX_HOSTS = 128
SEND_BUFFER = "4m"  # queue of a host's own outgoing port: the host itself never drops


class TestbedError(Exception):
    """One line that says what is wrong and what to do."""

    __test__ = False  # not a test, whatever pytest thinks of the name


@dataclass(frozen=True)
class Settings:
    """rate, uplink: as tc writes rates, "20mbit". queue: bytes of a switch port's, "32k". cc: TCP congestion
    control. uplink empty: one bridge."""

    hosts: int = 16
    rate: str = "20mbit"
    queue: str = "32k"
    cc: str = "bbr"
    ranks_per_host: int = 1
    uplink: str = ""


PRESETS = {
    "shallow": Settings(),
    "fast": Settings(rate="50mbit"),
    "deep": Settings(queue="256k"),
    "fabric": Settings(uplink="80mbit"),  # 8 hosts of 20 Mbit/s share it: 2:1
    "multi": Settings(hosts=8, ranks_per_host=4),
}


def host_name(host: int) -> str:
    return f"nuice-h{host}"


def host_address(host: int) -> str:
    return f"10.77.0.{host}"


def why_not() -> str:
    """Empty where a network can be made; otherwise the reason, one sentence."""
    if os.geteuid() != 0:
        return "network namespaces need root (run it with sudo)"
    for program in ("ip", "tc", "ethtool", "unshare"):
        if shutil.which(program) is None:
            return f"{program} is missing (Debian packages iproute2, ethtool, util-linux)"
    probe = "nuice-probe"
    made = subprocess.run(["ip", "netns", "add", probe], capture_output=True, text=True)
    if made.returncode:
        return f"network namespaces cannot be made here: {made.stderr.strip()}"
    subprocess.run(["ip", "netns", "del", probe], capture_output=True)
    return ""


def up(settings: Settings) -> None:
    """Makes the network; on any failure, Ctrl-C included, what was made so far is removed again."""
    if reason := why_not():
        raise TestbedError(reason)
    _check(settings)
    if existing := [name for name in _namespaces() if name.startswith("nuice-")]:
        raise TestbedError(f"a test network is up already ({len(existing)} namespaces): nuice-testbed down")
    try:
        STATE.mkdir(parents=True, exist_ok=True)
        _make_switch(settings)
        for host in range(1, settings.hosts + 1):
            _make_host(host, settings)
        _wait_until_connected(settings)
        _write_agent()
        (STATE / "settings.json").write_text(json.dumps(asdict(settings)))
    except BaseException:
        down()
        raise


def down() -> int:
    """Ends what still runs on the hosts and removes all that up() made. The number of namespaces removed."""
    names = [name for name in _namespaces() if name.startswith("nuice-")]
    kill_all(names)
    for name in names:
        subprocess.run(["ip", "netns", "del", name], capture_output=True)
    shutil.rmtree(STATE, ignore_errors=True)
    return len(names)


def kill_all(names: list[str] | None = None) -> None:
    """SIGKILL to every process in the hosts' namespaces (and the switch's)."""
    own = os.getpid()
    for name in names if names is not None else [n for n in _namespaces() if n.startswith("nuice-")]:
        for pid in subprocess.run(
            ["ip", "netns", "pids", name], capture_output=True, text=True
        ).stdout.split():
            if int(pid) != own:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)


def current() -> Settings:
    """The settings of the network that is up. Throws TestbedError if none is."""
    try:
        return Settings(**json.loads((STATE / "settings.json").read_text()))
    except (OSError, ValueError, TypeError):
        raise TestbedError("no test network is up: nuice-testbed up") from None


def set_rate(host: int, rate: str) -> None:
    """Another speed for one host's port, both ways: a slow host."""
    settings = current()
    if not 1 <= host <= settings.hosts:
        raise TestbedError(f"host {host} is not one of 1..{settings.hosts}")
    _shape(host, replace(settings, rate=rate))


def set_switch(is_up: bool) -> None:
    """Takes the bridge down, or up again: a network that fails for a while."""
    current()
    for bridge in ("br0", "br1"):
        subprocess.run(
            ["ip", "-n", SWITCH, "link", "set", bridge, "up" if is_up else "down"], capture_output=True
        )


def counters() -> list[dict[str, int]]:
    """Per host, since the network is up: TCP segments sent and sent again, packets that its port dropped."""
    found = []
    for host in range(1, current().hosts + 1):
        lines = _output("ip", "netns", "exec", host_name(host), "cat", "/proc/net/snmp").splitlines()
        names, values = (line.split()[1:] for line in lines if line.startswith("Tcp:"))
        tcp = dict(zip(names, map(int, values), strict=True))
        port = json.loads(_output("tc", "-n", SWITCH, "-s", "-j", "qdisc", "show", "dev", f"p{host}"))[0]
        found.append(
            {"segments": tcp["OutSegs"], "retransmitted": tcp["RetransSegs"], "dropped": port["drops"]}
        )
    return found


def uplink_dropped() -> int:
    """Packets that the queues of the cable between the two switches dropped, both ways; 0 with one switch."""
    if not current().uplink:
        return 0
    return sum(
        json.loads(_output("tc", "-n", SWITCH, "-s", "-j", "qdisc", "show", "dev", end))[0]["drops"]
        for end in ("up0", "up1")
    )


def _check(settings: Settings) -> None:
    if not 2 <= settings.hosts <= MAX_HOSTS:
        raise TestbedError(f"--hosts {settings.hosts}: 2 to {MAX_HOSTS}")
    if settings.ranks_per_host < 1:
        raise TestbedError(f"--ranks-per-host {settings.ranks_per_host}: at least 1")
    available = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    if settings.cc not in available:
        raise TestbedError(f"--cc {settings.cc}: this kernel has {', '.join(available)}")


def _namespaces() -> list[str]:
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True)
    return [line.split()[0] for line in listed.stdout.splitlines() if line.strip()]


def _output(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise TestbedError(f"{' '.join(command)}: {done.stderr.strip() or f'exit code {done.returncode}'}")
    return done.stdout


def _bridge_of(host: int, settings: Settings) -> str:
    return "br1" if settings.uplink and host > settings.hosts // 2 else "br0"


def _make_switch(settings: Settings) -> None:
    _output("ip", "netns", "add", SWITCH)
    _output("ip", "-n", SWITCH, "link", "set", "lo", "up")
    for bridge in ("br0", "br1") if settings.uplink else ("br0",):
        _output("ip", "-n", SWITCH, "link", "add", bridge, "type", "bridge")
        _output("ip", "-n", SWITCH, "link", "set", bridge, "up")
    _output("ip", "-n", SWITCH, "addr", "add", f"{SWITCH_ADDRESS}/24", "dev", "br0")
    if settings.uplink:
        _output("ip", "-n", SWITCH, "link", "add", "up0", "type", "veth", "peer", "name", "up1")
        for end, bridge in (("up0", "br0"), ("up1", "br1")):
            _output("ip", "-n", SWITCH, "link", "set", end, "master", bridge, "up")
            _packets_as_on_the_wire(SWITCH, end)
            _limit(SWITCH, end, settings.uplink, settings.queue)


def _make_host(host: int, settings: Settings) -> None:
    name, port = host_name(host), f"p{host}"
    _output("ip", "netns", "add", name)
    _output("ip", "-n", SWITCH, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", name)
    _output("ip", "-n", SWITCH, "link", "set", port, "master", _bridge_of(host, settings), "up")
    _output("ip", "-n", name, "addr", "add", f"{host_address(host)}/24", "dev", "eth0")
    _output("ip", "-n", name, "link", "set", "eth0", "up")
    _output("ip", "-n", name, "link", "set", "lo", "up")
    _packets_as_on_the_wire(SWITCH, port)
    _packets_as_on_the_wire(name, "eth0")
    _shape(host, settings)
    key = f"net.ipv4.tcp_congestion_control={settings.cc}"
    _output("ip", "netns", "exec", name, "sysctl", "-qw", key)


def _shape(host: int, settings: Settings) -> None:
    _limit(SWITCH, f"p{host}", settings.rate, settings.queue)
    _limit(host_name(host), "eth0", settings.rate, SEND_BUFFER)


def _limit(namespace: str, device: str, rate: str, queue: str) -> None:
    words = ["root", "tbf", "rate", rate, "burst", "4k", "limit", queue]
    _output("tc", "-n", namespace, "qdisc", "replace", "dev", device, *words)


def _packets_as_on_the_wire(namespace: str, device: str) -> None:
    """Without this a veth pair carries 64 KiB at once, and a queue of 32 KiB would drop every one."""
    _output(
        "ip", "netns", "exec", namespace, "ethtool", "-K", device, "tso", "off", "gso", "off", "gro", "off"
    )


def _wait_until_connected(settings: Settings, patience_s: float = 10.0) -> None:
    """A bridge port forwards nothing before it has learnt its state."""
    deadline = time.monotonic() + patience_s
    while True:
        ports = json.loads(_output("bridge", "-n", SWITCH, "-j", "link", "show"))
        forwarding = sum(port.get("state") == "forwarding" for port in ports)
        if forwarding >= settings.hosts:
            return
        if time.monotonic() > deadline:
            raise TestbedError(f"only {forwarding} of {settings.hosts} switch ports came up")
        time.sleep(0.05)


def _write_agent() -> None:
    """What an MPI's launcher calls in the place of ssh: agent [OPTIONS] ADDRESS COMMAND..."""
    agent = STATE / "agent"
    agent.write_text(
        "#!/bin/bash\n"
        "while [[ $1 == -* ]]; do shift; done\n"
        "host=nuice-h${1##*.}; shift\n"
        # A host name of its own, or the launcher takes all hosts for one.
        'exec ip netns exec "$host" unshare --uts bash -c "hostname $host; $*"\n'
    )
    agent.chmod(0o755)

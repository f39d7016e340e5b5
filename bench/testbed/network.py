# SPDX-License-Identifier: BSD-3-Clause
"""Hosts as network namespaces on a shaped bridge: contention for nodes and links is real.

    host i   namespace nuice-h<i>, address 10.77.0.<i>, its port shaped to `rate` both ways
    switch   namespace nuice-sw: a bridge; towards each host a queue of `queue` bytes, as in a cheap switch
    fabric   two bridges, half of the hosts on each, joined by a cable of `uplink`: links contend as well
    multi2   hosts with two ports, eth0 and eth1, each in a network (10.77, 10.78) and on a bridge of its own
    lossless switches in user space that drop nothing (lossless.py), of any topology

Several senders to one receiver overflow its short queue, and TCP retransmits: incast, as on a real switch.
All parts live in namespaces, so deleting these leaves nothing behind. Needs root, iproute2 and ethtool.

Several networks may be up at once, each with a name. A network with name a has namespaces nuice-a-h<i> and
addresses 10.77.<index>.<i>. A network owns the parts that its state (owned.py) lists, and nothing else is
touched.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NoReturn

import owned
from commands import add_namespace, keep_order, limit, output, packets_as_on_the_wire, send_again_after
from owned import TestbedError
from units import PREFIX, amount, bits_per_s

import lossless

MAX_HOSTS = 128
MAX_NETWORKS = 200  # the third number of an address
MAX_PORTS = 4  # of a host; the second number of an address grows with them
LEAST_QUEUE = 1600  # bytes: one packet, or none ever passes
MOST = 1e15  # bits a second
SEND_BUFFER = "4m"  # a host's own outgoing queue; the host itself never drops


@dataclass(frozen=True)
class Settings:
    """rate, uplink: in tc's notation, "20mbit". queue: bytes of a switch port's queue, "32k". cc: TCP
    congestion control. uplink empty: one bridge. ports_per_host: each port is on its own bridge. rto_min: of
    the hosts' routes, "5ms". topology not empty: a lossless fabric; the members after it apply to such a
    fabric only."""

    hosts: int = 16
    rate: str = "20mbit"
    queue: str = "32k"
    cc: str = "bbr"
    ranks_per_host: int = 1
    uplink: str = ""
    ports_per_host: int = 1
    rto_min: str = ""
    topology: str = ""
    flow: str = "credits"
    buffer: int = 32
    queueing: str = "fifo"
    switching: str = "cut-through"
    routing: str = "table"


PRESETS = {
    "shallow": Settings(),
    "fast": Settings(rate="50mbit"),
    "deep": Settings(queue="256k"),
    "fabric": Settings(uplink="80mbit"),  # 8 hosts of 20 Mbit/s share it: 2:1
    "multi": Settings(hosts=8, ranks_per_host=4),
    "multi2": Settings(hosts=8, ranks_per_host=4, ports_per_host=2),
    "lossless": Settings(topology="crossbar:16"),
    "lossless2": Settings(topology="fattree:4x4/2"),  # 4 hosts on a leaf, 2 spines: 2:1
    "lossless-torus": Settings(topology="torus:4x4"),
}


@dataclass(frozen=True)
class Network:
    """A network that is up or being made. An empty name is the default network."""

    name: str
    index: int
    settings: Settings

    @property
    def prefix(self) -> str:
        return f"nuice-{self.name}-" if self.name else "nuice-"

    @property
    def switch(self) -> str:
        return f"{self.prefix}sw"

    def host(self, number: int) -> str:
        return f"{self.prefix}h{number}"

    @property
    def hosts(self) -> range:
        return range(1, self.settings.hosts + 1)

    @property
    def ports(self) -> range:
        """Returns the ports of a host; port k is its device eth<k>."""
        return range(self.settings.ports_per_host)

    def subnet(self, port: int = 0) -> str:
        return f"10.{77 + port}.{self.index}.0/24"

    def address(self, number: int, port: int = 0) -> str:
        return f"10.{77 + port}.{self.index}.{number}"

    @property
    def state(self) -> Path:
        return owned.folder(self.name)


def why_not() -> str:
    """Returns the reason why no network can be made, in one sentence; empty if it can."""
    if os.geteuid() != 0:
        return "network namespaces need root (run it with sudo, or nuice-testbed once without)"
    if missing := missing_program():
        return missing
    probe = f"nuice-probe-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", probe], capture_output=True, text=True)
    if made.returncode:
        return f"network namespaces cannot be made here: {made.stderr.strip()}"
    used = subprocess.run(["ip", "-n", probe, "link", "set", "lo", "up"], capture_output=True, text=True)
    subprocess.run(["ip", "netns", "del", probe], capture_output=True)
    if used.returncode:  # a root that is not a mount point: mount --bind it onto itself before chroot
        return f"network namespaces cannot be entered here, as in some chroots: {used.stderr.strip()}"
    return ""


def missing_program() -> str:
    for program in ("ip", "tc", "ethtool", "unshare"):
        if shutil.which(program) is None:
            return f"{program} is missing (Debian packages iproute2, ethtool, util-linux)"
    return ""


UNSHARE = ["unshare", "--user", "--map-root-user", "--mount", "--net", "--fork", "--kill-child", "sh", "-c"]
OWN_RUN = "mount -t tmpfs tmpfs /run"
TRIAL = "ip netns add probe && ip -n probe link set lo up"


def require_user_namespace() -> None:
    """Throws TestbedError if networks cannot be made without root."""
    if missing := missing_program():
        raise TestbedError(missing)
    tried = subprocess.run([*UNSHARE, f"{OWN_RUN} && {TRIAL}"], capture_output=True, text=True)
    if tried.returncode:
        said = tried.stderr.strip().splitlines()
        why = said[-1] if said else "unshare failed"
        raise TestbedError(f"not root, and user namespaces are not allowed here: {why}")


def enter_user_namespace(command: list[str]) -> NoReturn:
    """Replaces this process by the command, as root of a user namespace with its own /run.

    Throws the errors of require_user_namespace()."""
    require_user_namespace()
    os.execvp(UNSHARE[0], [*UNSHARE, f'{OWN_RUN} && exec "$@"', "sh", *command])


def up(settings: Settings, name: str = "") -> Network:
    """Makes the network. On any failure, including Ctrl-C, the parts made so far are removed again."""
    check_name(name)
    if reason := why_not():
        raise TestbedError(reason)
    _check(settings)
    with owned.locked(name, alone=True):
        if (before := owned.load(name)) is not None:
            if before.complete:
                raise TestbedError(f"{_called(name)} is up already, {before.owner}: {_command('down', name)}")
            owned.remove(name)  # of a start that was killed
        network = _reserve(name, settings)
        try:
            _make_switch(network)
            for host in network.hosts:
                _make_host(network, host)
            if settings.topology:
                lossless.start(network, bits_per_s(settings.rate))
            else:
                _wait_until_connected(network)
            _write_agent(network)
            owned.complete(name)
        except BaseException:
            owned.remove(name)
            raise
    return network


def down(name: str = "", force: bool = False) -> int:
    """Ends all programs on the hosts, and removes all that up() made. Returns the number of removed
    namespaces.

    Throws TestbedError if a program runs there, unless `force`."""
    check_name(name)
    with owned.locked(name, alone=not force):
        return owned.remove(name)


def current(name: str = "") -> Network:
    """Returns the network that is up. Throws TestbedError if there is none."""
    check_name(name)
    state = owned.load(name)
    if state is None or not state.complete:
        raise TestbedError(f"no test network{f' {name}' if name else ''} is up: {_command('up', name)}")
    return Network(name, state.index, Settings(**state.settings))


def check_name(name: str) -> None:
    if name and not re.fullmatch(r"[a-z0-9]{1,16}", name):
        raise TestbedError(f"--name {name}: up to 16 small letters and digits")


def _called(name: str) -> str:
    return f"test network {name}" if name else "a test network"


def _command(word: str, name: str) -> str:
    return f"nuice-testbed {word}{f' --name {name}' if name else ''}"


def _reserve(name: str, settings: Settings) -> Network:
    """Reserves addresses for a network. None of their names may be in use."""
    with owned.locked_all():
        taken = owned.indices()
        index = next((i for i in range(MAX_NETWORKS) if i not in taken), None)
        if index is None:
            raise TestbedError(f"{MAX_NETWORKS} test networks are up already")
        network = Network(name, index, settings)
        names = [network.switch, *map(network.host, network.hosts)]
        if foreign := [n for n in names if owned.namespace_id(n) is not None]:
            raise TestbedError(
                f"there is a namespace {foreign[0]} that nuice-testbed did not make: another --name"
            )
        owned.begin(name, index, asdict(settings), names)
    return network


def set_rate(network: Network, host: int, rate: str) -> None:
    """Changes the speed of one host's ports in both directions: a slow host."""
    if host not in network.hosts:
        raise TestbedError(f"host {host} is not one of 1..{network.settings.hosts}")
    require_rate("RATE", rate)
    if network.settings.topology:
        raise TestbedError("all ports of a lossless fabric have one rate")
    for port in network.ports:
        _shape(replace(network, settings=replace(network.settings, rate=rate)), host, port)


def set_switch(network: Network, is_up: bool) -> None:
    """Takes the bridges down or up again: a network that fails for a while."""
    if network.settings.topology:
        raise TestbedError("a fabric has no one switch to take down")
    for bridge in _bridges(network.settings):
        subprocess.run(
            ["ip", "-n", network.switch, "link", "set", bridge, "up" if is_up else "down"],
            capture_output=True,
        )


def counters(network: Network) -> list[dict[str, int]]:
    """Returns per host, since the network is up, the TCP segments sent and retransmitted, and the packets
    that its ports dropped."""
    found = []
    for host in network.hosts:
        lines = output("ip", "netns", "exec", network.host(host), "cat", "/proc/net/snmp").splitlines()
        names, values = (line.split()[1:] for line in lines if line.startswith("Tcp:"))
        tcp = dict(zip(names, map(int, values), strict=True))
        ports = [] if network.settings.topology else network.ports
        dropped = sum(_dropped(network.switch, switch_port(host, port)) for port in ports)
        found.append({"segments": tcp["OutSegs"], "retransmitted": tcp["RetransSegs"], "dropped": dropped})
    return found


def _dropped(namespace: str, device: str) -> int:
    """Returns the number of packets that the queue of a device has dropped."""
    return int(
        json.loads(output("tc", "-n", namespace, "-s", "-j", "qdisc", "show", "dev", device))[0]["drops"]
    )


def uplink_dropped(network: Network) -> int:
    """Returns the number of packets that the queues of the cables between switches dropped, in both
    directions; 0 with one switch."""
    ends = ("up0", "up1") if network.settings.uplink else ()
    return sum(_dropped(network.switch, end) for end in ends)


def require_rate(option: str, rate: str) -> None:
    """Throws TestbedError unless tc accepts the rate; 8 bit/s is the smallest rate that it can count."""
    bits = bits_per_s(rate)
    if bits is None or not 8 <= bits < MOST:
        raise TestbedError(f'{option} "{rate}": a rate above 0 as tc writes it, "20mbit"')


def require_queue(queue: str) -> None:
    num_bytes = amount(queue, rf"({PREFIX})(b|bit|)", {"b": 1, "bit": 1 / 8, "": 1}, base=1024)
    if num_bytes is None or not LEAST_QUEUE <= num_bytes < 2**32:
        raise TestbedError(
            f'--queue "{queue}": bytes from {LEAST_QUEUE} on, a packet, as tc writes it, "32k"'
        )


def _check(settings: Settings) -> None:
    if not 2 <= settings.hosts <= MAX_HOSTS:
        raise TestbedError(f"--hosts {settings.hosts}: 2 to {MAX_HOSTS}")
    require_rate("--rate", settings.rate)
    if settings.uplink:
        require_rate("--uplink", settings.uplink)
    require_queue(settings.queue)
    if settings.ranks_per_host < 1:
        raise TestbedError(f"--ranks-per-host {settings.ranks_per_host}: at least 1")
    if not 1 <= settings.ports_per_host <= MAX_PORTS:
        raise TestbedError(f"--ports-per-host {settings.ports_per_host}: 1 to {MAX_PORTS}")
    if settings.ports_per_host > 1 and settings.uplink:
        raise TestbedError("--ports-per-host: only with one switch for each port, not with an uplink")
    if settings.topology:
        lossless.check(settings)
    _require_congestion_control(settings.cc)


def _require_congestion_control(name: str) -> None:
    """Checks the congestion control: in a network namespace the kernel accepts only those that every process
    may use."""

    def known(which: str) -> list[str]:
        return Path(f"/proc/sys/net/ipv4/tcp_{which}_congestion_control").read_text().split()

    if name not in known("available"):
        raise TestbedError(f"--cc {name}: this kernel has {', '.join(known('available'))}")
    if name not in known("allowed"):
        key = f'net.ipv4.tcp_allowed_congestion_control="{" ".join([*known("allowed"), name])}"'
        raise TestbedError(f"--cc {name}: not allowed in network namespaces; as root: sysctl -w {key}")


def switch_port(host: int, port: int = 0) -> str:
    """Returns the device at the switch's end of a host's port; ports.py reads these names."""
    return f"p{host}" if port == 0 else f"p{host}-{port}"


def _bridges(settings: Settings) -> list[str]:
    return [f"br{number}" for number in range(2 if settings.uplink else settings.ports_per_host)]


def _bridge_of(host: int, port: int, settings: Settings) -> str:
    return f"br{int(host > settings.hosts // 2)}" if settings.uplink else f"br{port}"


def _make_switch(network: Network) -> None:
    switch, settings = network.switch, network.settings
    add_namespace(network.name, switch)
    output("ip", "-n", switch, "link", "set", "lo", "up")
    if settings.topology:
        return
    for bridge in _bridges(settings):
        output("ip", "-n", switch, "link", "add", bridge, "type", "bridge")
        output("ip", "-n", switch, "link", "set", bridge, "up")
    output("ip", "-n", switch, "addr", "add", f"{network.address(254)}/24", "dev", "br0")
    if settings.uplink:
        output("ip", "-n", switch, "link", "add", "up0", "type", "veth", "peer", "name", "up1")
        for end, bridge in (("up0", "br0"), ("up1", "br1")):
            output("ip", "-n", switch, "link", "set", end, "master", bridge, "up")
            packets_as_on_the_wire(switch, end)
            keep_order(switch, end, 0)
            limit(switch, end, settings.uplink, settings.queue)


def _make_host(network: Network, host: int) -> None:
    name = network.host(host)
    add_namespace(network.name, name)
    for port in [] if network.settings.topology else network.ports:
        _connect(network, host, port)
    output("ip", "-n", name, "link", "set", "lo", "up")
    # Otherwise a job's connections begin with what earlier jobs' connections found: congestion windows, and
    # how far packets overtake each other, which decides whether a loss costs a round trip or a timeout.
    for key in (f"tcp_congestion_control={network.settings.cc}", "tcp_no_metrics_save=1"):
        output("ip", "netns", "exec", name, "sysctl", "-qw", f"net.ipv4.{key}")


def _connect(network: Network, host: int, port: int) -> None:
    """Connects eth<port> of the host to the switch."""
    name, switch, settings = network.host(host), network.switch, network.settings
    near, far = f"eth{port}", switch_port(host, port)
    output("ip", "-n", switch, "link", "add", far, "type", "veth", "peer", "name", near, "netns", name)
    output("ip", "-n", switch, "link", "set", far, "master", _bridge_of(host, port, settings), "up")
    output("ip", "-n", name, "addr", "add", f"{network.address(host, port)}/24", "dev", near)
    output("ip", "-n", name, "link", "set", near, "up")
    for namespace, device in ((switch, far), (name, near)):
        packets_as_on_the_wire(namespace, device)
        keep_order(namespace, device, host)
    _shape(network, host, port)
    if settings.rto_min:
        send_again_after(name, near, network.subnet(port), settings.rto_min)


def _shape(network: Network, host: int, port: int) -> None:
    settings = network.settings
    limit(network.switch, switch_port(host, port), settings.rate, settings.queue)
    limit(network.host(host), f"eth{port}", settings.rate, SEND_BUFFER)


def _wait_until_connected(network: Network, patience_s: float = 10.0) -> None:
    """Waits, because a bridge port forwards nothing before it has learnt its state."""
    deadline = time.monotonic() + patience_s
    while True:
        ports = json.loads(output("bridge", "-n", network.switch, "-j", "link", "show"))
        forwarding = sum(port.get("state") == "forwarding" for port in ports)
        expected = network.settings.hosts * network.settings.ports_per_host
        if forwarding >= expected:
            return
        if time.monotonic() > deadline:
            raise TestbedError(f"only {forwarding} of {expected} switch ports came up")
        time.sleep(0.05)


def _write_agent(network: Network) -> None:
    """Writes the command that MPI's launcher calls instead of ssh: agent [OPTIONS] ADDRESS COMMAND..."""
    agent = network.state / "agent"
    agent.write_text(
        "#!/bin/bash\n"
        "while [[ $1 == -* ]]; do shift; done\n"
        f"host={network.prefix}h${{1##*.}}; shift\n"
        # Each host needs a host name of its own. Otherwise the launcher would take all hosts for one.
        'exec ip netns exec "$host" unshare --uts bash -c "hostname $host; $*"\n'
    )
    agent.chmod(0o755)

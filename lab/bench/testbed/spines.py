# SPDX-License-Identifier: BSD-3-Clause
"""A fabric of leaf and spine switches that route: several ways between hosts, by ECMP's hash or chosen.

    leaf l    namespace nuice-l<l>: its hosts' ports, and a cable u<s> to every spine, as fast as a port
    spine s   namespace nuice-s<s>: a cable d<l> to every leaf; a message's way is its spine

A leaf spreads TCP connections over the spines by a hash of addresses and ports, as such switches do
(fib_multipath_hash_policy 1). choose() gives pairs of hosts a spine of their own, by a rule in the sender's
leaf. A sender does the same that has an address of the receiver for every way (LMC). Leaves answer for all
hosts (proxy ARP), so hosts need no routes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from network import Network

from commands import add_namespace, limit, output, packets_as_on_the_wire
from owned import TestbedError

TABLES = 100  # of routes over spine 0, and so on
CHOSEN = 1000  # the priority of rules
SYSCTLS = ("ip_forward=1", "fib_multipath_hash_policy=1", "conf.all.rp_filter=0", "conf.default.rp_filter=0")


def leaf(network: Network, number: int) -> str:
    return f"{network.prefix}l{number}"


def spine(network: Network, number: int) -> str:
    return f"{network.prefix}s{number}"


def leaf_of(network: Network, host: int) -> int:
    return (host - 1) // network.settings.leaf_hosts


def leaves(network: Network) -> range:
    return range(-(-network.settings.hosts // network.settings.leaf_hosts))


def spines(network: Network) -> range:
    return range(network.settings.spines)


def namespaces(network: Network) -> list[str]:
    return [leaf(network, n) for n in leaves(network)] + [spine(network, n) for n in spines(network)]


def make(network: Network) -> None:
    """Leaves and spines and their cables; the hosts come later."""
    for namespace in namespaces(network):
        add_namespace(network.name, namespace)
        output("ip", "-n", namespace, "link", "set", "lo", "up")
        for key in SYSCTLS:
            output("ip", "netns", "exec", namespace, "sysctl", "-qw", f"net.ipv4.{key}")
    for high in spines(network):
        for low in leaves(network):
            _lay_cable(network, low, high)
    for low in leaves(network):
        for high in spines(network):
            _route(leaf(network, low), "default", via(low, high, 1), f"u{high}", "table", str(TABLES + high))
        hops = [("nexthop", "via", via(low, high, 1), "dev", f"u{high}") for high in spines(network)]
        output("ip", "-n", leaf(network, low), "route", "add", "default", *sum(hops, ()))
    _connect_launcher(network)


def cable_ends(network: Network) -> list[tuple[str, str]]:
    """(namespace, device)"""
    pairs = [(low, high) for low in leaves(network) for high in spines(network)]
    ups = [(leaf(network, low), f"u{high}") for low, high in pairs]
    return ups + [(spine(network, high), f"d{low}") for low, high in pairs]


def via(low: int, high: int, end: int) -> str:
    """The address of a cable's end: 0 at the leaf, 1 at the spine. Links only."""
    return f"169.254.{high}.{2 * low + end}"


def _lay_cable(network: Network, low: int, high: int) -> None:
    ends = ((leaf(network, low), f"u{high}"), (spine(network, high), f"d{low}"))
    (below, up), (above, down) = ends
    output("ip", "-n", below, "link", "add", up, "type", "veth", "peer", "name", down, "netns", above)
    for number, (namespace, device) in enumerate(ends):
        output("ip", "-n", namespace, "addr", "add", f"{via(low, high, number)}/31", "dev", device)
        output("ip", "-n", namespace, "link", "set", device, "up")
        packets_as_on_the_wire(namespace, device)
        limit(namespace, device, network.settings.rate, network.settings.queue)


def _route(namespace: str, to: str, gateway: str, device: str, *more: str) -> None:
    output("ip", "-n", namespace, "route", "add", to, "via", gateway, "dev", device, *more)


def _connect_launcher(network: Network) -> None:
    """mpiexec's place hangs on spine 0, by a cable that is not shaped."""
    above, address = spine(network, 0), network.address(254)
    output(
        *("ip", "-n", network.switch, "link", "add", "br0", "type", "veth"),
        *("peer", "name", "launcher", "netns", above),
    )
    output("ip", "-n", network.switch, "addr", "add", f"{address}/24", "dev", "br0")
    output("ip", "-n", network.switch, "link", "set", "br0", "up")
    _answer_for_all(above, "launcher")
    output("ip", "-n", above, "route", "add", f"{address}/32", "dev", "launcher")
    for low in leaves(network):
        _route(leaf(network, low), f"{address}/32", via(low, 0, 1), "u0")


def connect_host(network: Network, host: int) -> None:
    """Once its port is there."""
    low = leaf_of(network, host)
    to, port = f"{network.address(host)}/32", f"p{host}"
    _answer_for_all(leaf(network, low), port)
    output("ip", "-n", leaf(network, low), "route", "add", to, "dev", port)
    for high in spines(network):
        _route(spine(network, high), to, via(low, high, 0), f"d{low}")


def _answer_for_all(namespace: str, device: str) -> None:
    output("ip", "-n", namespace, "link", "set", device, "up")
    for key in (f"conf.{device}.proxy_arp=1", f"neigh.{device}.proxy_delay=0"):
        output("ip", "netns", "exec", namespace, "sysctl", "-qw", f"net.ipv4.{key}")


def choose(network: Network, ways: dict[tuple[int, int], int]) -> None:
    """Spines of pairs of hosts (from 1), which replace all chosen earlier; other pairs use the hash."""
    for low in leaves(network):
        shown = output("ip", "-n", leaf(network, low), "rule", "show", "pref", str(CHOSEN))
        for _ in shown.splitlines():
            output("ip", "-n", leaf(network, low), "rule", "del", "pref", str(CHOSEN))
    for (src, dst), high in ways.items():
        if leaf_of(network, src) == leaf_of(network, dst):
            continue
        pair = ("from", network.address(src), "to", network.address(dst))
        output(
            *("ip", "-n", leaf(network, leaf_of(network, src)), "rule", "add", *pair),
            *("lookup", str(TABLES + high), "pref", str(CHOSEN)),
        )


def ways_of(plan: Path, network: Network) -> dict[tuple[int, int], int]:
    """By pair of hosts, of a schedule with a path for every message (docs/reference/formats.md)."""
    ways: dict[tuple[int, int], int] = {}
    per_host = network.settings.ranks_per_host
    try:
        lines = [line.split() for line in plan.read_text().splitlines()]
    except OSError as error:
        raise TestbedError(f"{plan}: {error.strerror}") from None
    for words in lines:
        if len(words) < 4 or not words[2].startswith("@"):
            continue
        try:
            src, dst, path = int(words[0]), int(words[1]), int(words[2][1:])
        except ValueError:
            raise TestbedError(f"{plan}: {' '.join(words[:3])}: no transfer of a schedule") from None
        most = network.settings.spines or path + 1  # of a lossless fabric: nuice-fabric knows
        if max(src, dst) >= network.settings.hosts * per_host or path >= most:
            raise TestbedError(f"{plan}: {' '.join(words[:3])}: this network has no such rank or spine")
        pair = (1 + src // per_host, 1 + dst // per_host)
        if ways.setdefault(pair, path) != path:
            raise TestbedError(f"{plan}: host {pair[0]} sends to host {pair[1]} over two ways")
    if not ways:
        raise TestbedError(f"{plan}: no transfer has a path (nuice plan --scheduler clos_coloring)")
    return ways

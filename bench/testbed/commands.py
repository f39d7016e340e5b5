# SPDX-License-Identifier: BSD-3-Clause
"""The commands that make networks."""

from __future__ import annotations

import os
import subprocess

import owned
from owned import TestbedError
from units import bits_per_s

# A shaper wakes up late if the processors are busy. It keeps the rate only if its bucket holds what is due
# meanwhile. With 4 KB a port of 4 Gbit/s carried 0.3 to 0.5 Gbit/s.
LATE_S = 250e-6
LEAST_BURST = 4000


def output(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise TestbedError(f"{' '.join(command)}: {done.stderr.strip() or f'exit code {done.returncode}'}")
    return done.stdout


def add_namespace(network_name: str, namespace: str) -> None:
    output("ip", "netns", "add", namespace)
    owned.note(network_name, namespace)


def burst_bytes(rate: str) -> int:
    return max(LEAST_BURST, round((bits_per_s(rate) or 0) / 8 * LATE_S))


def limit(namespace: str, device: str, rate: str, queue: str) -> None:
    words = ["root", "tbf", "rate", rate, "burst", str(burst_bytes(rate)), "limit", queue]
    output("tc", "-n", namespace, "qdisc", "replace", "dev", device, *words)


def packets_as_on_the_wire(namespace: str, device: str) -> None:
    """Turns offloads off. A veth pair would otherwise carry 64 KiB at once, and a queue of 32 KiB would drop
    every such packet."""
    output(
        "ip", "netns", "exec", namespace, "ethtool", "-K", device, "tso", "off", "gso", "off", "gro", "off"
    )


def keep_order(namespace: str, device: str, number: int) -> None:
    """Lets one processor handle all packets that the device receives. Otherwise packets overtake each other:
    a veth pair hands each to the processor that sends it at the moment. TCP takes that for losses and
    retransmits; real cards keep the order of a connection. In a user namespace the kernel forbids this
    setting, and packets overtake each other there."""
    mask = 1 << number % min(os.cpu_count() or 1, 32)
    script = f"for queue in /sys/class/net/{device}/queues/rx-*/rps_cpus; do echo {mask:x} > $queue; done"
    subprocess.run(["ip", "netns", "exec", namespace, "sh", "-c", script], capture_output=True, check=False)


def send_again_after(namespace: str, device: str, subnet: str, least: str) -> None:
    """Sets TCP's shortest timeout on a route; the kernel's default is 200 ms."""
    output("ip", "-n", namespace, "route", "change", subnet, "dev", device, "rto_min", least)

# SPDX-License-Identifier: BSD-3-Clause
"""The commands that make networks."""

from __future__ import annotations

import subprocess

import owned
from owned import TestbedError


def output(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise TestbedError(f"{' '.join(command)}: {done.stderr.strip() or f'exit code {done.returncode}'}")
    return done.stdout


def add_namespace(network_name: str, namespace: str) -> None:
    output("ip", "netns", "add", namespace)
    owned.note(network_name, namespace)


def limit(namespace: str, device: str, rate: str, queue: str) -> None:
    words = ["root", "tbf", "rate", rate, "burst", "4k", "limit", queue]
    output("tc", "-n", namespace, "qdisc", "replace", "dev", device, *words)


def packets_as_on_the_wire(namespace: str, device: str) -> None:
    """Turns offloads off. A veth pair would otherwise carry 64 KiB at once, and a queue of 32 KiB would drop
    every such packet."""
    output(
        "ip", "netns", "exec", namespace, "ethtool", "-K", device, "tso", "off", "gso", "off", "gro", "off"
    )


def send_again_after(namespace: str, device: str, subnet: str, least: str) -> None:
    """Sets TCP's shortest timeout on a route; the kernel's default is 200 ms."""
    output("ip", "-n", namespace, "route", "change", subnet, "dev", device, "rto_min", least)

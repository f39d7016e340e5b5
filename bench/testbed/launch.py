# SPDX-License-Identifier: BSD-3-Clause
"""The command line that starts an MPI program on the test network, for Open MPI 4 and 5 and MPICH."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import owned
from network import Network
from owned import TestbedError


@dataclass(frozen=True)
class Launcher:
    path: str
    kind: str  # openmpi4, openmpi5, mpich


def find_launcher(wanted: str) -> Launcher:
    """Finds the launcher. wanted: a path or name of mpiexec; empty: the mpiexec next to this command, or on
    PATH."""
    path = shutil.which(wanted or "mpiexec")
    if path is None:
        raise TestbedError(f"{wanted or 'mpiexec'}: not found")
    shown = subprocess.run([path, "--version"], capture_output=True, text=True)
    text = shown.stdout + shown.stderr
    if re.search(r"HYDRA|MPICH", text):
        return Launcher(path, "mpich")
    if re.search(r"prterun|PRRTE|mpiexec \(Open MPI\) [5-9]|mpirun \(Open MPI\) [5-9]", text):
        return Launcher(path, "openmpi5")
    if "Open MPI" in text or "OpenRTE" in text:
        return Launcher(path, "openmpi4")
    raise TestbedError(f"{path}: neither Open MPI nor MPICH: {text.strip().splitlines()[:1]}")


def command(launcher: Launcher, network: Network, num_ranks: int, program: list[str]) -> list[str]:
    """Returns the command. Ranks are placed on hosts in blocks: host 1 has the first ranks_per_host ranks,
    and so on."""
    settings = network.settings
    per_host = settings.ranks_per_host
    if not 1 <= num_ranks <= settings.hosts * per_host:
        most = settings.hosts * per_host
        raise TestbedError(f"--ranks {num_ranks}: this network has room for 1 to {most}")
    num_hosts = (num_ranks + per_host - 1) // per_host
    hosts = [f"{network.address(1 + i)}:{per_host}" for i in range(num_hosts)]
    build = {"openmpi4": _openmpi4, "openmpi5": _openmpi5, "mpich": _mpich}[launcher.kind]
    words = build(launcher.path, network, ",".join(hosts), num_ranks)
    return ["ip", "netns", "exec", network.switch, *words, *program]


def environment(launcher: Launcher, network: Network, run: str) -> dict[str, str]:
    """Returns the environment. run: the mark by which owned.kill finds the run's processes."""
    scratch = network.state / f"tmp-{run}"
    scratch.mkdir(exist_ok=True)
    # Last, so that the user's own programs are found first.
    path = f"{os.environ.get('PATH', '')}:{Path(launcher.path).parent}"
    return {**os.environ, "TMPDIR": str(scratch), "PATH": path, owned.RUN_VARIABLE: run}


def _openmpi4(path: str, network: Network, hosts: str, num_ranks: int) -> list[str]:
    return [
        *(path, "--allow-run-as-root", "--mca", "plm_rsh_agent", str(network.state / "agent")),
        *("--mca", "plm_rsh_no_tree_spawn", "1", "--mca", "oob_tcp_if_include", network.subnet()),
        *_openmpi_tcp("vader", network),
        *("-H", hosts, "-np", str(num_ranks)),
    ]


def _openmpi5(path: str, network: Network, hosts: str, num_ranks: int) -> list[str]:
    agent = str(network.state / "agent")
    return [
        *(path, "--prtemca", "plm_ssh_agent", agent, "--prtemca", "plm_ssh_no_tree_spawn", "1"),
        # Overrides another mapping in the user's settings.
        *("--map-by", f"ppr:{network.settings.ranks_per_host}:node:oversubscribe"),
        *_openmpi_tcp("sm", network),
        *("-H", hosts, "-np", str(num_ranks)),
    ]


def _openmpi_tcp(shared_memory: str, network: Network) -> list[str]:
    """Selects TCP between hosts over all their ports. shared_memory: the component for ranks of one host,
    which has another name in Open MPI 5."""
    subnets = ",".join(map(network.subnet, network.ports))
    btl = f"tcp,self,{shared_memory}"
    words = ["--mca", "pml", "ob1", "--mca", "btl", btl, "--mca", "btl_tcp_if_include", subnets]
    return [*words, "--mca", "mpi_yield_when_idle", "1"]


def _mpich(path: str, network: Network, hosts: str, num_ranks: int) -> list[str]:
    return [
        *(path, "-launcher", "ssh", "-launcher-exec", str(network.state / "agent"), "-iface", "br0"),
        *("-genv", "FI_PROVIDER", "tcp", "-genv", "FI_TCP_IFACE", "eth0"),  # one port only
        # MPICH on UCX would notice that all "hosts" share memory, and would not use the network.
        *(
            "-genv",
            "UCX_TLS",
            "tcp,self",
            "-genv",
            "UCX_NET_DEVICES",
            ",".join(f"eth{port}" for port in network.ports),
        ),
        *("-genv", "UCX_LOG_LEVEL", "error"),
        *("-hosts", hosts, "-n", str(num_ranks)),
    ]

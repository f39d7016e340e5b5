# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs under SimGrid's SMPI, which simulates every message; all ranks are one process."""

from __future__ import annotations

from pathlib import Path

from .process import ROOT, call

BUILD = ROOT / "build" / "smpi"
# Bandwidth and latency only: no factors fitted to a cluster, no crosstraffic, no overheads of SMPI.
PLAIN = (
    "network/model:CM02",
    "network/crosstraffic:0",
    "network/TCP-gamma:0",
    "smpi/simulate-computation:no",
)
PLAIN += (
    "network/bandwidth-factor:1",
    "network/latency-factor:1",
    "smpi/bw-factor:0:1",
    "smpi/lat-factor:0:1",
)
PLAIN += ("smpi/os:0:0:0", "smpi/or:0:0:0", "smpi/ois:0:0:0")
# SMPI charges 100 us for every poll, and more for each that finds nothing, so that programs that poll are
# simulated faster; nonblocking consensus with 1,024 ranks then takes 7 s.
LOOKS = ("smpi/iprobe:1e-6", "smpi/test:1e-6", "smpi/grow-injected-times:no")
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="h" suffix="" radical="0-{last}" speed="1Gf" bw="{rate}Bps" lat="{latency}s"
           sharing_policy="SPLITDUPLEX"/>
</platform>
"""


def smpirun(
    folder: Path, ranks: int, hosts: int, bytes_per_s: float, latency_s: float, settings: tuple[str, ...]
) -> list[str]:
    """Returns the command to run in this folder. Ranks are assigned to hosts round robin; a message crosses
    two links with half of the latency each."""
    platform = PLATFORM.format(last=hosts - 1, rate=bytes_per_s, latency=latency_s / 2)
    (folder / "platform.xml").write_text(platform)
    (folder / "hosts").write_text("".join(f"h{host}\n" for host in range(hosts)))
    command = ["smpirun", "-np", str(ranks), "-platform", "platform.xml", "-hostfile", "hosts"]
    return [*command, *(f"--cfg={setting}" for setting in settings)]


def build(folder: Path, *targets: str) -> None:
    """Builds targets of this tree with SimGrid's compiler, incrementally. Raises Failed."""
    configure = ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
    configure += ["-DCMAKE_CXX_COMPILER=smpicxx", "-DNUICE_BUILD_MPI=ON", "-DNUICE_BUILD_TOOLS=ON"]
    call([*configure, "-DNUICE_BUILD_AM=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_ucx=ON"], timeout_s=3600)
    call(["cmake", "--build", folder, "--target", *targets], timeout_s=3600)

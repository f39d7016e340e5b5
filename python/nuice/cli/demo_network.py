# SPDX-License-Identifier: BSD-3-Clause
"""The second part of nuice demo: the same exchange between emulated hosts, by untuned MPI, by MPI with two
settings, and by NUICE.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import _core
from .._core import CommMatrix
from ..errors import Error
from . import output
from .bench import find_program, run_bench

MPI_METHODS = ("alltoallv", "neighbor", "isend", "persistent")
METHODS = (*MPI_METHODS, "auto")
RATE_BYTES_PER_S = 50_000_000 // 8
# Settings that an administrator would try first: small receive buffers, no rendezvous (docs/will-it-help.md).
SETTINGS = {
    "OMPI_MCA_btl_tcp_rcvbuf": "4096",
    "OMPI_MCA_btl_tcp_eager_limit": "1048576",
    "OMPI_MCA_btl_tcp_rndv_eager_limit": "1048576",
    "OMPI_MCA_btl_tcp_max_send_size": "2097152",
}
NETWORK = ("--rate", "50mbit", "--queue", "32k")  # rate of a port, queue of the switch in front of it
# Rounds that are not counted, because windows are still tuned.
# A round has two exchanges of each method; the first lets the network settle.
LEARNING = 7
TIMEOUT_S = 150
MAX_HOSTS = 16  # with more hosts the cores of this machine are the bottleneck


def why_not(parts: int) -> str:
    """Returns why the network cannot be made; empty if it can."""
    if parts > MAX_HOSTS:
        return f"{parts} hosts are more than this machine can emulate; the limit is {MAX_HOSTS}"
    try:
        words = [find_program("nuice-testbed"), "check"]
    except Error as error:
        return str(error)
    done = subprocess.run(words, capture_output=True, text=True)
    return done.stderr.strip().removeprefix("nuice-testbed: ") if done.returncode else ""


def network_matrix(halo: CommMatrix, scale: int) -> CommMatrix:
    """Returns a matrix with the same partners and messages `scale` times as long."""
    src, dst, size = halo.entries()
    return CommMatrix.from_arrays(halo.num_ranks, src, dst, size * scale)


def exchange_on_hosts(matrix: CommMatrix, reps: int, out: Path) -> dict[str, Any]:
    """Runs all METHODS alternately on a network with one host per rank, and then MPI's own methods with
    SETTINGS. Writes network.mtx and network.json to the folder `out`.

    Raises Error with code "mpi" if the run fails.
    """
    _core.save_matrix_market(out / "network.mtx", matrix, "nuice demo: what is exchanged between hosts")
    with tempfile.TemporaryDirectory() as folder:
        ports, counters = Path(folder) / "ports.json", Path(folder) / "counters.json"
        once = [find_program("nuice-testbed"), "once", "--hosts", str(matrix.num_ranks), *NETWORK]
        once += ["--mpiexec", find_program("mpiexec"), "--timeout", str(TIMEOUT_S)]
        start = [*once, "--ports", str(ports), "--counters", str(counters)]
        more = ["--settle", "1", "--warmup", str(LEARNING)]
        records = run_bench(matrix.num_ranks, out / "network.mtx", METHODS, reps, start=start, more=more)
        seen, counts = json.loads(ports.read_text()), json.loads(counters.read_text())
    tuned = _with_settings(once, matrix.num_ranks, out / "network.mtx", reps)
    result = summarize(records, matrix, seen, tuned)
    result["dropped"] = sum(host["dropped"] for host in counts["hosts"])
    (out / "network.json").write_text(json.dumps({**result, "ports": seen}) + "\n", encoding="utf-8")
    return {**result, "ports": seen}


def _with_settings(once: Sequence[str], num_ranks: int, matrix: Path, reps: int) -> list[dict[str, Any]]:
    """Runs MPI's own methods with SETTINGS; returns an empty list if this MPI does not have these
    settings.
    """
    start = [*once, "env", *(f"{name}={value}" for name, value in SETTINGS.items())]
    more = ["--settle", "1", "--warmup", "2"]
    records = run_bench(num_ranks, matrix, MPI_METHODS, reps, start=start, more=more)
    known = not set(SETTINGS) & set(records[0]["mpi_settings"]["unknown"])
    is_open_mpi = "Open MPI" in records[0]["mpi_library"]
    return [record for record in records if not record["refused"]] if known and is_open_mpi else []


def summarize(
    records: Sequence[dict[str, Any]],
    matrix: CommMatrix,
    ports: dict[str, Any],
    with_settings: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """Returns the data of the pictures and of the closing text: times in seconds, and TCP segments per
    exchange."""
    bound_s = _core.lower_bounds(matrix).max_port_bytes / RATE_BYTES_PER_S
    methods = [_method(record, ports) for record in records if not record["refused"]]
    best = min((m for m in methods if m["mpi"]), key=lambda m: m["median_s"])
    auto = next(m for m in methods if not m["mpi"])
    tuned = min(with_settings, key=lambda r: r["exchange_seconds_median"], default=None)
    tuned_s = tuned["exchange_seconds_median"] if tuned else None
    return {
        "hosts": matrix.num_ranks,
        "rate_bytes_per_s": RATE_BYTES_PER_S,
        "bound_s": bound_s,
        "methods": methods,
        "best_mpi": best["method"],
        "chosen": auto["choice"],
        "times_faster": best["median_s"] / auto["median_s"],
        "tuned": {
            "settings": SETTINGS,
            "method": tuned["method"],
            "median_s": tuned_s,
            "times_faster": tuned_s / auto["median_s"],
        }
        if tuned
        else None,
        "verified": all(m["verified"] for m in methods),
    }


def _method(record: dict[str, Any], ports: dict[str, Any]) -> dict[str, Any]:
    warmup = record["warmup"]
    times, begins = record["exchange_seconds_all"][warmup:], record["exchange_begins_all"][warmup:]
    median = statistics.median(times)
    typical = min(range(len(times)), key=lambda i: abs(times[i] - median))
    lane = {"begin_s": begins[typical], "seconds": times[typical]}
    return {
        "method": record["method"],
        "mpi": record["scheduler"] is None,
        "choice": record.get("choice"),
        "times_s": times,
        "median_s": median,
        "sent_again": record["tcp_segments_sent_again"],
        "typical": lane,  # the repetition for the picture
        "busiest_port_share": busiest_share(lane, ports),
        "verified": record["verified"],
    }


def busiest_share(lane: dict[str, float], ports: dict[str, Any]) -> float:
    """Returns the time that the busiest port needs at full speed, divided by the time of an exchange."""
    end_s = lane["begin_s"] + lane["seconds"]
    inside = [
        row for at, row in zip(ports["at_s"], ports["bytes"], strict=True) if lane["begin_s"] <= at <= end_s
    ]
    if len(inside) < 2:
        return 0.0
    most = max(last - first for first, last in zip(inside[0], inside[-1], strict=True))
    return min(1.0, most / RATE_BYTES_PER_S / lane["seconds"])


def closing_words(network: dict[str, Any], num_cores: int) -> list[str]:
    """Returns how much was gained, why, and what to try next."""
    best = next(m for m in network["methods"] if m["method"] == network["best_mpi"])
    auto = next(m for m in network["methods"] if not m["mpi"])
    factor = network["times_faster"]
    text = output.time_text
    words = [
        f"Between {network['hosts']} emulated hosts with ports of 50 Mbit/s, nuice's auto ({auto['choice']}) "
        f"takes {text(auto['median_s'])}. The best method of MPI as installed ({best['method']}) takes "
        f"{text(best['median_s'])}: auto is {factor:.2f} times as fast. "
        f"The ports' speed allows {text(network['bound_s'])}."
    ]
    if tuned := network.get("tuned"):
        words.append(
            "The same MPI with small receive buffers (btl_tcp_rcvbuf=4096) and large eager limits (1 MiB) "
            f"takes {text(tuned['median_s'])} ({tuned['method']}): auto is {tuned['times_faster']:.2f} times "
            "as fast. If you can set these, try them first."
        )
    if best["sent_again"] is not None and auto["sent_again"] is not None:
        words.append(
            "Why: several senders at once overflow the switch's queue in front of a port. "
            f"With {best['method']} {best['sent_again']:.0f} packets an exchange were retransmitted, "
            f"with auto {auto['sent_again']:.0f}, as receivers limit the data in flight to what a port takes."
        )
    if num_cores < 4:
        words.append(f"({num_cores} cores emulate all hosts, so the factor is approximate.)")
    return [
        *words,
        "On your cluster: nuice run --record DIR -- mpiexec -n N your_program    (its matrices)",
        "                 nuice record merge DIR",
        "                 mpiexec -n N nuice-bench --matrix DIR/exchange-00.mtx --schedulers auto,isend",
        "docs/will-it-help.md: MPI's socket settings, how to read results, and where nothing is gained.",
    ]

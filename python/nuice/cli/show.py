# SPDX-License-Identifier: BSD-3-Clause
"""nuice show: the figures of a communication matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import typer

from .. import _core
from .._core import NO_LINK, NO_RANK, Busiest, CommMatrix, Topology
from . import output
from .options import AsJson, MatrixFile, Plot, TopologySpec

HISTOGRAM_WIDTH = 40
MAX_HISTOGRAM_ROWS = 10


def show(file: MatrixFile, topology: TopologySpec = None, plot: Plot = None, as_json: AsJson = False) -> None:
    """Show size, degrees, message sizes and lower bounds of a matrix, and where the bounds are reached.

    With --topology also what its routes cost: the busiest link beside the busiest port, and --plot draws the
    network with what the exchange puts on its links in place of the matrix.
    """
    matrix = _core.load_matrix_market(file)
    result = {"file": str(file), **matrix_figures(matrix), "plot": str(plot) if plot else None}
    network = _core.make_topology(topology) if topology else None
    if network:
        result["topology"] = topology
        result |= link_figures(matrix, network)
    if plot:
        from ..plots import draw_fabric, draw_matrix, save_figure

        draws_links = network is not None and network.num_links > 0
        figure = draw_fabric(matrix, network, file.name) if draws_links else draw_matrix(matrix, file.name)
        save_figure(figure, plot)
    output.report(as_json, result, lambda console: _show(console, matrix, result))


def matrix_figures(matrix: CommMatrix) -> dict[str, Any]:
    bounds = _core.lower_bounds(matrix)
    self_bytes = matrix.self_bytes
    pairs = matrix.num_ranks * (matrix.num_ranks - 1)
    return {
        "ranks": matrix.num_ranks,
        "messages": matrix.num_messages,
        "density": matrix.num_messages / pairs if pairs else 0.0,
        "self_messages": int(np.count_nonzero(self_bytes)),
        "self_bytes": sum(self_bytes.tolist()),
        "total_bytes": bounds.total_bytes,
        "send_degree": _spread(np.bincount(matrix.src, minlength=matrix.num_ranks)),
        "receive_degree": _spread(np.bincount(matrix.dst, minlength=matrix.num_ranks)),
        "message_bytes": _spread(matrix.bytes),
        "max_degree": bounds.max_degree,
        "max_degree_at": _place(bounds.max_degree_at),
        "bound_bytes": bounds.max_port_bytes,
        "bound_bytes_at": _place(bounds.max_port_bytes_at),
        "whole_message_bytes": _core.whole_message_bytes(matrix),
        "fingerprint": f"{matrix.fingerprint:016x}",
    }


def link_figures(matrix: CommMatrix, network: Topology) -> dict[str, Any]:
    """The busiest link, as routes are, and how much busier it is than the busiest port."""
    links = _core.link_bounds(matrix, network)
    port_bytes = _core.lower_bounds(matrix).max_port_bytes
    if links.bytes_at == NO_LINK:
        return {"link_bytes": 0, "link_bytes_at": None, "link_to_port": 0.0}
    link = network.link(links.bytes_at)
    return {
        "link_bytes": links.bytes,
        "link_bytes_at": f"{network.vertex_name(link.src)} -> {network.vertex_name(link.dst)}",
        "link_to_port": links.bytes / port_bytes if port_bytes else 0.0,
        "link_phases": links.phases,
        **_on_chosen_paths(matrix, network),
    }


def _on_chosen_paths(matrix: CommMatrix, network: Topology) -> dict[str, Any]:
    """The fewest phases of the schedulers that choose paths; None where the network has no choice."""
    ends = zip(matrix.src.tolist(), matrix.dst.tolist(), strict=True)
    has_choice = any(network.num_paths(src, dst) > 1 for src, dst in ends)
    phases = {
        row.name: _core.make_schedule(matrix, row.name, topology=network)[0].num_phases
        for row in _core.schedulers()
        if has_choice and row.chooses_paths and not row.why_not(matrix, topology=network)
    }
    best = min(phases, key=phases.__getitem__) if phases else None
    return {"chosen_paths_phases": phases.get(best), "chosen_paths_scheduler": best}


def _spread(values: Any) -> dict[str, float]:
    if not len(values):
        return {"min": 0, "avg": 0.0, "max": 0}
    return {"min": int(values.min()), "avg": float(values.mean()), "max": int(values.max())}


def _place(busiest: Busiest) -> dict[str, Any] | None:
    if busiest.rank == NO_RANK:
        return None
    return {"rank": busiest.rank, "direction": busiest.direction}


def _show(console: Any, matrix: CommMatrix, result: dict[str, Any]) -> None:
    def spread(name: str) -> str:
        return "min {min}, average {avg:.1f}, max {max}".format(**result[name])

    def at(name: str) -> str:
        place = result[name]
        return f"  (rank {place['rank']}, {place['direction']})" if place else ""

    own = f"{result['self_messages']} ranks to themselves, {output.size_text(result['self_bytes'])}"
    lines = {
        "ranks": str(result["ranks"]),
        "messages": f"{result['messages']}  ({100 * result['density']:.3g} % of all pairs)",
        "self-messages": own if result["self_messages"] else "none",
        "bytes": f"{result['total_bytes']}  ({output.size_text(result['total_bytes'])})",
        "messages sent": spread("send_degree"),
        "messages received": spread("receive_degree"),
        "message size": spread("message_bytes"),
        "least phases": f"{result['max_degree']}{at('max_degree_at')}",
        "least phase bytes": f"{result['bound_bytes']}{at('bound_bytes_at')}",
        "if none is split": str(result["whole_message_bytes"]),
        "fingerprint": result["fingerprint"],
    }
    if result.get("link_bytes_at"):
        lines["busiest link"] = (
            f"{result['link_bytes']} bytes per slot  ({result['link_bytes_at']}), "
            f"{result['link_to_port']:.2f} times the busiest port"
        )
        lines["link-free"] = f"{result['link_phases']} phases at least on its routes"
        if result["chosen_paths_phases"]:
            lines["link-free"] += (
                f"; {result['chosen_paths_phases']} with chosen paths ({result['chosen_paths_scheduler']})"
            )
    elif "topology" in result:
        lines["busiest link"] = "none: no route has links"
    if result["plot"]:
        lines["picture"] = result["plot"]
    console.print(result["file"])
    console.print(output.pairs(lines))
    if matrix.num_messages:
        console.print(output.table(("message size", "messages", ""), _histogram(matrix.bytes), left=3))


def _histogram(sizes: Any) -> list[tuple[str, str, str]]:
    low, high = int(sizes.min()), int(sizes.max())
    if low == high:
        return [(output.size_text(low), str(len(sizes)), "#" * HISTOGRAM_WIDTH)]
    rows = min(MAX_HISTOGRAM_ROWS, high - low + 1)
    counts, edges = np.histogram(sizes, bins=rows)
    bars = np.ceil(counts / counts.max() * HISTOGRAM_WIDTH).astype(int)
    return [
        (f"{output.size_text(edges[i])} to {output.size_text(edges[i + 1])}", str(counts[i]), "#" * bars[i])
        for i in range(rows)
    ]


def register(app: typer.Typer) -> None:
    app.command(
        "show", epilog="nuice show halo.mtx --plot halo.png\n\nnuice show halo.mtx --topology ib:fabric"
    )(show)

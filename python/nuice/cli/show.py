# SPDX-License-Identifier: BSD-3-Clause
"""nuice show: the statistics of a communication matrix."""

from __future__ import annotations

from typing import Any

import typer

from .. import _core
from .._core import NO_LINK, CommMatrix, Topology
from . import output
from .options import AsJson, MatrixFile, Plot, TopologySpec

HISTOGRAM_WIDTH = 40
MOST_HUBS = 5


def show(file: MatrixFile, topology: TopologySpec = None, plot: Plot = None, as_json: AsJson = False) -> None:
    """Show size, degrees, message sizes and lower bounds of a matrix, and the ranks that reach the bounds.

    With --topology, the busiest link and the busiest port are shown too, and --plot draws the load of the
    network's links instead of the matrix.
    """
    from ..matrix_figures import matrix_figures

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


def link_figures(matrix: CommMatrix, network: Topology) -> dict[str, Any]:
    """Returns the busiest link if messages take the network's own routes, and its load divided by the load of
    the busiest port."""
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
        "chosen_paths_phases": _phases_on_chosen_paths(matrix, network),
    }


def _phases_on_chosen_paths(matrix: CommMatrix, network: Topology) -> int | None:
    """Returns the number of phases if the scheduler chooses paths; None if the network has only one path for
    every message."""
    ends = zip(matrix.src.tolist(), matrix.dst.tolist(), strict=True)
    if all(network.num_paths(src, dst) == 1 for src, dst in ends):
        return None
    return _core.make_schedule(matrix, "path_coloring", topology=network)[0].num_phases


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
        "partners": spread("partners") + f", median {result['partners']['median']:g}",
        "hubs": _hubs(matrix, result["hubs"]),
        "symmetry": "the same bytes both ways"
        if result["symmetric"]
        else f"{result['two_way_share']:.0%} of the messages have one the other way",
        "distance": f"{result['bandwidth']} ranks at most; {result['bytes_within_16']:.0%} of the bytes go "
        "no farther than 16",
        "message size": f"{spread('message_bytes')}, median {_median(matrix.bytes)}",
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
            lines["link-free"] += f"; {result['chosen_paths_phases']} with chosen paths (path_coloring)"
    elif "topology" in result:
        lines["busiest link"] = "none: no route has links"
    if result["plot"]:
        lines["picture"] = result["plot"]
    console.print(result["file"])
    console.print(output.pairs(lines))
    if matrix.num_messages:
        columns = ("message size", "messages", "of them", "of the bytes", "")
        console.print(output.table(columns, _histogram(result["size_classes"]), left=5))


def _median(sizes: Any) -> str:
    import numpy as np

    return output.size_text(float(np.median(sizes))) if len(sizes) else "0"


def _hubs(matrix: CommMatrix, hubs: list[int]) -> str:
    """Returns the ranks with many partners, and the median size of their messages, which is tiny for
    hand-written reductions.
    """
    from ..matrix_figures import MANY_PARTNERS

    if not hubs:
        return f"none: no rank has more than {MANY_PARTNERS} times the median number of partners"
    src, dst, sizes = matrix.src, matrix.dst, matrix.bytes
    named = [
        f"rank {rank} (median {_median(sizes[(src == rank) | (dst == rank)])})" for rank in hubs[:MOST_HUBS]
    ]
    return ", ".join(named) + (f" and {len(hubs) - MOST_HUBS} more" if len(hubs) > MOST_HUBS else "")


def _histogram(classes: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    """Draws a histogram, in which a bar is the share of the bytes."""
    return [
        (
            f"{output.size_text(row['from_bytes'])} to {output.size_text(row['to_bytes'])}",
            str(row["messages"]),
            f"{row['message_share']:.1%}",
            f"{row['byte_share']:.1%}",
            "#" * round(HISTOGRAM_WIDTH * row["byte_share"]),
        )
        for row in classes
    ]


def register(app: typer.Typer) -> None:
    app.command(
        "show", epilog="nuice show halo.mtx --plot halo.png\n\nnuice show halo.mtx --topology ib:fabric"
    )(show)

# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of meshes, matrices, plans and measurements. Every function returns a matplotlib Figure.

    save_figure(draw_matrix(matrix), "halo.png")

Neither a display nor pyplot is used, so the state of a program that draws with matplotlib itself does not
change.
"""

from .fabric import draw_fabric
from .flows import draw_flow
from .network import draw_network
from .patterns import draw_matrix, draw_mesh
from .plans import draw_comparison, draw_timeline
from .regions import draw_regions
from .runs import draw_runs
from .style import save_figure
from .times import draw_times
from .traces import draw_trace

__all__ = [
    "draw_comparison",
    "draw_fabric",
    "draw_flow",
    "draw_matrix",
    "draw_mesh",
    "draw_network",
    "draw_regions",
    "draw_runs",
    "draw_timeline",
    "draw_times",
    "draw_trace",
    "save_figure",
]

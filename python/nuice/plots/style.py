# SPDX-License-Identifier: BSD-3-Clause
"""The common parts of all pictures: colours, units, and writing to a file."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from ..files import OutputFiles

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito (2008): distinguishable with every common kind of colour blindness. Darkest last.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#555555")
OURS, THEIRS = COLOURS[0], COLOURS[1]
REFERENCE_LINE = "#D55E00"


def new_figure(width_inches: float, height_inches: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(width_inches, height_inches), layout="constrained")


def save_figure(figure: Figure, path: str | PathLike[str]) -> None:
    """Writes PNG, PDF or SVG, depending on the file extension. The file appears complete or not at all."""
    with OutputFiles() as out:
        figure.savefig(out.picture(path), dpi=130)


def rank_colours(count: int) -> list[Any]:
    """Returns one colour per rank. Up to eight ranks have distinct named colours; more ranks get colours
    along a colour map, in rank order.
    """
    if count <= len(COLOURS):
        return list(COLOURS[:count])
    from matplotlib import colormaps

    return [colormaps["cividis"](i / (count - 1)) for i in range(count)]


def explain_rank_colours(figure: Figure, panels: Any, num_ranks: int) -> None:
    """Explains, next to the panels, which colour is which receiving rank."""
    if num_ranks <= len(COLOURS):
        from matplotlib.patches import Patch

        handles = [Patch(color=c, label=str(r)) for r, c in enumerate(rank_colours(num_ranks))]
        figure.legend(handles=handles, loc="outside right center", title="to rank")
    else:
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize

        scale = ScalarMappable(Normalize(0, num_ranks - 1), "cividis")
        figure.colorbar(scale, ax=list(panels), label="receiving rank", fraction=0.02, pad=0.01)


def text_colour_on(colour: Any) -> str:
    from matplotlib.colors import to_rgb

    red, green, blue = to_rgb(colour)
    return "black" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "white"


def byte_unit(largest: float) -> tuple[float, str]:
    """Returns (divisor, name) of a unit in which the largest value is easy to read."""
    for name in ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if largest < 10240 or name == "PiB":
            break
        largest /= 1024
    return 1024.0 ** ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB").index(name), name


def time_unit(largest_s: float) -> tuple[float, str]:
    for factor, name in ((1e9, "ns"), (1e6, "µs"), (1e3, "ms")):
        if largest_s * factor < 1000:
            return factor, name
    return 1.0, "s"


def three_digits(value: float) -> str:
    """Returns at least three significant digits, without an exponent."""
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"

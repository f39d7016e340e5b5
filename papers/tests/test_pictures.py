# SPDX-License-Identifier: BSD-3-Clause
"""nuice apps: pictures of lattices, schemes and mazes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from nuice.cli import main
from nuice.plots import save_figure
from nuice_papers.draw_maze import draw_maze
from nuice_papers.draw_schemes import draw_lattice, draw_schemes


def draw(figure, folder: Path) -> None:
    save_figure(figure, folder / "drawn.png")
    assert (folder / "drawn.png").stat().st_size > 1000


def test_schemes_and_lattices_are_drawn(tmp_path: Path) -> None:
    result = {"scheme": "AM-C-O", "sync": "local", "width": 4, "scale_ms": 2.0, "speedup": 0.5}
    late = {"scheme": "SSR-C-NO", "sync": None, "width": 1, "scale_milliseconds": 3.0, "speed_up": 0.3}
    report = {"ranks": 2, "sequential": {"scale_ms": 1.0}, "results": [result, {**result, "width": 1}, late]}
    figure = draw_schemes(report)
    assert [line.get_label() for line in figure.axes[0].lines] == ["AM-C-O local", "SSR-C-NO ", "sequential"]
    assert list(figure.axes[1].lines[0].get_xdata()) == [1, 4]
    draw(figure, tmp_path)
    lattice = {"size": 2, "beta": 0.44, "rows": ["03", "10"]}
    draw(draw_lattice(lattice), tmp_path)
    (tmp_path / "lattice.json").write_text(json.dumps(lattice))
    assert main(["apps", "plot", str(tmp_path / "lattice.json"), "-o", str(tmp_path / "p.svg")]) == 0
    (tmp_path / "lattice.json").write_text("{}")
    assert main(["apps", "plot", str(tmp_path / "lattice.json"), "-o", str(tmp_path / "q.svg")]) == 2
    assert not (tmp_path / "q.svg").exists()


def test_mazes_are_drawn(tmp_path: Path) -> None:
    grid, levels = tmp_path / "g.txt", tmp_path / "d.i32"
    grid.write_text("..#\n+++\n")
    np.array([1, 2, -1, 0, 1, 2], dtype=np.int32).tofile(levels)
    figure = draw_maze(grid, levels)
    assert figure.axes[0].get_title() == "2 x 3, 17% walls, 3 cells on paths"
    draw(figure, tmp_path)
    command = ["apps", "maze", str(grid), "--distances", str(levels), "-o"]
    assert main([*command, str(tmp_path / "m.svg")]) == 0
    for text in ("..\n...\n", "..x\n...\n", "..\n"):
        grid.write_text(text)
        assert main([*command, str(tmp_path / "n.svg")]) == 2
    assert not (tmp_path / "n.svg").exists()

# SPDX-License-Identifier: BSD-3-Clause
"""nuice-lee compared with SciPy's breadth-first search: thousands of small mazes, few processes."""

import os

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from program import ProgramTest, main

EVERY_SCHEME = ["SSR-C-NO", "AMP-C-NO", "ASR-C-O", "AM-NC-O", "ST-NC-O", "AM-C-O"]
STEP = {"N": (-1, 0), "W": (0, -1), "S": (1, 0), "E": (0, 1)}


def mix64(x: np.ndarray) -> np.ndarray:
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def hash_of(distances: np.ndarray) -> str:
    """Of all cells with a distance, as papers/docs/lee.md defines it."""
    ids = np.flatnonzero(distances.ravel() >= 0).astype(np.uint64)
    keys = ids * np.uint64(0x9E3779B97F4A7C15) ^ mix64(distances.ravel()[ids].astype(np.uint64))
    return f"{int(mix64(keys).sum(dtype=np.uint64)):016x}"


def distances_from(walls: np.ndarray, source: tuple[int, int]) -> np.ndarray:
    """-1 where a cell cannot be reached."""
    ids = np.arange(walls.size).reshape(walls.shape)
    across = ~walls[:, :-1] & ~walls[:, 1:]
    down = ~walls[:-1] & ~walls[1:]
    a = np.concatenate([ids[:, :-1][across], ids[:-1][down]])
    b = np.concatenate([ids[:, 1:][across], ids[1:][down]])
    graph = coo_array((np.ones(a.size), (a, b)), shape=(walls.size, walls.size)).tocsr()
    start = int(ids[tuple(source)])
    found = dijkstra(graph, directed=False, indices=start, unweighted=True)
    return np.where(np.isfinite(found), found, -1).astype(np.int32).reshape(walls.shape)


class Maze:
    def __init__(self, walls: np.ndarray, nets: list[tuple[int, ...]]):
        self.walls, self.nets = walls, nets

    def text(self) -> str:
        rows = ["".join(".#"[int(wall)] for wall in row) for row in self.walls]
        return "\n".join(rows + ["net " + " ".join(map(str, net)) for net in self.nets]) + "\n"


def random_maze(rng: np.random.Generator) -> Maze:
    rows, columns = int(rng.integers(1, 20)), int(rng.integers(8, 28))
    walls = rng.random((rows, columns)) < rng.choice([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    if rng.random() < 0.3:  # walls along the borders of stripes, with few holes
        walls[:, :: int(rng.integers(2, 6))] |= rng.random((rows, 1)) < 0.9
    free = np.argwhere(~walls)
    if len(free) == 0:
        return random_maze(rng)
    nets = []
    for _ in range(int(rng.integers(1, 5))):
        source, target = free[rng.integers(len(free), size=2)].tolist()
        kind = rng.random()
        nets.append((*source, *(source if kind < 0.1 else [] if kind < 0.2 else target)))
    return Maze(walls, nets)


class Routes(ProgramTest):
    def assert_right(self, maze: Maze, nets: list[dict]) -> np.ndarray:
        """Returns the maze with the paths blocked."""
        blocked = maze.walls.copy()
        for ends, net in zip(maze.nets, nets, strict=True):
            source, target = ends[:2], ends[2:]
            if blocked[source] or (target and blocked[target]):
                self.assertEqual(net["status"], "blocked")
                continue
            distances = distances_from(blocked, source)
            reached = bool(target) and distances[target] >= 0
            self.assertEqual(net["status"], "routed" if reached else "unreachable" if target else "flooded")
            if reached:
                distances[distances > distances[target]] = -1
                self.assertEqual(net["length"], distances[target])
                self.walk(blocked, source, target, net["path"])
            self.assertEqual(net["visited"], (distances >= 0).sum())
            self.assertEqual(net["levels"], distances.max() + 1)
            self.assertEqual(net["hash"], hash_of(distances))
        return blocked

    def walk(self, blocked: np.ndarray, source: tuple, target: tuple, path: str) -> None:
        cells = [source]
        for letter in path:
            cells.append((cells[-1][0] + STEP[letter][0], cells[-1][1] + STEP[letter][1]))
        self.assertEqual(cells[-1], target)
        for row, column in cells:
            self.assertGreaterEqual(min(row, column), 0)
            self.assertFalse(blocked[row, column])
            blocked[row, column] = True

    def test_every_scheme_routes_as_a_search_of_its_own(self):
        rng = np.random.default_rng(7)
        mazes = [random_maze(rng) for _ in range(1200)]
        (self.folder / "all.txt").write_text("\n".join(maze.text() for maze in mazes))
        (self.folder / "few.txt").write_text("\n".join(maze.text() for maze in mazes[:100]))
        on_8 = mazes[: 100 if "NUICE_LONG_TESTS" in os.environ else 10]  # most of this test's time
        (self.folder / "fewest.txt").write_text("\n".join(maze.text() for maze in on_8))
        expected = None
        for ranks, file, delta, widths in (
            (1, "all.txt", 1, "1"),
            (2, "few.txt", 4, "3"),  # ranks that wait for each other: few, as the machine may be busy
            (3, "few.txt", 1, "1,2"),
            (4, "few.txt", 7, "1,5"),
            (8, "fewest.txt", 16, "1,30"),
        ):
            report = self.report(
                ranks, "--maze", file, "--delta", delta, "--widths", widths, "--reps", 1, "--no-alone"
            )
            self.assertTrue(report["right"])  # the same as the sequential program, all of it
            self.assertEqual([r["scheme"] for r in report["results"] if r["sync"] != "global"],
                             [name for name in EVERY_SCHEME for _ in widths.split(",")])  # fmt: skip
            if expected is None:
                expected = report["mazes"]
                for maze, found in zip(mazes, expected, strict=True):
                    self.assert_right(maze, found["nets"])
            self.assertEqual(report["mazes"], expected[: len(report["mazes"])])

    def test_what_it_leaves_behind(self):
        options = ("--size", "64x90", "--walls", 0.3, "--nets", 5, "--widths", 3, "--reps", 2, "--no-alone")
        for scheme, ranks in (("ASR-C-O", 3), ("AM-NC-O", 2)):
            files = ("--distances", "d.i32", "--grid", "g.txt", "--schemes", scheme, "--sync", "local")
            report = self.report(ranks, *options, *files)
            grid = np.array([list(line) for line in (self.folder / "g.txt").read_text().split()])
            self.assertEqual((grid.shape, set(grid.ravel())), ((64, 90), set(".#+")))
            maze = Maze(grid == "#", [(*net["source"], *net["target"]) for net in report["mazes"][0]["nets"]])
            blocked = self.assert_right(maze, report["mazes"][0]["nets"])
            np.testing.assert_array_equal(blocked, grid != ".")
            self.assert_tree(np.fromfile(self.folder / "d.i32", dtype=np.int32).reshape(64, 90), report)

    def assert_tree(self, distances: np.ndarray, report: dict) -> None:
        """As Graph500 asks: one root, every other cell has a parent, edges join neighbouring levels."""
        last = report["mazes"][0]["nets"][-1]
        self.assertEqual(distances.max(), last["levels"] - 1)
        self.assertEqual(np.argwhere(distances == 0).tolist(), [last["source"]])
        padded = np.pad(distances, 1, constant_values=-1)
        around = np.stack([padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]])
        self.assertTrue(((around == distances - 1).any(axis=0) | (distances <= 0)).all())
        self.assertTrue((abs(around - distances)[(around >= 0) & (distances >= 0)] == 1).all())

    def test_the_tables_are_for_people(self):
        done = self.start(2, "--size", 96, "--reps", 1)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for text in ("all ways found the same", "ms a net by width", "AM-C-O: local synchronisation takes"):
            self.assertIn(text, done.stdout)


class Refuses(ProgramTest):
    def test_wrong_mazes(self):
        for text, complaint in (
            ("...\n..\nnet 0 0 0 1\n", "m.txt:2: the row has 2 cells, those above 3"),
            ("...\n.x.\n", "m.txt:2: unknown character 'x'"),
            ("...\n.#.\nnet 1 1 0 0\n", "m.txt:3: the source 1 1 is inside a wall"),
            ("...\n.#.\nnet 0 0 1 1\n", "m.txt:3: the target 1 1 is inside a wall"),
            ("...\nnet 0 0 0 3\n", "m.txt:2: the target 0 3 is outside"),
            ("...\nnet 0 0 1\n", 'm.txt:2: expected "net ROW COLUMN'),
            ("...\nnet 0 0\n...\n", "m.txt:3: a row after a net"),
            ("...\n", "m.txt:1: a maze without nets"),
            ("net 0 0\n", "m.txt:1: a net before its maze"),
            ("\n", "m.txt: no maze in it"),
        ):
            (self.folder / "m.txt").write_text(text)
            with self.subTest(complaint):
                self.assert_refused(complaint, 0, "--maze", "m.txt")
        (self.folder / "m.txt").write_text("....\n..\nnet 0 0\n")
        self.assert_refused("m.txt:2: the row has 2 cells", 3, "--maze", "m.txt")

    def test_wrong_options(self):
        self.assert_refused("stripes of width 0; at least 1 is needed", 2, "--widths", "4,0")
        self.assert_refused("3 columns for 4 ranks", 4, "--size", "9x3", "--nets", 0)
        self.assert_refused("there is no scheme FAST", 0, "--schemes", "AM-C-O,FAST")
        self.assert_refused("goes level by level", 0, "--sync", "none")
        self.assert_refused("--sync none: a shortest path", 0, "--schemes", "AM-C-O", "--sync", "none")
        self.assert_refused("--size 4x: expected N or ROWSxCOLUMNS", 0, "--size", "4x")
        self.assert_refused("nets with ends that far apart do not fit", 0, "--size", 2, "--nets", 50)
        self.assert_refused("none.txt: cannot be opened", 2, "--maze", "none.txt")
        self.assert_refused("no/d.i32: cannot be written", 2, "--size", 32, "--distances", "no/d.i32")


if __name__ == "__main__":
    main()

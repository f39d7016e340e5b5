# SPDX-License-Identifier: BSD-3-Clause
"""nuice-euler: order, conservation, free stream, and the same results on any number of ranks."""

import numpy as np
import scipy.io

from program import ProgramTest, main

Points = list[tuple[float, float]]
Triangles = list[tuple[int, int, int]]


def mesh_text(points: Points, triangles: Triangles, boundary: list[tuple[int, int, str]]) -> str:
    lines = ["nuice-mesh 1", f"points {len(points)}", *(f"{float(x)!r} {float(y)!r}" for x, y in points)]
    lines += [f"triangles {len(triangles)}", *("{} {} {}".format(*t) for t in triangles)]
    lines += [f"boundary {len(boundary)}", *("{} {} {}".format(*b) for b in boundary), "end", ""]
    return "\n".join(lines)


def cylinder(around: int = 32, rings: int = 12) -> str:
    """A disc of radius 20 with a round hole of diameter 1."""
    radius = 0.5 * 40 ** (np.arange(rings) / (rings - 1))
    angle = 2 * np.pi * np.arange(around) / around
    points = [(r * np.cos(a), r * np.sin(a)) for r in radius for a in angle]
    triangles, boundary = [], []
    for i in range(rings - 1):
        for j in range(around):
            k = (j + 1) % around
            a, b, c, d = i * around + j, (i + 1) * around + j, (i + 1) * around + k, i * around + k
            triangles += [(a, b, c), (a, c, d)] if j % 2 else [(a, b, d), (b, c, d)]
    for j in range(around):
        k = (j + 1) % around
        last = (rings - 1) * around
        boundary += [(j, k, "wall"), (last + j, last + k, "far")]
    return mesh_text(points, triangles, boundary)


def vtk_numbers(path) -> np.ndarray:
    """All numbers after POINT_DATA."""
    text = path.read_text().split("POINT_DATA")[1]
    words = [w for line in text.splitlines()[1:] for w in line.split() if not line[0].isalpha()]
    return np.array(words, dtype=float)


class Vortex(ProgramTest):
    def test_any_number_of_ranks_finds_the_same(self):
        found = []
        for ranks in (1, 2, 3, 4, 8):
            report = self.report(ranks, "--box", 16, "--time", 0.5, "--reps", 1, "--vtk", "v.vtk")
            self.assertTrue(report["right"])
            self.assertEqual((report["points"], report["edges"], report["ranks"]), (1024, 3072, ranks))
            self.assertEqual([m["name"] for m in report["methods"]], ["nuice", "isend", "neighbor"])
            self.assertTrue(all(m["same_states"] for m in report["methods"]))
            self.assertEqual(report["exchange_ratio_to_best_mpi"] is None, ranks == 1)
            findings = report["findings"]
            self.assertGreaterEqual(findings["order"], 2)
            self.assertLessEqual(findings["mass_change"], 1e-13)
            self.assertLessEqual(findings["free_stream"], 1e-12)
            found.append((report["steps"], findings["fine_error"], vtk_numbers(self.folder / "v.vtk")))
        for steps, error, flow in found[1:]:
            self.assertEqual(steps, found[0][0])
            self.assertAlmostEqual(error, found[0][1], delta=1e-13)
            np.testing.assert_allclose(flow, found[0][2], rtol=0, atol=1e-11)

    def test_the_limiter_keeps_first_order(self):
        report = self.report(3, "--box", 16, "--time", 0.5, "--reps", 0, "--limiter")
        self.assertGreaterEqual(report["findings"]["order"], 1)

    def test_the_table_is_for_people(self):
        done = self.start(2, "--box", 8, "--time", 0.1, "--reps", 1)
        self.assertIn("isentropic vortex until t = 0.1: 256 points", done.stdout, done.stderr)
        self.assertIn("observed order", done.stdout)

    def test_the_pattern_is_for_the_planner(self):
        options = ("--box", 16, "--time", 0.1, "--reps", 0, "--scheduler", "gs", "--executor", "pairwise")
        report = self.report(4, *options, "--pattern", "p.mtx")
        pattern = scipy.io.mmread(self.folder / "p.mtx")
        self.assertEqual((pattern.shape, pattern.nnz), ((4, 4), report["messages"]))
        self.assertEqual((pattern.sum(), report["scheduler"]), (report["bytes"], "gs"))
        self.assertTrue((pattern.data % 32 == 0).all())


class Cylinder(ProgramTest):
    def test_flow_around_a_wall_does_not_depend_on_the_ranks(self):
        (self.folder / "c.mesh").write_text(cylinder())
        results = []
        for ranks in (1, 3, 4):
            options = ("--mesh", "c.mesh", "--mach", 0.2, "--alpha", 0, "--steps", 60, "--reps", 0)
            report = self.report(ranks, *options, "--vtk", "c.vtk")
            self.assertTrue(report["right"])
            self.assertTrue(all(m["same_states"] for m in report["methods"]))
            flow = vtk_numbers(self.folder / "c.vtk")
            self.assertEqual(len(flow), 6 * report["points"])
            results.append((report["findings"], flow))
        for findings, flow in results[1:]:
            self.assertAlmostEqual(findings["lift"], results[0][0]["lift"], delta=1e-9)
            self.assertAlmostEqual(findings["drag"], results[0][0]["drag"], delta=1e-9)
            np.testing.assert_allclose(flow, results[0][1], rtol=0, atol=1e-10)
        # Upper and lower half are alike.
        self.assertLess(abs(results[0][0]["lift"]), 1e-2)

    def test_a_uniform_flow_stays_on_a_mesh_with_boundaries(self):
        (self.folder / "c.mesh").write_text(cylinder(17, 5))
        report = self.report(
            2, "--mesh", "c.mesh", "--mach", 2.5, "--alpha", 30, "--steps", 1, "--reps", 0, "--limiter"
        )
        self.assertLess(report["findings"]["free_stream"], 1e-12)


class Refuses(ProgramTest):
    def assert_mesh_refused(self, complaint: str, text: str, ranks: int = 0) -> None:
        (self.folder / "m.mesh").write_text(text)
        with self.subTest(complaint):
            self.assert_refused(complaint, ranks, "--mesh", "m.mesh")

    def test_wrong_meshes(self):
        square = [(0, 0), (1, 0), (1, 1), (0, 1)]
        two = [(0, 1, 2), (0, 2, 3)]
        rim = [(0, 1, "wall"), (1, 2, "far"), (2, 3, "far"), (3, 0, "far")]
        refused = self.assert_mesh_refused
        refused("m.mesh: triangle 1 is inverted or flat", mesh_text(square, [(0, 1, 2), (0, 3, 2)], rim), 2)
        refused("triangle 0 has point 4 of 4", mesh_text(square, [(0, 1, 4)], rim))
        refused("point 4 has no triangle", mesh_text([*square, (5, 5)], two, rim))
        refused("edge 0 - 3 is at the boundary", mesh_text(square, two, rim[:3]))
        refused("edge 0 - 2 is not a boundary edge", mesh_text(square, two, [*rim, (0, 2, "wall")]))
        refused(
            "edge 0 - 1 is not a boundary edge, or is given twice", mesh_text(square, two, [*rim, rim[0]])
        )
        refused("m.mesh has no triangles", mesh_text(square, [], []))
        apart = [(x + 9, y) for x, y in square]
        far = [(a + 4, b + 4, kind) for a, b, kind in rim]
        both = mesh_text(square + apart, two + [tuple(p + 4 for p in t) for t in two], rim + far)
        refused("points 0 and 4 are in unconnected parts", both, 3)
        refused("4 points cannot be spread over 8 ranks", mesh_text(square, two, rim), 8)

    def test_files_that_are_not_read(self):
        good = cylinder(4, 3)
        refused = self.assert_mesh_refused
        refused('m.mesh:1: not a mesh: the first line must be "nuice-mesh 1"', "mesh\n")
        refused('m.mesh:2: expected "points COUNT", found "points -1"', "nuice-mesh 1\npoints -1\n")
        refused("m.mesh:3: expected x y", good.replace("0.5 0.0", "0.5", 1))
        refused("m.mesh:3: expected x y", good.replace("0.5 0.0", "0.5 0 0", 1))
        refused("wall or far", good.replace("wall", "door", 1))
        refused("the file ends too early", good.replace("end\n", ""))
        self.assert_refused("none.mesh: cannot be opened", 2, "--mesh", "none.mesh")
        self.assert_refused(
            "no/v.vtk: cannot be written", 2, "--vtk", "no/v.vtk", "--box", 4, "--time", 0.001
        )

    def test_wrong_options(self):
        self.assert_refuses_wrong_options()
        self.assert_refused("--box must be even", 0, "--box", 5)

    def test_a_flow_that_breaks_down_is_told(self):
        (self.folder / "c.mesh").write_text(cylinder(16, 6))
        self.assert_refused(
            "the flow has broken down", 2, "--mesh", "c.mesh", "--mach", 5, "--cfl", 2, "--steps", 200
        )


if __name__ == "__main__":
    main()

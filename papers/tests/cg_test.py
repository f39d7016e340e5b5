# SPDX-License-Identifier: BSD-3-Clause
"""nuice-cg compared with SciPy."""

import json

import numpy as np
import scipy.io
import scipy.sparse as sparse
from scipy.sparse.linalg import spsolve

from program import ProgramTest, main


def poisson(n: int) -> sparse.csr_matrix:
    line = sparse.diags([-1.0, 2.0, -1.0], [-1, 0, 1], shape=(n, n))
    eye = sparse.identity(n)
    return (sparse.kron(line, eye) + sparse.kron(eye, line)).tocsr()


def random_spd(n: int, seed: int) -> sparse.csr_matrix:
    """Irregular rows, strictly diagonally dominant."""
    off = sparse.random(n, n, density=4 / n, random_state=seed, format="csr")
    off = off + off.T
    return (off + sparse.diags(np.asarray(abs(off).sum(axis=1)).ravel() + 0.01)).tocsr()


class Solves(ProgramTest):
    def assert_solved(self, report: dict) -> None:
        self.assertTrue(report["converged"])
        self.assertLessEqual(report["relative_residual"], 1e-10)
        self.assertEqual([m["name"] for m in report["methods"]], ["nuice", "isend", "neighbor"])
        for method in report["methods"]:
            self.assertEqual(method["iterations"], report["sequential_iterations"])
            self.assertTrue(method["same_solution"], method)
        self.assertEqual(report["sequential_difference"], 0.0)

    def test_any_number_of_ranks_gives_the_sequential_solution(self):
        iterations = set()
        for ranks in (1, 2, 3, 4, 8):
            report = self.report(ranks, "--reps", 2, "--poisson", 40)
            self.assert_solved(report)
            self.assertEqual(report["rows"], 1600)
            self.assertEqual(report["ranks"], ranks)
            self.assertEqual(report["exchange_ratio_to_best_mpi"] is None, ranks == 1)
            iterations.add(report["sequential_iterations"])
        self.assertEqual(len(iterations), 1)

    def test_poisson_as_scipy_solves_it(self):
        self.report(3, "--poisson", 25, "--solution", "x.txt", "--reps", 0)
        expected = spsolve(poisson(25).tocsc(), np.ones(625))
        np.testing.assert_allclose(
            np.loadtxt(self.folder / "x.txt"), expected, atol=1e-9 * abs(expected).max()
        )

    def test_right_hand_sides_side_by_side(self):
        matrix = random_spd(200, 3)
        scipy.io.mmwrite(self.folder / "a.mtx", matrix, symmetry="symmetric", precision=17)
        report = self.report(3, "--matrix", "a.mtx", "--rhs", 3, "--solution", "x.txt", "--reps", 2)
        self.assert_solved(report)
        self.assertEqual(report["right_hand_sides"], 3)
        alone = self.report(3, "--matrix", "a.mtx", "--reps", 0)
        self.assertEqual(report["bytes"], 3 * alone["bytes"])
        rows = np.arange(200)
        b = np.stack([np.cos(1e-3 * c * rows) for c in range(3)], axis=1)
        expected = spsolve(matrix.tocsc(), b)
        np.testing.assert_allclose(
            np.loadtxt(self.folder / "x.txt"), expected, atol=1e-9 * abs(expected).max()
        )

    def test_matrices_from_files_as_scipy_solves_them(self):
        for seed, symmetry in ((1, "symmetric"), (2, "general")):
            matrix = random_spd(300, seed)
            scipy.io.mmwrite(self.folder / "a.mtx", matrix, symmetry=symmetry, precision=17)
            report = self.report(4, "--matrix", "a.mtx", "--solution", "x.txt", "--reps", 0)
            self.assert_solved(report)
            self.assertEqual(report["entries"], matrix.nnz)
            expected = spsolve(matrix.tocsc(), np.ones(300))
            np.testing.assert_allclose(
                np.loadtxt(self.folder / "x.txt"), expected, atol=1e-9 * abs(expected).max()
            )

    def test_the_pattern_is_for_the_planner(self):
        report = self.report(
            4, "--pattern", "halo.mtx", "--reps", 0, "--scheduler", "rs_n", "--executor", "phased"
        )
        halo = scipy.io.mmread(self.folder / "halo.mtx")
        self.assertEqual(halo.shape, (4, 4))
        self.assertEqual(halo.nnz, report["messages"])
        self.assertEqual(halo.sum(), report["bytes"])
        self.assertEqual((report["scheduler"], report["executor"]), ("rs_n", "phased"))
        self.assertGreaterEqual(report["phases"], report["max_degree"])

    def test_the_table_is_for_people(self):
        done = self.start(2, "--poisson", 10, "--reps", 1)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Poisson 10 x 10: 100 rows", done.stdout)
        self.assertIn("x the best of the others", done.stdout)

    def test_giving_up_is_exit_code_1(self):
        done = self.start(2, "--max-iterations", 3, "--reps", 0)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("NOT CONVERGED", done.stdout)

    def test_one_row_per_rank(self):
        matrix = sparse.csr_matrix(np.array([[4.0, -1, 0], [-1, 4, -1], [0, -1, 4]]))
        scipy.io.mmwrite(self.folder / "a.mtx", matrix)
        self.assert_solved(self.report(3, "--matrix", "a.mtx", "--reps", 0))


class Refuses(ProgramTest):
    def write(self, text: str) -> str:
        (self.folder / "a.mtx").write_text("%%MatrixMarket matrix coordinate real general\n" + text)
        return "a.mtx"

    def test_matrices_that_conjugate_gradients_cannot_solve(self):
        for text, complaint in (
            ("2 3 2\n1 1 1\n2 2 1\n", "a.mtx is not square: 2 rows, 3 columns"),
            (
                "2 2 3\n1 1 4\n2 2 4\n1 2 1\n",
                "a.mtx is not symmetric: 1.000000 at (1, 2), 0.000000 at (2, 1)",
            ),
            ("2 2 2\n1 1 4\n2 2 -4\n", "a.mtx is not positive definite: -4.000000 at (2, 2)"),
            ("2 2 4\n1 1 1\n1 2 -2\n2 1 -2\n2 2 1\n", "not positive definite: p'Ap = -2"),
            ("1 1 1\n1 1 1\n", "1 rows cannot be spread over 2 ranks"),
            ("0 0 0\n", "0 rows cannot be spread over 2 ranks"),
        ):
            with self.subTest(complaint):
                self.assert_refused(complaint, 2, "--matrix", self.write(text))

    def test_files_that_are_not_read(self):
        for text, complaint in (
            ("2 2\n", 'a.mtx:2: expected "rows columns entries"'),
            ("2 2 2\n1 1 4\n", "a.mtx:3: the file ends after 1 of 2 entries"),
            ("2 2 1\n1 1 4\n2 2 4\n", "a.mtx:4: more than the announced 1 entries"),
            ("2 2 1\n3 1 4\n", "a.mtx:3: row 3 is not in 1..2"),
            ("2 2 1\n1 1 nan\n", 'a.mtx:3: expected a finite value, found "nan"'),
            ("2 2 1\n1 1 4 5\n", 'a.mtx:3: expected "row column value"'),
        ):
            with self.subTest(complaint):
                self.assert_refused(complaint, 0, "--matrix", self.write(text))
        self.assert_refused("none.mtx: No such file", 2, "--matrix", "none.mtx")

    def test_headers_that_promise_what_is_not_there(self):
        for text, complaint in (
            (f"2 2 {2**62 + 1}\n1 1 4\n", f"a.mtx:3: the file ends after 1 of {2**62 + 1} entries"),
            ("2147483647 2147483647 0\n", "a.mtx is not positive definite: 2147483647 rows with 0 entries"),
            ("2147483648 2147483648 0\n", "a.mtx:2: 2147483648 rows and 2147483648 columns, more than"),
        ):
            with self.subTest(complaint):
                self.assert_refused(complaint, 0, "--matrix", self.write(text))

    def test_a_symmetric_matrix_that_is_not_square(self):
        # Once written beyond the end of the rows: the mirrored entry had none.
        (self.folder / "a.mtx").write_text("%%MatrixMarket matrix coordinate real symmetric\n3 7 1\n1 5 1\n")
        self.assert_refused(
            "a.mtx:2: 3 rows and 7 columns; a symmetric matrix is square", 0, "--matrix", "a.mtx"
        )

    def test_an_error_is_an_object_with_json(self):
        for words in (("--matrix", "none.mtx"), ("--no-such-option",)):
            done = self.start(2, *words, "--json")
            self.assertEqual(done.returncode, 2, done.stderr)
            (line,) = done.stdout.splitlines()
            self.assertIn(json.loads(line)["error"]["code"], ("io", "invalid_argument"))

    def test_files_that_cannot_be_written(self):
        self.assert_refused("no/x.txt", 2, "--solution", "no/x.txt", "--reps", 0)
        self.assert_refused("no/p.mtx", 2, "--pattern", "no/p.mtx", "--reps", 0)

    def test_wrong_options(self):
        self.assert_refuses_wrong_options()
        self.assert_refused("--poisson", 0, "--poisson", 0)


if __name__ == "__main__":
    main()

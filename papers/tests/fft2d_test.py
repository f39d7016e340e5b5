# SPDX-License-Identifier: BSD-3-Clause
"""nuice-fft2d compared with SciPy."""

import numpy as np
import scipy.fft
import scipy.io

from program import ProgramTest, main

EVERY_SCHEDULER = "lex,pex,bex,lp,ac:async,coloring:phased,rs_n,gs,rs_nh"


class Transforms(ProgramTest):
    def assert_right(self, report: dict) -> None:
        for method in report["methods"]:
            if method["refused"] is None:
                self.assertLessEqual(method["error"], 1e-12)
                self.assertLessEqual(method["round_trip_error"], 1e-12)

    def assert_as_scipy(self, ranks: int, shape: tuple[int, int], *options: object) -> None:
        rng = np.random.default_rng(ranks)
        array = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
        array.tofile(self.folder / "a.c128")
        files = ("--input", "a.c128", "--output", "b.c128")
        report = self.report(ranks, "--size", "{}x{}".format(*shape), *files, "--reps", 0, *options)
        self.assert_right(report)
        result = np.fromfile(self.folder / "b.c128", dtype=np.complex128).reshape(shape)
        expected = scipy.fft.fft2(array)
        np.testing.assert_allclose(result, expected, rtol=0, atol=1e-12 * abs(expected).max())

    def test_any_size_on_any_number_of_ranks(self):
        for ranks, shape in (
            (1, (16, 16)),
            (2, (64, 64)),
            (3, (100, 37)),  # divisible by neither
            (4, (2, 129)),  # ranks without rows
            (4, (1, 1)),
            (8, (60, 61)),
        ):
            with self.subTest(ranks=ranks, shape=shape):
                self.assert_as_scipy(ranks, shape)

    def test_every_scheduler(self):
        self.assert_as_scipy(4, (24, 20), "--schedulers", EVERY_SCHEDULER)
        self.assert_as_scipy(3, (24, 20), "--schedulers", EVERY_SCHEDULER)

    def test_the_report_has_every_method(self):
        report = self.report(4, "--size", 32, "--schedulers", "lex,pex:pairwise", "--reps", 2)
        self.assert_right(report)
        self.assertEqual(
            [m["name"] for m in report["methods"]], ["lex", "pex:pairwise", "alltoallv", "isend"]
        )
        self.assertEqual([m["planned"] for m in report["methods"]], [True, True, False, False])
        self.assertEqual([m["phases"] for m in report["methods"]], [4, 3, None, None])
        self.assertEqual(report["largest_message_bytes"], 8 * 8 * 16)
        for method in report["methods"]:
            self.assertGreater(method["exchange_seconds_median"], 0)
            self.assertGreater(method["transform_seconds_median"], 0)
        best = [
            min(m["exchange_seconds_median"] for m in report["methods"] if m["planned"] is p)
            for p in (True, False)
        ]
        self.assertAlmostEqual(report["exchange_ratio_to_best_mpi"], best[0] / best[1])

    def test_without_arguments_it_checks_itself(self):
        done = self.start(2, "--reps", 1)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("256 x 256 complex numbers, 2 ranks", done.stdout)

    def test_the_pattern_is_a_complete_exchange(self):
        self.report(3, "--size", "9x12", "--pattern", "p.mtx", "--reps", 0)
        pattern = scipy.io.mmread(self.folder / "p.mtx").toarray()
        np.testing.assert_array_equal(pattern, (3 * 4 * 16) * (1 - np.eye(3)))


class Refuses(ProgramTest):
    def test_bad_input(self):
        np.zeros(5, dtype=np.complex128).tofile(self.folder / "a.c128")
        self.assert_refused(
            "a.c128 has 80 bytes, 4 x 4 complex numbers have 256", 2, "--size", 4, "--input", "a.c128"
        )
        self.assert_refused("none.c128: cannot be opened", 0, "--input", "none.c128")
        self.assert_refused("no/b.c128: cannot be written", 2, "--size", 4, "--output", "no/b.c128")
        for size in ("0", "4x", "x4", "4x4x4", "-1", "99999"):
            self.assert_refused(f"--size {size}: expected N or ROWSxCOLUMNS", 0, f"--size={size}")
        self.assert_refused('unknown scheduler "fastest"', 2, "--schedulers", "pex,fastest")
        self.assert_refused('unknown executor "fast"', 0, "--schedulers", "pex:fast")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""nuice-wolff as people meet it: physics against exact values, one result on any ranks, what it refuses."""

import json

import program

# Exact on finite tori: Kaufman's energies, mean clusters by transfer matrices. size, beta: energy, cluster.
CRITICAL = 0.44068679350977151
EXACT = {
    (8, CRITICAL): (-1.49158910744, 41.4023407996),
    (6, CRITICAL): (None, 24.9593972809),
    (8, 0.40): (None, 27.6543410289),
    (8, 0.45): (None, 44.0755783964),
    (16, 0.40): (-1.13131798441, None),
    (16, 0.45): (-1.52057153935, None),
}


class Wolff(program.ProgramTest):
    def test_physics_within_four_standard_errors(self):
        for (size, beta), (energy, cluster) in EXACT.items():
            with self.subTest(size=size, beta=beta):
                report = self.report(
                    0, "--size", size, "--beta", beta, "--samples", 30000, "--reps", 0, "--schemes", "AM-C-O"
                )
                for key, exact in (("energy_per_site", energy), ("cluster", cluster)):
                    seen = report["physics"][key]
                    if exact is not None:
                        self.assertLess(abs(seen["mean"] - exact), 4 * seen["error"], (key, seen))
                        self.assertLess(seen["error"], 0.02 * abs(exact))
                self.assertTrue(report["right"], report["findings"])

    def test_all_schemes_on_three_ranks(self):
        report = self.report(
            3, "--size", 32, "--samples", 50, "--reps", 1, "--clusters", 5, "--widths", "2,5"
        )
        self.assertEqual(len(report["results"]), 2 * (1 + 2 + 1 + 3 * 3))
        self.assertTrue(all(result["same_as_sequential"] for result in report["results"]))
        for result in report["results"]:
            self.assertGreater(result["items_left_per_cycle"], 0)
            self.assertGreater(result["scale_ms"], 0)
        self.assertEqual([cost["scheme"] for cost in report["item_costs"]], ["AM-NC-O", "ST-NC-O", "AM-C-O"])
        alone = self.report(0, "--size", 32, "--samples", 50, "--reps", 0)
        self.assertEqual(report["physics"], alone["physics"])  # to the last bit

    def test_text_and_picture(self):
        done = self.start(0, "--size", 16, "--samples", 500, "--picture", "p.json")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("energy / site", done.stdout)
        picture = json.loads((self.folder / "p.json").read_text())
        self.assertEqual([len(row) for row in picture["rows"]], [16] * 16)
        self.assertTrue(set("".join(picture["rows"])) <= set("0123"))

    def test_refusals(self):
        self.assert_refused("--widths 0: a stripe has at least 1 column", 2, "--widths", 0)
        self.assert_refused("--size 2: fewer columns than the 3 ranks", 3, "--size", 2)
        self.assert_refused("there is no scheme FAST", 0, "--schemes", "FAST")
        self.assert_refused("goes level by level", 0, "--schemes", "SSR-C-NO,AMP-C-NO", "--sync", "none")
        self.assert_refused("no synchronisation often", 0, "--sync", "often")
        self.assert_refused("delta 0", 0, "--delta", 0, "--sync", "local")
        self.assert_refused("--beta", 0, "--beta", -1)
        self.assert_refused("no transport pigeon", 2, "--transport", "pigeon", "--size", 8, "--samples", 9)
        self.assert_refused("nowhere/p.json", 0, "--samples", 0, "--reps", 0, "--picture", "nowhere/p.json")
        self.assertEqual(self.start(0, "--help").returncode, 0)


program.main()

// SPDX-License-Identifier: BSD-3-Clause
// Tests the sequential program on lattices whose properties are known exactly.
#pragma once

#include <cmath>
#include <cstdlib>
#include <vector>

#include "wolff/cluster.hpp"
#include "wolff/report.hpp"
#include "wolff/statistics.hpp"

namespace nuice::wolff {

inline constexpr int thermalising = 1000;

/// Compares energies and magnetisations of 4 x 4 lattices with all 65,536 states. The samples are far enough
/// apart to be independent.
inline Finding test_4x4(double beta, std::uint64_t seed) {
  constexpr int samples = 20000;
  constexpr double sites_between = 160;
  const auto probabilities = enumerate_4x4(beta);
  double mean_cluster = 0;
  for (const auto& [state, probability] : probabilities)
    mean_cluster += probability * state.second * state.second / 16.0;
  Lattice lattice(irregular::Stripes(4, 4, 1), 0, {});
  Sequential sequential(lattice, {seed, threshold(beta)});
  std::uint64_t cluster = 0;
  while (cluster < thermalising) sequential.flip(cluster++);
  const auto between = static_cast<std::uint64_t>(std::ceil(sites_between / mean_cluster));
  std::map<std::pair<int, int>, std::int64_t> counts;
  for (int i = 0; i < samples; ++i) {
    for (std::uint64_t k = 0; k < between; ++k) sequential.flip(cluster++);
    ++counts[{static_cast<int>(lattice.bonds()), std::abs(static_cast<int>(lattice.magnetisation()))}];
  }
  return {"4 x 4: histogram of (E, |M|), chi squared", 0, 1, 0, chi_squared_pull(counts, probabilities)};
}

inline Finding test_8x8(std::uint64_t seed) {
  constexpr int samples = 100000;
  Lattice lattice(irregular::Stripes(8, 8, 1), 0, {});
  Sequential sequential(lattice, {seed, threshold(critical_beta())});
  std::uint64_t cluster = 0;
  while (cluster < thermalising) sequential.flip(cluster++);
  std::vector<double> sizes;
  for (int i = 0; i < samples; ++i) sizes.push_back(static_cast<double>(sequential.flip(cluster++)));
  const Estimate size = estimate(sizes);
  return {"8 x 8 at beta_c: mean cluster", size.mean, size.error, mean_cluster_8x8,
          pull(size, mean_cluster_8x8)};
}

/// Runs the tests; only on rank 0.
inline std::vector<Finding> test_small_lattices(double beta, std::uint64_t seed) {
  return {test_4x4(beta, seed), test_8x8(seed)};
}

}  // namespace nuice::wolff

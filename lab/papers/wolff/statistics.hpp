// SPDX-License-Identifier: BSD-3-Clause
// Means of correlated samples with their errors, and what is known exactly of small or finite lattices.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

namespace nuice::wolff {

struct Estimate {
  double mean = 0;
  double error = 0;            ///< Standard error, autocorrelation included.
  double autocorrelation = 0;  ///< Integrated time, in samples; 0.5 for independent ones.
};

/// tau = 1/2 + sum of the normalised autocorrelations up to the first window >= 6 tau (Sokal); error^2 = 2 tau var / n.
/// O(n tau).
Estimate estimate(std::span<const double> samples);

/// (mean - exact) / error; 0 if both agree to rounding.
double pull(const Estimate& estimate, double exact);

/// Energy per site of the periodic n x n lattice with coupling 1: Kaufman's partition function (Phys. Rev. 76, 1949),
/// differentiated numerically; good to about 1e-9. O(n).
double exact_energy(std::int64_t n, double beta);

/// Exact on 8 x 8 at beta_c (transfer matrix); elsewhere only what enumerate_4x4 gives.
inline constexpr double mean_cluster_8x8 = 41.4023407996;
double critical_beta();  ///< ln(1 + sqrt 2) / 2.

/// Probability of each (bond sum, |M|) of the 4 x 4 lattice, by its 65536 states.
std::map<std::pair<int, int>, double> enumerate_4x4(double beta);

/// How far a histogram is from expected probabilities, in standard deviations (chi squared by Wilson and Hilferty's cube
/// root). Classes with fewer than 5 expected are put together.
double chi_squared_pull(const std::map<std::pair<int, int>, std::int64_t>& counts,
                        const std::map<std::pair<int, int>, double>& probabilities);

}  // namespace nuice::wolff

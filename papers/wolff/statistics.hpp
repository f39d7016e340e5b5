// SPDX-License-Identifier: BSD-3-Clause
// Means of correlated samples with their errors, and exact values for small or finite lattices.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

namespace nuice::wolff {

struct Estimate {
  double mean = 0;
  double error = 0;            ///< The standard error, including autocorrelation.
  double autocorrelation = 0;  ///< The integrated time in samples; 0.5 for independent samples.
};

/// The exact mean cluster of an 8 x 8 lattice at beta_c (transfer matrix). Other lattices have only the
/// values of enumerate_4x4.
inline constexpr double mean_cluster_8x8 = 41.4023407996;

using Real = long double;

/// The logarithm of the product over r of 2 cosh(n g / 2), or 2 sinh, where g = gamma of 2 r + odd; and the
/// product's sign.
struct LogProduct {
  Real log = 0;
  int sign = 1;
};

inline LogProduct product(std::int64_t n, Real beta, int odd, bool hyperbolic_sine) {
  const Real centre = std::cosh(2 * beta) * std::cosh(2 * beta) / std::sinh(2 * beta);
  LogProduct result;
  for (std::int64_t r = 0; r < n; ++r) {
    const std::int64_t l = 2 * r + odd;
    Real gamma = 0;
    if (l == 0)
      gamma = 2 * beta + std::log(std::tanh(beta));  // negative above the critical temperature
    else
      gamma = std::acosh(centre -
                         std::cos(std::numbers::pi_v<Real> * static_cast<Real>(l) / static_cast<Real>(n)));
    const Real half = static_cast<Real>(n) * std::abs(gamma) / 2;
    if (hyperbolic_sine && gamma < 0) result.sign = -result.sign;
    result.log += half + std::log1p((hyperbolic_sine ? -1 : 1) * std::exp(-2 * half));
  }
  return result;
}

inline Real log_partition(std::int64_t n, Real beta) {
  const LogProduct terms[4] = {product(n, beta, 1, false), product(n, beta, 1, true),
                               product(n, beta, 0, false), product(n, beta, 0, true)};
  const Real largest = terms[0].log;
  Real sum = 0;
  for (const LogProduct& term : terms)
    if (std::isfinite(term.log)) sum += static_cast<Real>(term.sign) * std::exp(term.log - largest);
  const auto sites = static_cast<Real>(n) * static_cast<Real>(n);
  return sites / 2 * std::log(2 * std::sinh(2 * beta)) + largest + std::log(sum / 2);
}

inline double mean_of(std::span<const double> samples) {
  double sum = 0;
  for (const double sample : samples) sum += sample;
  return sum / static_cast<double>(samples.size());
}

inline double covariance(std::span<const double> samples, double mean, std::size_t lag) {
  double sum = 0;
  for (std::size_t i = lag; i < samples.size(); ++i) sum += (samples[i] - mean) * (samples[i - lag] - mean);
  return sum / static_cast<double>(samples.size() - lag);
}

/// Returns mean, error and autocorrelation time tau. tau is 1/2 plus the sum of the normalised
/// autocorrelations up to the first window >= 6 tau (Sokal), and error^2 = 2 tau var / n. O(n tau).
inline Estimate estimate(std::span<const double> samples) {
  if (samples.empty()) return {};
  Estimate result{mean_of(samples), 0, 0.5};
  const double variance = covariance(samples, result.mean, 0);
  if (samples.size() < 2 || variance <= 0) return result;
  for (std::size_t lag = 1; lag < samples.size() / 2; ++lag) {
    if (static_cast<double>(lag) > 6 * result.autocorrelation) break;
    result.autocorrelation += covariance(samples, result.mean, lag) / variance;
  }
  result.autocorrelation = std::max(result.autocorrelation, 0.5);
  result.error = std::sqrt(2 * result.autocorrelation * variance / static_cast<double>(samples.size()));
  return result;
}

/// Returns (mean - exact) / error; 0 if both agree to rounding.
inline double pull(const Estimate& estimate, double exact) {
  const double difference = estimate.mean - exact;
  if (std::abs(difference) <= 1e-12 * std::abs(exact)) return 0;
  return difference / estimate.error;
}

/// Returns the critical beta, ln(1 + sqrt 2) / 2.
inline double critical_beta() { return std::log1p(std::numbers::sqrt2) / 2; }

/// Returns the energy per site of the periodic n x n lattice with coupling 1. Kaufman's partition function
/// (Phys. Rev. 76, 1949) is differentiated numerically, with an error of about 1e-9. O(n).
inline double exact_energy(std::int64_t n, double beta) {
  if (beta == 0) return 0;
  const Real step = 1e-6L * (1 + static_cast<Real>(beta));
  const Real slope = (log_partition(n, beta + step) - log_partition(n, beta - step)) / (2 * step);
  return static_cast<double>(-slope / (static_cast<Real>(n) * static_cast<Real>(n)));
}

/// Returns the probability of each (bond sum, |M|) of the 4 x 4 lattice from its 65,536 states.
inline std::map<std::pair<int, int>, double> enumerate_4x4(double beta) {
  std::map<std::pair<int, int>, double> weights;
  double all = 0;
  for (unsigned state = 0; state < 65536; ++state) {
    const auto spin = [state](unsigned row, unsigned column) {
      return ((state >> (row % 4 * 4 + column % 4)) & 1U) != 0 ? 1 : -1;
    };
    int bonds = 0;
    int magnetisation = 0;
    for (unsigned row = 0; row < 4; ++row)
      for (unsigned column = 0; column < 4; ++column) {
        bonds += spin(row, column) * (spin(row + 1, column) + spin(row, column + 1));
        magnetisation += spin(row, column);
      }
    const double weight = std::exp(beta * (bonds - 32));
    weights[{bonds, std::abs(magnetisation)}] += weight;
    all += weight;
  }
  for (auto& [state, weight] : weights) weight /= all;
  return weights;
}

/// Returns the distance of a histogram from expected probabilities in standard deviations (chi squared by
/// Wilson and Hilferty's cube root). Classes with fewer than 5 expected samples are merged.
inline double chi_squared_pull(const std::map<std::pair<int, int>, std::int64_t>& counts,
                               const std::map<std::pair<int, int>, double>& probabilities) {
  double samples = 0;
  for (const auto& [state, count] : counts) {
    if (!probabilities.contains(state)) return INFINITY;
    samples += static_cast<double>(count);
  }
  double chi_squared = 0;
  double rare_expected = 0;
  double rare_seen = 0;
  int classes = 0;
  const auto add = [&](double expected, double seen) {
    chi_squared += (seen - expected) * (seen - expected) / expected;
    ++classes;
  };
  for (const auto& [state, probability] : probabilities) {
    const double expected = samples * probability;
    const auto found = counts.find(state);
    const double seen = found == counts.end() ? 0 : static_cast<double>(found->second);
    if (expected >= 5) {
      add(expected, seen);
    } else {
      rare_expected += expected;
      rare_seen += seen;
    }
  }
  if (rare_expected >= 1) add(rare_expected, rare_seen);
  const double freedom = classes - 1;
  if (freedom < 1) return 0;
  const double spread = 2 / (9 * freedom);
  return (std::cbrt(chi_squared / freedom) - (1 - spread)) / std::sqrt(spread);
}

}  // namespace nuice::wolff

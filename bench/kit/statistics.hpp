// SPDX-License-Identifier: BSD-3-Clause
// Statistics of samples. All functions require at least one sample.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace nuice::kit {

/// Returns the median: for an even number of samples, the mean of the two middle samples.
inline double median(std::vector<double> samples) {
  std::ranges::sort(samples);
  const std::size_t middle = samples.size() / 2;
  return samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
}

/// Returns the smallest sample that is at least as large as this percentage of all samples. The 95th
/// percentile of fewer than 20 samples is the maximum.
inline double percentile(std::vector<double> samples, std::size_t percent) {
  std::ranges::sort(samples);
  return samples[(samples.size() * percent + 99) / 100 - 1];
}

}  // namespace nuice::kit

// SPDX-License-Identifier: BSD-3-Clause
// Numbers that stand for many. All require a sample.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace nuice::kit {

/// Of an even number of samples the mean of the two in the middle.
inline double median(std::vector<double> samples) {
  std::ranges::sort(samples);
  const std::size_t middle = samples.size() / 2;
  return samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
}

/// The least sample that this percentage of all does not exceed: of 20 samples and less, the 95th is the maximum.
inline double percentile(std::vector<double> samples, std::size_t percent) {
  std::ranges::sort(samples);
  return samples[(samples.size() * percent + 99) / 100 - 1];
}

}  // namespace nuice::kit

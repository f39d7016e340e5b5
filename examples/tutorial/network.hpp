// SPDX-License-Identifier: BSD-3-Clause
// The problem of the tutorial: a network of points, each with a value
// that becomes the mean of its neighbours'.
#pragma once

#include <cstdint>
#include <vector>

constexpr std::int64_t points_per_rank = 1000;
constexpr int num_steps = 50;

/// The neighbours of a point, by global number: some near, one far away.
inline std::vector<std::int64_t> neighbours(std::int64_t point, std::int64_t num_points) {
  return {(point + 1) % num_points, (point + num_points - 1) % num_points, (point + 31) % num_points,
          (point * 37 + 11) % num_points};
}

inline double first_value(std::int64_t point) { return static_cast<double>(point % 97); }

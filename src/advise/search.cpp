// SPDX-License-Identifier: BSD-3-Clause
#include "advise/search.hpp"

#include <cmath>

namespace nuice::advice {

/// With y = z - low, the gain divided by chance is
///
///   below * (y + tail)^2 / (2 * tail)               y < 0
///   below * (y + tail / 2) + inside * y^2 / (2 * width)      0 <= y < width
///   below * (y + tail / 2) + inside * (y - width / 2)        otherwise
double reservation_value(const Range& cost, double look) {
  constexpr double inside = 0.9;
  constexpr double below = 0.05;
  const double tail = cost.low - cost.least;
  const double gain = look / cost.chance;
  if (gain < below * tail / 2) return cost.least + std::sqrt(2 * tail * gain / below);
  const double rest = gain - below * tail / 2;
  if (rest >= (below + inside / 2) * cost.width)
    return cost.low + (rest + inside * cost.width / 2) / (below + inside);
  // The root of inside / (2 * width) * y^2 + below * y = rest, in a form that also holds for a width of 0.
  return cost.low + 2 * rest / (below + std::sqrt(below * below + 2 * inside * rest / cost.width));
}

}  // namespace nuice::advice

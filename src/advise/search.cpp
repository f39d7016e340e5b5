// SPDX-License-Identifier: BSD-3-Clause
#include "advise/search.hpp"

#include <cmath>

namespace nuice::advice {

/// With y = z - low, the gain is chance * y^2 / (2 * width) up to y = width, and chance * (y - width / 2)
/// above.
double reservation_value(const Range& cost, double look) {
  const double gain = look / cost.chance;
  return cost.low + (gain < cost.width / 2 ? std::sqrt(2 * gain * cost.width) : gain + cost.width / 2);
}

}  // namespace nuice::advice

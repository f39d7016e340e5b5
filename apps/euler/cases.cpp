// SPDX-License-Identifier: BSD-3-Clause
#include "euler/cases.hpp"

#include <numbers>

namespace nuice::euler {

Flow uniform_flow(double mach, double alpha_degrees) {
  const double alpha = alpha_degrees * std::numbers::pi / 180;
  return {1, mach * std::cos(alpha), mach * std::sin(alpha), 1 / gamma_gas};
}

Flow vortex_background() { return {1, 1, 1, 1}; }

Flow vortex(const Vector& point, double t) {
  constexpr double strength = 5;
  const auto from_centre = [t](double x) {
    const double d = x - 0.5 * vortex_side - t;
    return d - vortex_side * std::round(d / vortex_side);
  };
  const double x = from_centre(point.x);
  const double y = from_centre(point.y);
  const double bell = strength / (2 * std::numbers::pi) * std::exp(0.5 * (1 - x * x - y * y));
  const double temperature = 1 - (gamma_gas - 1) / (2 * gamma_gas) * bell * bell;
  const double density = std::pow(temperature, 1 / (gamma_gas - 1));
  return {density, 1 - y * bell, 1 + x * bell, density * temperature};
}

}  // namespace nuice::euler

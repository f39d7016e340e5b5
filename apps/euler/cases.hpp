// SPDX-License-Identifier: BSD-3-Clause
// Flows to begin with, and what is known of them.
#pragma once

#include <numbers>
#include <span>
#include <vector>

#include "euler/gas.hpp"
#include "euler/mesh.hpp"

namespace nuice::euler {

inline constexpr double vortex_side = 10;

/// Uniform flow of this Mach number at an angle of attack in degrees; density 1, pressure 1 / gamma, so that the speed
/// of sound is 1.
inline Flow uniform_flow(double mach, double alpha_degrees) {
  const double alpha = alpha_degrees * std::numbers::pi / 180;
  return {1, mach * std::cos(alpha), mach * std::sin(alpha), 1 / gamma_gas};
}

/// Free-stream flow on the box itself: nothing but the drift.
inline Flow vortex_background() { return {1, 1, 1, 1}; }

/// The isentropic vortex (Yee, Sandham, Djomehri 1999; strength 5) in a periodic box of side vortex_side at time t: it
/// drifts with the flow, which has velocity (1, 1), and keeps its shape.
inline Flow vortex(const Vector& point, double t) {
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

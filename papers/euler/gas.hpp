// SPDX-License-Identifier: BSD-3-Clause
// An ideal gas, the flux between two of its states, initial flows and exact solutions.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "euler/mesh.hpp"

namespace nuice::euler {

inline constexpr double gamma_gas = 1.4;

using State = std::array<double, 4>;  // conserved: density, momentum x and y, energy; per area
using Flow = std::array<double, 4>;   // density, velocity x and y, pressure

inline Flow to_flow(const State& u) {
  const double vx = u[1] / u[0];
  const double vy = u[2] / u[0];
  return {u[0], vx, vy, (gamma_gas - 1) * (u[3] - 0.5 * (u[1] * vx + u[2] * vy))};
}

inline State to_state(const Flow& w) {
  return {w[0], w[0] * w[1], w[0] * w[2], w[3] / (gamma_gas - 1) + 0.5 * w[0] * (w[1] * w[1] + w[2] * w[2])};
}

inline double sound_speed(const Flow& w) { return std::sqrt(gamma_gas * w[3] / w[0]); }

/// Returns the flux through a face of length 1 whose normal velocity is vn.
inline State physical_flux(const State& u, const Flow& w, const Vector& n, double vn) {
  return {u[0] * vn, u[1] * vn + w[3] * n.x, u[2] * vn + w[3] * n.y, (u[3] + w[3]) * vn};
}

/// Returns the state between a wave of speed s and the contact of speed sm.
inline State star_state(const State& u, const Flow& w, const Vector& n, double vn, double s, double sm) {
  const double density = u[0] * (s - vn) / (s - sm);
  const double energy = u[3] / u[0] + (sm - vn) * (sm + w[3] / (u[0] * (s - vn)));
  return {density, density * (w[1] + (sm - vn) * n.x), density * (w[2] + (sm - vn) * n.y), density * energy};
}

/// Returns the HLLC flux (Toro, Spruce, Speares 1994) with the wave speeds of Batten et al. 1997, from left
/// to right through a face with this normal, times the length of the normal.
inline State hllc(const Flow& left, const Flow& right, const Vector& normal) {
  const double length = std::sqrt(dot(normal, normal));
  if (length == 0) return {0, 0, 0, 0};
  const Vector n = normal * (1 / length);
  const double vl = left[1] * n.x + left[2] * n.y;
  const double vr = right[1] * n.x + right[2] * n.y;
  // Roe's averages.
  const double root = std::sqrt(right[0] / left[0]);
  const State ul = to_state(left);
  const State ur = to_state(right);
  const auto average = [root](double l, double r) { return (l + root * r) / (1 + root); };
  const double vx = average(left[1], right[1]);
  const double vy = average(left[2], right[2]);
  const double enthalpy = average((ul[3] + left[3]) / ul[0], (ur[3] + right[3]) / ur[0]);
  const double v = vx * n.x + vy * n.y;
  const double c = std::sqrt((gamma_gas - 1) * (enthalpy - 0.5 * (vx * vx + vy * vy)));
  const double sl = std::min(vl - sound_speed(left), v - c);
  const double sr = std::max(vr + sound_speed(right), v + c);
  const double ml = left[0] * (sl - vl);
  const double mr = right[0] * (sr - vr);
  const double sm = (right[3] - left[3] + ml * vl - mr * vr) / (ml - mr);

  const bool from_left = sm >= 0;
  const State& u = from_left ? ul : ur;
  const Flow& w = from_left ? left : right;
  const double vn = from_left ? vl : vr;
  const double s = from_left ? sl : sr;
  State flux = physical_flux(u, w, n, vn);
  if (from_left ? sl < 0 : sr > 0) {
    const State star = star_state(u, w, n, vn, s, sm);
    for (std::size_t k = 0; k < 4; ++k) flux[k] += s * (star[k] - u[k]);
  }
  for (double& value : flux) value *= length;
  return flux;
}

inline constexpr double vortex_side = 10;

/// Returns a uniform flow of this Mach number at an angle of attack in degrees. The density is 1 and the
/// pressure 1 / gamma, so that the speed of sound is 1.
inline Flow uniform_flow(double mach, double alpha_degrees) {
  const double alpha = alpha_degrees * std::numbers::pi / 180;
  return {1, mach * std::cos(alpha), mach * std::sin(alpha), 1 / gamma_gas};
}

/// Returns the vortex's free stream: only the drift.
inline Flow vortex_background() { return {1, 1, 1, 1}; }

/// Returns the isentropic vortex (Yee, Sandham, Djomehri 1999; strength 5) in a periodic box of side
/// vortex_side at time t. It drifts with the flow's velocity (1, 1) and keeps its shape.
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

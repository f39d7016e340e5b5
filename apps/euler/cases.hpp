// SPDX-License-Identifier: BSD-3-Clause
// Flows to begin with, and what is known of them.
#pragma once

#include <span>
#include <vector>

#include "euler/gas.hpp"
#include "euler/mesh.hpp"

namespace nuice::euler {

/// Uniform flow of this Mach number at an angle of attack in degrees; density 1, pressure 1 / gamma, so that the speed
/// of sound is 1.
Flow uniform_flow(double mach, double alpha_degrees);

inline constexpr double vortex_side = 10;

/// The isentropic vortex (Yee, Sandham, Djomehri 1999; strength 5) in a periodic box of side vortex_side at time t: it
/// drifts with the flow, which has velocity (1, 1), and keeps its shape.
Flow vortex(const Vector& point, double t);

/// Free-stream flow on the box itself: nothing but the drift.
Flow vortex_background();

}  // namespace nuice::euler

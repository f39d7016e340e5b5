// SPDX-License-Identifier: BSD-3-Clause
// What ranks send in schedules that forward by the digits of the distance (schedulers/regular/bruck.cpp), in
// closed form.
#pragma once

#include <cstdint>

#include "advise/traits.hpp"

namespace nuice::advice {

/// The phases of a schedule. Each is one shift: of all messages whose distance has a certain digit.
struct Shifts {
  double phases = 0;
  double transfers = 0;  ///< The maximum number of a rank's transfers to others.
  double hops = 0;       ///< The average number of transfers of a message.
  double bytes = 0;      ///< Of the largest transfer of each phase, in total.
};

/// Estimates the shifts for a radix from the sampled messages. O(samples * digits + ranks).
Shifts shifts_of(const Traits& traits, std::int64_t radix);

}  // namespace nuice::advice

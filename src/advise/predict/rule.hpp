// SPDX-License-Identifier: BSD-3-Clause
// The rule: phases, bytes and exchange time in closed form, without a schedule but for those that forward.
// O(1) once the traits are known.
#pragma once

#include "advise/candidates.hpp"
#include "advise/traits.hpp"
#include "nuice/core/schedule.hpp"

namespace nuice::advice {

struct Estimate {
  double phases = 0;
  double phase_bytes = 0;
  double exchange_s = 0;
  double possible_s = 0;  ///< Of exchange_s: timeouts, where short queues may overflow.
};

/// link_bytes_s: what the bytes of the busiest link take, packets not padded.
Estimate rule(const Entry& candidate, const Traits& traits, const Machine& machine, double link_bytes_s);

/// Of one with Scheduler::straight_above: what it forwards, and what goes straight.
Estimate rule_of_parts(const Entry& candidate, const Traits& forwarded, const Traits& straight,
                       const Machine& machine, double link_bytes_s);

/// Of a schedule that forwards, counted: messages are carried several times, by ranks and links that a matrix does
/// not show. O(pieces + routes of transfers).
Estimate rule_of_steps(const Schedule& schedule, const Traits& traits, const Machine& machine);

}  // namespace nuice::advice

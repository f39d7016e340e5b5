// SPDX-License-Identifier: BSD-3-Clause
// The rule: phases, bytes and exchange time in closed form, without a schedule, except for schedulers that
// forward. O(1) once the traits are known.
#pragma once

#include "advise/candidates.hpp"
#include "advise/traits.hpp"
#include "nuice/core/schedule.hpp"

namespace nuice::advice {

struct Estimate {
  double phases = 0;
  double phase_bytes = 0;
  double exchange_s = 0;
  double possible_s = 0;  ///< The part of exchange_s that is timeouts, if short queues may overflow.
  double fullness = 0;    ///< The fullness of the fullest queue in the last walk. At 1 it overflows.
  int walks = 0;          ///< How often the schedule was walked through.
};

/// link_bytes_s: the time of the busiest link's bytes, without padding of packets.
Estimate rule(const Entry& candidate, const Traits& traits, const Machine& machine, double link_bytes_s);

/// Estimates a candidate with Scheduler::straight_above, which sends longer messages directly. `forwarded`
/// describes the forwarded messages, `straight` the direct messages.
Estimate rule_of_parts(const Entry& candidate, const Traits& forwarded, const Traits& straight,
                       const Machine& machine, double link_bytes_s);

/// Estimates a schedule that forwards by counting its transfers. A forwarded message loads several ranks and
/// links, which the matrix does not show. O(pieces + routes of transfers).
Estimate rule_of_steps(const Schedule& schedule, const Traits& traits, const Machine& machine);

}  // namespace nuice::advice

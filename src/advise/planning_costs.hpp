// SPDX-License-Identifier: BSD-3-Clause
// What planning and deciding cost, in seconds of the machine of docs/measurements.md, from counts: no clock is read.
#pragma once

#include <string_view>

#include "advise/traits.hpp"
#include "nuice/plan/machine.hpp"

namespace nuice::advice {

/// Making and checking one schedule.
double planning_s(std::string_view scheduler, const Traits& traits);

/// The traits and the rule for all candidates.
double rule_cost_s(const Traits& traits, double candidates);
/// Walking through a schedule of about so many transfers.
double model_cost_s(const Traits& traits, double transfers);
/// all_at_once: executor async.
double simulation_cost_s(const Traits& traits, double transfers, const Machine& machine, bool all_at_once);
/// What refused inquiries add to that for DRS_N, in an exchange of about so many seconds.
double refusals_cost_s(const Traits& traits, const Machine& machine, double exchange_s);

}  // namespace nuice::advice

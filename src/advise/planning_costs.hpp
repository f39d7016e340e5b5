// SPDX-License-Identifier: BSD-3-Clause
// What planning and deciding cost, in seconds of the machine of docs/explanation/results.md, from counts: no clock is read.
#pragma once

#include "advise/traits.hpp"
#include "nuice/plan/machine.hpp"
#include "nuice/plan/scheduler.hpp"

namespace nuice::advice {

/// Making and checking one schedule.
double planning_s(const PlanningCost& cost, const MatrixTraits& traits);

/// S on that machine: its processors' speed, and, where it has a control network, what it takes to learn of the others'
/// messages: the whole matrix; or, where a rank plans its own row only (Scheduler::gathers is false) or there is no plan (null), its
/// sources (004 s.3, table 3).
double planning_on_s(const Scheduler* planner, const Traits& traits, const Machine& machine);

/// The traits and the rule for all candidates.
double rule_cost_s(const Traits& traits, double candidates);
/// Walking through a schedule of about that many transfers.
double model_cost_s(const Traits& traits, double transfers);
/// all_at_once: of an executor that waits for nothing.
double simulation_cost_s(const Traits& traits, double transfers, const Machine& machine, bool all_at_once);
/// What refused inquiries add to that for DRS_N, in an exchange of about that many seconds.
double refusals_cost_s(const Traits& traits, const Machine& machine, double exchange_s);

}  // namespace nuice::advice

// SPDX-License-Identifier: BSD-3-Clause
// Counts work instead of timing it, so that every rank and every run decides alike: the work of planning a
// schedule and of predicting an exchange. docs/explanation/advise.md compares the counts with a clock.
#pragma once

#include "advise/traits.hpp"
#include "nuice/plan/machine.hpp"
#include "nuice/plan/scheduler.hpp"

namespace nuice::advice {

/// Returns the time of making one schedule on this computer.
double making_s(const Scheduler& planner, const MatrixTraits& traits);

/// Returns the time of making one schedule and checking it.
double planning_s(const Scheduler& planner, const MatrixTraits& traits);

/// Returns the planning time S on that machine, at the speed of its processors. If the machine has a control
/// network, S includes the time to learn other ranks' messages (004 s.3, table 3). These are the whole
/// matrix, or only the rank's own sources if each rank plans its own row (Scheduler::gathers is false) or
/// there is no plan (null).
double planning_on_s(const Scheduler* planner, const Traits& traits, const Machine& machine);

/// Returns the work of the traits and of the rule for all candidates.
double rule_work_s(const Traits& traits, double candidates);

/// Returns the work of rule_of_phases(): about one transfer per message. Messages that are sent all at once
/// meet more often in queues.
double walk_work_s(const Traits& traits, bool all_at_once);

/// Returns the work of a run of simulate() with about this number of transfers. all_at_once: whether the
/// executor sends everything at once.
double fluid_work_s(const Traits& traits, double transfers, const Machine& machine, bool all_at_once);

/// Returns the additional work for the refused inquiries of DRS_N in an exchange of about exchange_s seconds.
double refusals_work_s(const Traits& traits, const Machine& machine, double exchange_s);

/// Returns the work of two runs of simulate_packets() with this number of packets.
double packets_work_s(const Traits& traits, double packets);

}  // namespace nuice::advice

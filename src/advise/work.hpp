// SPDX-License-Identifier: BSD-3-Clause
// Work that is counted instead of timed, so that every rank and every run decides alike: planning a schedule, and
// predicting an exchange. docs/explanation/advise.md says how far the counts are from a clock.
#pragma once

#include "advise/traits.hpp"
#include "nuice/plan/machine.hpp"
#include "nuice/plan/scheduler.hpp"

namespace nuice::advice {

/// Making and checking one schedule on this computer.
double planning_s(const Scheduler& planner, const MatrixTraits& traits);

/// S on that machine: its processors' speed, and, where it has a control network, what it takes to learn of the others'
/// messages: the whole matrix; or, where a rank plans its own row only (Scheduler::gathers is false) or there is no plan (null), its
/// sources (004 s.3, table 3).
double planning_on_s(const Scheduler* planner, const Traits& traits, const Machine& machine);

/// The traits and the rule for all candidates.
double rule_work_s(const Traits& traits, double candidates);

/// The recurrence over a schedule's transfers, about one for every message.
double walk_work_s(const Traits& traits);

/// A run of simulate() with about that many transfers. all_at_once: of an executor that waits for nothing.
double fluid_work_s(const Traits& traits, double transfers, const Machine& machine, bool all_at_once);

/// What refused inquiries add to that for DRS_N, in an exchange of about that many seconds.
double refusals_work_s(const Traits& traits, const Machine& machine, double exchange_s);

/// Two runs of simulate_packets() with that number of packets.
double packets_work_s(const Traits& traits, double packets);

}  // namespace nuice::advice

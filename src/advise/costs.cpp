// SPDX-License-Identifier: BSD-3-Clause
#include "advise/costs.hpp"

#include <algorithm>

#include "advise/predict/walk.hpp"
#include "advise/search.hpp"
#include "advise/work.hpp"

namespace nuice::advice {
namespace {

// Counted on ethernet-10g and ethernet-1g, with matrices of bench/cases/advise.py (seeds from 500 and 7000)
// and of real programs (bench/kit/applications.py), of which up to 24 ranks became one.

/// The probability that timeouts do not happen that the rule fears: in 37 of 1,000 cases for executors that
/// send all messages at once. In phases it depends on the schedule: in 61 of 348 cases if messages are
/// forwarded, in 652 of 869 otherwise.
constexpr double no_timeout_at_once = 0.04;
constexpr double no_timeout_in_phases = 0.5;

/// The same for timeouts that a walk found: in 27 of 60 cases if the queue is not quite full in the walk, and
/// turns few messages away; else in 11 of 2,601, which is rounded up.
constexpr double no_timeout_if_nearly_full = 0.45;
constexpr double no_timeout_of_walk = 0.01;

/// The probability of a timeout that the last walk has not found: where walks differ 7 of 195, where a queue
/// is nearly full 2 of 855, with forwarding 9 of 343, at once 0 of 238, else 0 of 9,844.
constexpr double missed_where_walks_differ = 0.035;
constexpr double missed_timeout = 0.003;
constexpr double missed_timeout_forwarding = 0.026;

}  // namespace

double no_timeout_of_rule(const Entry& candidate) {
  return candidate.runner->pace == Pace::at_once ? no_timeout_at_once : no_timeout_in_phases;
}

void note_timeouts(Entry& candidate, const Estimate& walked, const Machine& machine) {
  const bool overflows = walked.fullness >= 1 || walked.possible_s > machine.timeout_s;
  candidate.no_timeout = overflows ? no_timeout_of_walk : no_timeout_if_nearly_full;
  if (walked.possible_s > 0 || candidate.runner->pace == Pace::at_once) return;
  if (walked.walks > 1) {
    candidate.risk_s = machine.timeout_s * missed_where_walks_differ;
  } else if (walked.fullness >= nearly_full) {
    const double missed = candidate.forwards() ? missed_timeout_forwarding : missed_timeout;
    candidate.risk_s = machine.timeout_s * missed;
  }
}

double Costs::making_share_s(const Entry& candidate) const {
  if (candidate.planner == nullptr) return 0;
  return std::min(making_s(*candidate.planner, *traits_), candidate.planning_s) / reuse_;
}

double Costs::reservation_s(const Entry& candidate, double look_s) const {
  const double made_s = making_share_s(candidate);
  const double low_s = at_best_s(candidate) - made_s;
  const double error_s = (candidate.exchange_s - candidate.possible_s) * candidate.doubt;
  const double least = std::clamp(least_s(candidate) - made_s, low_s - error_s, low_s);
  const Range range{.least = least,
                    .low = low_s,
                    .width = 2 * error_s,
                    .chance = candidate.possible_s > 0 ? candidate.no_timeout : 1};
  return reservation_value(range, look_s / reuse_);
}

}  // namespace nuice::advice

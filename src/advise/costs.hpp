// SPDX-License-Identifier: BSD-3-Clause
// What a candidate may cost, according to its prediction: seconds per exchange, with its share of the
// planning time.
#pragma once

#include "advise/candidates.hpp"
#include "advise/predict/rule.hpp"
#include "advise/traits.hpp"
#include "nuice/plan/machine.hpp"

namespace nuice::advice {

/// The relative uncertainty of a prediction with timeouts that may not happen.
constexpr double timeout_uncertainty = 1;

/// Returns the probability that timeouts do not happen that the rule fears for the candidate.
double no_timeout_of_rule(const Entry& candidate);

/// Notes how probable timeouts are that a walk has found or missed.
void note_timeouts(Entry& candidate, const Estimate& walked, const Machine& machine);

class Costs {
 public:
  /// reuse: exchanges with a plan. bound_s: no exchange is shorter. The traits must outlive the object.
  Costs(double reuse, double bound_s, const Traits& traits)
      : reuse_(reuse), bound_s_(bound_s), traits_(&traits) {}

  /// No schedule costs less.
  double least_s(const Entry& candidate) const { return candidate.planning_s / reuse_ + bound_s_; }

  /// Returns the lower end of the candidate's cost. It assumes no timeouts, and that the prediction's
  /// uncertainty is in the candidate's favour.
  static double at_best_s(const Entry& candidate) {
    const double surely_s = candidate.exchange_s - candidate.possible_s;
    return candidate.total_s - candidate.exchange_s + surely_s * (1 - candidate.doubt);
  }

  /// Returns the upper end of the candidate's cost. A simulated cost has no uncertainty. Timeouts that a walk
  /// may have missed are so rare, and so long, that their expected time is added.
  static double at_worst_s(const Entry& candidate) {
    const double doubt = candidate.possible_s > 0 ? timeout_uncertainty : candidate.doubt;
    return candidate.total_s + candidate.exchange_s * doubt + candidate.risk_s;
  }

  /// Returns whether the candidate can have the lowest cost if another candidate costs best_s.
  bool can_win(const Entry& candidate, double best_s) const { return least_s(candidate) < best_s; }

  /// Whether the candidate may have the lowest cost within the uncertainty of its prediction.
  static bool may_win(const Entry& candidate, double best_s) { return at_best_s(candidate) < best_s; }

  /// Returns the part of the candidate's cost that is no longer needed once its schedule is made.
  double making_share_s(const Entry& candidate) const;

  /// Returns the reservation value of a candidate, for a look that takes look_s. If the candidate wins, the
  /// look has made its schedule, so the time to make it is not added.
  double reservation_s(const Entry& candidate, double look_s) const;

 private:
  double reuse_;
  double bound_s_;
  const Traits* traits_;
};

}  // namespace nuice::advice

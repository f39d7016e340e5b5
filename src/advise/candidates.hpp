// SPDX-License-Identifier: BSD-3-Clause
// The combinations of schedulers and executors, and what they require.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nuice/core/executor.hpp"
#include "nuice/plan/advise.hpp"

namespace nuice::advice {

/// A candidate and its rows in the tables.
struct Entry : Candidate {
  Entry(const Scheduler* scheduler_row, const Executor& executor_row)
      : planner(scheduler_row), runner(&executor_row) {
    scheduler = planner != nullptr ? planner->name : runner->without_scheduler;
    executor = runner->name;
  }

  /// Whether its messages are forwarded by other ranks (store and forward).
  bool forwards() const { return planner != nullptr && (planner->guarantees & direct) == 0; }

  const Scheduler* planner;  ///< nullptr if the executor needs no schedule.
  const Executor* runner;
  std::optional<std::size_t> transfers = std::nullopt;  ///< Set once its schedule has been made.
  double possible_s = 0;      ///< The part of exchange_s that the rule assigns to possible timeouts.
  double risk_s = 0;          ///< The expected time of timeouts that a walk may have missed.
  double no_timeout = 1;      ///< If possible_s is not 0, the probability that there is no timeout.
  double doubt = 0;           ///< The relative error of exchange_s on exactly this machine.
  bool is_counted = false;    ///< Whether the rule used its schedule.
  bool is_simulated = false;  ///< Also set if there is no simulator for a candidate that would be simulated.
};

/// Returns the candidates that the options name, or all candidates. Each occurs once, even if it has several
/// names.
std::vector<Entry> candidates_of(const AdviceOptions& options, const Machine& machine);

/// Returns the problem from which schedules of this matrix are made on this machine.
Problem problem_of(const CommMatrix& matrix, const Machine& machine, std::uint64_t seed);

/// Returns why the candidate cannot handle the problem; empty if it can.
std::string why_not(const Entry& candidate, const Problem& problem, const Machine& machine);

}  // namespace nuice::advice

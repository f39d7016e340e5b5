// SPDX-License-Identifier: BSD-3-Clause
// Which scheduler goes with which executor, and what that needs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nuice/core/executor.hpp"
#include "nuice/plan/advise.hpp"

namespace nuice::advice {

/// A candidate and its rows.
struct Entry : Candidate {
  Entry(const Scheduler* scheduler_row, const Executor& executor_row)
      : planner(scheduler_row), runner(&executor_row) {
    scheduler = planner != nullptr ? planner->name : runner->without_scheduler;
    executor = runner->name;
  }

  /// Its messages travel over ranks in between (store and forward).
  bool forwards() const { return planner != nullptr && (planner->guarantees & direct) == 0; }

  const Scheduler* planner;  ///< nullptr: its executor needs no schedule.
  const Executor* runner;
  std::optional<std::size_t> transfers = std::nullopt;  ///< Once its schedule was made.
  double possible_s = 0;      ///< Of exchange_s, by the rule: timeouts that there may be.
  bool is_counted = false;    ///< Of one that forwards: its rule is that of its schedule.
  bool is_simulated = false;  ///< Or was to be, and there is no simulator of it.
};

/// Those of the options, or all; each once, and one of those that are the same under several names.
std::vector<Entry> candidates_of(const AdviceOptions& options, const Machine& machine);

/// What the schedules of this matrix are made with on this machine.
Problem problem_of(const CommMatrix& matrix, const Machine& machine, std::uint64_t seed);

/// Empty if the candidate can handle the problem.
std::string why_not(const Entry& candidate, const Problem& problem, const Machine& machine);

}  // namespace nuice::advice

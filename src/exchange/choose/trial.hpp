// SPDX-License-Identifier: BSD-3-Clause
// A contest of plans for the same matrix while planning, with exchanges at their real sizes, on memory of its own.
#pragma once

#include <cstddef>
#include <vector>

#include "exchange/contest/contest.hpp"
#include "mpi/communicator.hpp"
#include "nuice/mpi/plan.hpp"

namespace nuice::mpi {

/// Equal on all ranks: of maxima over the ranks.
struct TrialResult {
  double cost_s;  ///< The geometric mean of the reports.
  int repetitions;
};

class Trial {
 public:
  explicit Trial(const Communicator& comm) : comm_(comm) {}

  /// Collective. All plans must be for the same matrix. Takes as much memory as a rank sends and receives, once.
  /// Throws Error limit, on all ranks, if one has not so much, and as Plan::bind().
  void add(Plan plan);

  /// Collective. Rounds until one plan is left, or 30, or 5 and a second, are over. A result per plan.
  std::vector<TrialResult> run();

 private:
  struct Runner {
    Plan plan;
    Exchange exchange;
  };
  void take_memory(const Plan& plan);
  /// What it took.
  double run_round(exchange::Contest& contest);

  const Communicator& comm_;
  std::vector<std::byte> memory_;
  std::vector<SendBuffer> send_;
  std::vector<ReceiveBuffer> receive_;
  std::vector<Runner> runners_;
};

}  // namespace nuice::mpi

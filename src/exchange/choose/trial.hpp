// SPDX-License-Identifier: BSD-3-Clause
// Times plans for the same matrix beside each other, at their real sizes, on memory of its own.
#pragma once

#include <cstddef>
#include <vector>

#include "mpi/communicator.hpp"
#include "nuice/mpi/plan.hpp"

namespace nuice::mpi {

/// Equal on all ranks: from maxima over the ranks.
struct TrialResult {
  double cost_s;  ///< The mean, of many without the worst tenth.
  int repetitions;
};

class Trial {
 public:
  explicit Trial(const Communicator& comm) : comm_(comm) {}

  /// Collective. All plans must be for the same matrix. Takes as much memory as a rank sends and receives, once.
  /// Throws Error limit, on all ranks, if one has not so much, and as Plan::bind().
  void add(Plan plan);

  /// Collective. The plans take turns, round by round, until 30 rounds, or 5 and a second, are over; one that is much
  /// slower than the best leaves earlier. A result per plan.
  std::vector<TrialResult> run();

 private:
  struct Runner {
    Plan plan;
    Exchange exchange;
    std::vector<double> times_s;
    bool is_out = false;
  };
  void take_memory(const Plan& plan);
  void run_round(std::size_t first);
  void drop_slow_ones();

  const Communicator& comm_;
  std::vector<std::byte> memory_;
  std::vector<SendBuffer> send_;
  std::vector<ReceiveBuffer> receive_;
  std::vector<Runner> runners_;
};

}  // namespace nuice::mpi

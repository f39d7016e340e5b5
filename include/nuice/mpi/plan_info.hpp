// SPDX-License-Identifier: BSD-3-Clause
// Statistics of a plan (Plan::info()).
#pragma once

#include <cstdint>
#include <string>

#include "nuice/core/bounds.hpp"
#include "nuice/core/types.hpp"
#include "nuice/plan/scheduler.hpp"

namespace nuice::mpi {

/// Statistics of a plan. They are equal on all ranks; the times are maxima over the ranks.
struct PlanInfo {
  std::string scheduler;  ///< The scheduler that was used, never "auto".
  std::uint64_t seed = 0;
  Bytes phase_cost_bytes = default_phase_cost_bytes;
  /// The executor, a name of nuice::executors(), never "auto". Exchange::info() names the executor that an
  /// exchange really uses.
  std::string executor;
  std::string overridden;      ///< The options that NUICE_OPTIONS has overridden.
  Rank num_hosts = 0;          ///< The number of hosts; without PlanOptions::hosts the number of ranks.
  bool combined = false;       ///< Whether messages between two hosts are combined.
  bool shared_memory = false;  ///< Whether messages inside a host use shared memory.
  MessageId num_messages = 0;  ///< The number of messages of all ranks, without messages of a rank to itself.
  MessageId num_kept = 0;      ///< The number of messages that Plan::follow() kept in their phases.
  PhaseId num_phases = 0;
  Bytes phase_bytes = 0;  ///< The sum of the largest transfers of all phases.
  /// The maximum number of bytes that a rank stages for other ranks during an exchange, in memory that bind()
  /// allocates; 0 if no message is forwarded.
  Bytes staged_bytes = 0;
  Bounds bounds;
  /// For a halo: the number of bytes that need not cross the network, because each host gets a value only
  /// once (PlanOptions::once_per_host).
  Bytes spared_bytes = 0;
  double gather_s = 0;  ///< The time to learn the matrix.
  /// The time to choose the scheduler, including the time to make and to measure candidates; 0 unless the
  /// scheduler was "auto".
  double choose_s = 0;
  double schedule_s = 0;   ///< The time to make the schedule and this rank's table.
  double check_s = 0;      ///< The time of nuice::check(); 0 without a check.
  double predicted_s = 0;  ///< With "auto": the predicted time of an exchange.
};

}  // namespace nuice::mpi

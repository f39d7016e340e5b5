// SPDX-License-Identifier: BSD-3-Clause
// Finds the machine for which the scheduler "auto" chooses.
#pragma once

#include <string>

#include "mpi/communicator.hpp"
#include "nuice/mpi/plan.hpp"
#include "nuice/plan/machine.hpp"

namespace nuice::mpi {

/// A machine, the same on all ranks, and its origin.
struct PickedMachine {
  Machine machine;
  std::string sentence;  // "The machine is shared-memory, shipped with nuice: ..."
  /// Whether the program or the environment names the machine, and its worst_check is small enough for its
  /// predictions to be used.
  bool is_named = false;
  /// Whether the machine's predictions should not be used, because no machine is named or calibrated, or its
  /// worst_check is too large.
  bool is_nominal = false;
  /// Whether all ranks share memory. False for a machine that the options name, unless it is nominal.
  bool is_one_host = false;
};

/// Collective. Rank 0 reads the machine for all ranks. It takes the first of these that exists:
/// options.automatic.machine, $NUICE_MACHINE, the file of nuice-calibrate --save, a shipped machine. A
/// crossbar with too few ranks is enlarged, because all its ports are alike. options.topology replaces the
/// machine's topology. Throws Error like find_machine() and make_topology(), the same on all ranks.
PickedMachine pick_machine(const Communicator& comm, const PlanOptions& options);

}  // namespace nuice::mpi

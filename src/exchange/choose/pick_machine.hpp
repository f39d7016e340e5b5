// SPDX-License-Identifier: BSD-3-Clause
// Which machine the scheduler "auto" chooses for.
#pragma once

#include <string>

#include "mpi/communicator.hpp"
#include "nuice/mpi/plan.hpp"
#include "nuice/plan/machine.hpp"

namespace nuice::mpi {

/// A machine, the same on all ranks, and where it is from.
struct PickedMachine {
  Machine machine;
  std::string sentence;  // "The machine is shared-memory, shipped with nuice: ..."
  bool is_named =
      false;  // by the program or the environment, which want its predictions; its own check was right
  bool is_nominal = false;  // none was named, and none calibrated whose own check was right
  /// All ranks share memory. Not said of a machine that is named in the options, unless its own check was off.
  bool is_one_host = false;
};

/// Collective. Rank 0 looks for it, and reads it for all: options.automatic.machine; $NUICE_MACHINE; what nuice-calibrate --save has
/// left; a shipped one. A crossbar with too few ranks grows, as a port of it is like another; options.topology takes the
/// place of the machine's own.
/// Throws Error, the same on all ranks, as find_machine() and make_topology().
PickedMachine pick_machine(const Communicator& comm, const PlanOptions& options);

}  // namespace nuice::mpi

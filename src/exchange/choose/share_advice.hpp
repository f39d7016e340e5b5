// SPDX-License-Identifier: BSD-3-Clause
// Planning::root with the scheduler "auto": only rank 0 has the matrix, so only it can ask the adviser.
#pragma once

#include "mpi/communicator.hpp"
#include "nuice/plan/advise.hpp"

namespace nuice::mpi {

/// Collective. Rank 0's advice on all ranks, but for its schedule, which stays on rank 0. O(candidates).
void share_advice(const Communicator& comm, Advice& advice);

}  // namespace nuice::mpi

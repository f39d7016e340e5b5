// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "mpi/communicator.hpp"

namespace nuice::mpi {

/// Collective over these ranks of a host. Returns whether there are more ranks than cores on which any of
/// them may run.
bool outnumber_cores(const Communicator& comm, std::span<const Rank> ranks);

}  // namespace nuice::mpi

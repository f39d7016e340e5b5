// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "mpi/communicator.hpp"

namespace nuice::mpi {

/// Collective over these ranks of a host. Whether they outnumber the cores that any of them may run on.
bool outnumber_cores(const Communicator& comm, std::span<const Rank> ranks);

}  // namespace nuice::mpi

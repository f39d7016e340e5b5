// SPDX-License-Identifier: BSD-3-Clause
// Which ranks have the same number, where no rank has memory for the numbers of all.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/communicator.hpp"

namespace nuice::mpi {

/// Collective, once for a communicator. The ranks whose number is `mine`, this one among them, ascending. Every number has a rank that is told by all that have it (the number
/// modulo the ranks) and tells them of each other. Throws Error mpi or timeout as wait() (wait.hpp).
/// Memory: O(ranks with this number), and on the rank that is told, their square at worst: where they are not back to back.
std::vector<Rank> meet(const Communicator& comm, std::uint64_t mine);

}  // namespace nuice::mpi

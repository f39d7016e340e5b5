// SPDX-License-Identifier: BSD-3-Clause
// Finds the ranks that have the same number, without memory for the numbers of all ranks on any rank.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/communicator.hpp"

namespace nuice::mpi {

/// Collective; called once per communicator. Returns the ranks whose number is `mine`, including this rank,
/// in ascending order. For every number one rank (the number modulo the number of ranks) collects the ranks
/// that have the number, and tells them of each other. Throws Error `mpi` or `timeout` like wait()
/// (wait.hpp). Memory: O(k) for the k ranks with this number; on the rank that collects them O(k^2) in the
/// worst case, in which no two of them are consecutive.
std::vector<Rank> meet(const Communicator& comm, std::uint64_t mine);

}  // namespace nuice::mpi

// SPDX-License-Identifier: BSD-3-Clause
// A path for every message, so that the busiest link has little to carry, on any network (path_coloring).
#pragma once

#include <cstdint>
#include <vector>

#include "nuice/core/comm_matrix.hpp"
#include "nuice/core/topology.hpp"

namespace nuice::sched {

/// By message: a path of Topology::append_path(), or no_path where the network has one path only. Requires
/// topology.num_ranks() >= matrix.num_ranks().
///
/// Each message, the largest first, takes the path that adds least to the sum over links of (bytes / capacity)^4. Then
/// all messages choose again, until none moves or 8 times. The fourth power stands for the largest: full links count, and
/// others only where there is a choice between them. Minimising the largest link alone would stall. Local search with this
/// kind of potential ends in a pure equilibrium (congestion games, Rosenthal 1973).
///
/// At most 64 paths of a message are looked at, spread evenly over all.
/// O(8 * messages * paths * links of a path) time; 8 bytes per link and message.
std::vector<std::int64_t> balance_paths(const CommMatrix& matrix, const Topology& topology);

}  // namespace nuice::sched

// SPDX-License-Identifier: BSD-3-Clause
// Chooses a path for every message so that the busiest link carries as little as possible, on any network
// (path_coloring).
#pragma once

#include <cstdint>
#include <vector>

#include "nuice/core/comm_matrix.hpp"
#include "nuice/core/topology.hpp"

namespace nuice::sched {

/// Returns for each message a path of Topology::append_path(), or no_path if there is only one path. Requires
/// topology.num_ranks() >= matrix.num_ranks().
///
/// Each message, the largest first, takes the path that adds least to the sum over links of (bytes /
/// capacity)^4. Then all messages choose again, until no message changes its path, but at most 8 times. The
/// fourth power approximates the maximum: heavily loaded links dominate, and other links matter only if the
/// choice is between them. Minimising the maximum itself would get stuck. Local search with this kind of
/// potential ends in a pure equilibrium (congestion games, Rosenthal 1973).
///
/// At most 64 paths of a message are tried, spread evenly over all its paths. O(8 * messages * paths * links
/// of a path) time; 8 bytes per link and message.
std::vector<std::int64_t> balance_paths(const CommMatrix& matrix, const Topology& topology);

}  // namespace nuice::sched

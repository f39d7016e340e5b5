// SPDX-License-Identifier: BSD-3-Clause
// A path for every message, so that the busiest link has little to carry, whatever the network. For schedulers that choose
// paths where no theorem says how (searched_paths.cpp).
#pragma once

#include <cstdint>
#include <vector>

#include "nuice/core/comm_matrix.hpp"
#include "nuice/core/topology.hpp"

namespace nuice::sched {

/// By message: a path of Topology::append_path(), or no_path where the network has one way only. Requires
/// topology.num_ranks() >= matrix.num_ranks().
///
/// Each message, the largest first, takes the way that adds least to the sum over links of (bytes / capacity)^4; then
/// every rank chooses again, until no rank moves or 8 times. The fourth power stands for the largest: links that are full
/// count, and others only where there is a choice between them. Local search with this kind of potential ends in a
/// pure equilibrium (congestion games, Rosenthal 1973).
///
/// At most 64 ways of a message are looked at, spread evenly over all.
/// O(8 * messages * ways * links of a way) time; 8 bytes per link and message.
std::vector<std::int64_t> balance_paths(const CommMatrix& matrix, const Topology& topology);

}  // namespace nuice::sched

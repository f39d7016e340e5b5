// SPDX-License-Identifier: BSD-3-Clause
// Reduces a network to the links that its first ranks can use, in the same order. Advice for eight ranks of a
// machine with a million then takes no longer than on a machine with eight.
#pragma once

#include <memory>

#include "nuice/core/topology.hpp"

namespace nuice::advice {

/// Returns the network with only the links on paths between its first num_ranks ranks. If the network has so
/// few links that finding the used ones would take longer, returns it unchanged. Cost: the paths between all
/// pairs, at most a quarter of the links.
std::shared_ptr<const Topology> with_used_links(std::shared_ptr<const Topology> whole, Rank num_ranks);

}  // namespace nuice::advice

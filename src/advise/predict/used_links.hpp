// SPDX-License-Identifier: BSD-3-Clause
// A network as few of its ranks see it: only the links that they can use, in the same order. Eight ranks on a machine of a
// million are then advised as fast as on one of eight.
#pragma once

#include <memory>

#include "nuice/core/topology.hpp"

namespace nuice::advice {

/// The same network with the links on the paths between its first num_ranks ranks only; the network itself where it has
/// so few links that looking for those takes longer. Cost: the paths between all pairs, at most a quarter of the links.
std::shared_ptr<const Topology> with_used_links(std::shared_ptr<const Topology> whole, Rank num_ranks);

}  // namespace nuice::advice

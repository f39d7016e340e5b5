// SPDX-License-Identifier: BSD-3-Clause
// Partners that a rank lists more than once, as both neighbours of a periodic grid that is two ranks wide. They are planned as one
// message and bound part by part: its parts are contiguous, in the sender's order.
#pragma once

#include <span>
#include <vector>

#include "exchange/plan/plan_group.hpp"
#include "nuice/core/phase_table.hpp"

namespace nuice::mpi {

/// Each partner once, with the sum of its bytes, where it stands first. Throws Error limit for a sum above max_bytes.
std::vector<Partner> merged(Rank rank, std::span<const Partner> listed);

/// Collective. The bytes that a rank needs at most to tell another what it has listed for it: 0 where no rank lists one twice.
std::size_t most_listing_bytes(const Communicator& comm, std::span<const Partner> listed);

/// Collective. The sources as their ranks have listed this one, by ascending rank, without empty ones. most_bytes: not 0. sources:
/// each once. O(own messages + log ranks).
std::vector<Partner> listed_sources(TagSpace& tags, std::span<const Partner> listed,
                                    std::span<const Partner> sources, std::size_t most_bytes);

}  // namespace nuice::mpi

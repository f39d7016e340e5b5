// SPDX-License-Identifier: BSD-3-Clause
// Partners that a rank lists more than once, such as both neighbours on a periodic grid that is two ranks
// wide. They are planned as one message and bound part by part. The parts are contiguous, in the sender's
// order.
#pragma once

#include <span>
#include <vector>

#include "exchange/plan/plan_group.hpp"
#include "nuice/core/phase_table.hpp"

namespace nuice::mpi {

/// Returns each partner once, in the order in which partners first appear, with the sum of its bytes. Throws
/// Error `limit` if a sum exceeds max_bytes.
std::vector<Partner> merged(Rank rank, std::span<const Partner> listed);

/// Collective. Returns the maximum size of a message by which a rank tells another how it lists that rank; 0
/// if no rank lists a partner twice.
std::size_t most_listing_bytes(const Communicator& comm, std::span<const Partner> listed);

/// Collective. Returns the sources by ascending rank. A source that lists this rank several times appears as
/// often, in the order of its list. Empty messages are left out. sources: each source once. most_bytes:
/// most_listing_bytes(), not 0. Cost: O(own messages + log ranks).
std::vector<Partner> listed_sources(TagSpace& tags, std::span<const Partner> listed,
                                    std::span<const Partner> sources, std::size_t most_bytes);

}  // namespace nuice::mpi

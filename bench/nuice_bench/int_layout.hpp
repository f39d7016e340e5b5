// SPDX-License-Identifier: BSD-3-Clause
// Messages in the layout of MPI 3.1's collectives.
#pragma once

#include <climits>
#include <vector>

#include "kit/errors.hpp"
#include "nuice_bench/payload.hpp"

namespace nuice::bench {

/// Counts and displacements by position in Messages, as int for MPI 3.1.
struct IntLayout {
  std::vector<int> counts;
  std::vector<int> offsets;
};

/// Returns the layout. Throws Error limit if a number does not fit in an int.
inline IntLayout int_layout(const Messages& messages, Rank rank) {
  if (messages.memory.size() > INT_MAX)
    kit::fail(ErrorCode::limit, "rank {} has {} bytes on one side, more than MPI's int counts", rank,
              messages.memory.size());
  IntLayout layout;
  for (std::size_t i = 0; i < messages.partners.size(); ++i) {
    layout.counts.push_back(static_cast<int>(messages.partners[i].bytes));
    layout.offsets.push_back(static_cast<int>(messages.offsets[i]));
  }
  return layout;
}

inline std::vector<int> ranks_of(const Messages& messages) {
  std::vector<int> ranks;
  for (const Partner& partner : messages.partners) ranks.push_back(partner.rank);
  return ranks;
}

}  // namespace nuice::bench

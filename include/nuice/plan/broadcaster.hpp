// SPDX-License-Identifier: BSD-3-Clause
// The registry of broadcast algorithms.
//
//   BroadcastSchedule plan = make_broadcast("reb", num_ranks, root);         // to all
//   BroadcastSchedule plan = make_broadcast("reb", num_ranks, root, group);  // to a selected group
#pragma once

#include <span>
#include <string_view>

#include "nuice/core/broadcast.hpp"

namespace nuice {

/// A registry entry: a broadcast algorithm.
struct Broadcaster {
  std::string_view name;     ///< The name, such as "reb".
  std::string_view summary;  ///< A one-line description.
  std::string_view source;   ///< The paper and figure that describe it.
  /// Makes the broadcast from chain[0], the root, to the other ranks of `chain`. Each rank occurs once.
  BroadcastSchedule (*make)(Rank num_ranks, std::span<const Rank> chain);
};

/// Returns all entries, in a fixed order.
std::span<const Broadcaster> broadcasters();

/// Makes a broadcast from root to all ranks. Throws Error with code `invalid_argument` for an unknown name or
/// an invalid root.
BroadcastSchedule make_broadcast(std::string_view name, Rank num_ranks, Rank root);

/// Makes a broadcast from root to the ranks of `group`. The group is in any order and may include the root.
/// No other rank takes part. Throws Error with code `invalid_argument` also if the group contains an invalid
/// rank, or contains a rank twice.
BroadcastSchedule make_broadcast(std::string_view name, Rank num_ranks, Rank root,
                                 std::span<const Rank> group);

}  // namespace nuice

// SPDX-License-Identifier: BSD-3-Clause
// The registry of broadcast algorithms. scheduler.hpp has the registry of schedulers.
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
  /// Makes the broadcast. chain[0] is the root; the other entries are the ranks that need the message, each
  /// once.
  BroadcastSchedule (*make)(Rank num_ranks, std::span<const Rank> chain);
};

/// Returns all entries, in a fixed order.
std::span<const Broadcaster> broadcasters();

/// Makes a broadcast from root to all ranks. Throws Error invalid_argument for an unknown name or an invalid
/// root.
BroadcastSchedule make_broadcast(std::string_view name, Rank num_ranks, Rank root);

/// Makes a broadcast from root to the ranks of `group`, which are in any order and may include the root. No
/// other rank takes part. Throws Error invalid_argument also for a member that is an invalid rank or occurs
/// twice.
BroadcastSchedule make_broadcast(std::string_view name, Rank num_ranks, Rank root,
                                 std::span<const Rank> group);

}  // namespace nuice

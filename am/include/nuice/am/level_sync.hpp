// SPDX-License-Identifier: BSD-3-Clause
// Level synchronisation with neighbours only (002 s.5): each rank tells its neighbours that it has sent all
// messages of a level. There is no global reduction.
//
//   am::LevelSync levels(ep, neighbours);
//   for (;;) { expand(); levels.finish_level(); ... }
//
// finish_level() returns when this rank has handled all messages that its neighbours sent in that level.
// Messages between two ranks keep their order, so one marker after them suffices, without counts. A neighbour
// may be one level ahead, so messages of the next level may be handled before this rank has finished its own
// level. level_of(src) tells a handler the level of the message, so two queues are enough (002 sends a second
// message instead). For delta-synchronisation call quiesce() after every delta-th level.
#pragma once

#include <cstdint>
#include <vector>

#include "nuice/am/endpoint.hpp"

namespace nuice::am {

class LevelSync {
 public:
  /// Collective. All ranks make the same number of LevelSync objects in the same order. neighbours: each
  /// once, without this rank. If rank a lists rank b, then b must list a. If this does not hold, throws Error
  /// `mismatch` on all ranks. Throws Error `invalid_argument` for a rank that is invalid or given twice.
  /// Makes progress. The next call that makes progress throws an exception of a handler.
  LevelSync(Endpoint& endpoint, std::vector<Rank> neighbours);

  /// Flushes all coalescers, sends a marker to the neighbours, and makes progress until all their markers
  /// have arrived. Neighbours must call it equally often. It does not cover puts, nor messages that handlers
  /// send. An error of a handler is thrown when the level is finished, so do not call it again for this
  /// level. Throws Error `state` before seal().
  void finish_level();

  /// The number of levels that this rank has finished.
  std::uint64_t level() const { return level_; }
  /// How many levels src had finished when it sent the message that is being handled.
  std::uint64_t level_of(Rank src) const;

 private:
  EndpointCore& core_;
  std::vector<Rank> neighbours_;
  std::uint32_t id_;
  std::uint64_t level_ = 0;
};

}  // namespace nuice::am

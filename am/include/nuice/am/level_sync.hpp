// SPDX-License-Identifier: BSD-3-Clause
// Level synchronisation with neighbours only (002 s.5): each rank tells its neighbours that it has sent all
// messages of a level. There is no global reduction.
//
//   am::LevelSync levels(ep, neighbours);
//   for (;;) { expand(); levels.finish_level(); ... }
//
// finish_level() returns when all messages that the neighbours sent in that level have been handled here.
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
  /// Collective. All ranks make the same number of LevelSync objects in the same order. neighbours: without
  /// this rank, each once; if rank a lists rank b, then b lists a. Throws Error mismatch on all ranks if this
  /// does not hold, and invalid_argument for a rank that is invalid or given twice. Makes progress; an
  /// exception of a handler is thrown by the next call that makes progress.
  LevelSync(Endpoint& endpoint, std::vector<Rank> neighbours);

  /// Flushes all coalescers, sends a marker to the neighbours, and makes progress until all their markers
  /// have arrived. Neighbours must call it equally often. It does not cover puts and messages that handlers
  /// send. An error of a handler is thrown when the level is finished, so do not call it again for this
  /// level. Throws Error state before seal().
  void finish_level();

  /// The number of levels that this rank has finished.
  std::uint64_t level() const { return level_; }
  /// The number of levels that src had finished when it sent the message being handled.
  std::uint64_t level_of(Rank src) const;

 private:
  EndpointCore& core_;
  std::vector<Rank> neighbours_;
  std::uint32_t id_;
  std::uint64_t level_ = 0;
};

}  // namespace nuice::am

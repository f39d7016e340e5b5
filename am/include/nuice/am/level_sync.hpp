// SPDX-License-Identifier: BSD-3-Clause
// Level synchronisation with neighbours only (002 s.5): each rank tells its neighbours that it has sent all
// messages of a level. There is no global reduction.
//
//   am::LevelSync levels(ep, neighbours);
//   for (;;) { expand(); levels.finish_level(); ... }
//
// finish_level() returns when this rank has handled all messages that the neighbours sent in the level.
// Messages between two ranks keep their order, so one marker after the messages of a level is enough, and no
// messages are counted. A neighbour may be one level ahead, so messages of the next level may be handled
// before this rank has finished its own level. level_of(src) tells a handler the level of the message, so a
// program needs only two queues (002 sends a second message instead). For delta-synchronisation call
// quiesce() after every delta-th level.
#pragma once

#include <cstdint>
#include <vector>

#include "nuice/am/endpoint.hpp"

namespace nuice::am {

class LevelSync {
 public:
  /// Collective. All ranks make the same number of LevelSync objects in the same order. `neighbours` contains
  /// each neighbour once, and not this rank. If rank a lists rank b, b must list a; otherwise Error with code
  /// `mismatch` is thrown on all ranks. Throws `invalid_argument` for a rank that is invalid or given twice.
  /// Makes progress; an exception of a handler is thrown by the next call that makes progress.
  LevelSync(Endpoint& endpoint, std::vector<Rank> neighbours);

  /// Flushes all coalescers, sends a marker to the neighbours, and makes progress until all their markers
  /// have arrived. Neighbours must call finish_level() equally often. A level covers neither puts nor
  /// messages that handlers send. An error of a handler is thrown when the level is finished, so do not call
  /// finish_level() again for this level. Throws Error with code `state` before seal().
  void finish_level();

  /// Returns the number of levels that this rank has finished.
  std::uint64_t level() const { return level_; }
  /// Returns the number of levels that src had finished when it sent the message that is being handled.
  std::uint64_t level_of(Rank src) const;

 private:
  EndpointCore& core_;
  std::vector<Rank> neighbours_;
  std::uint32_t id_;
  std::uint64_t level_ = 0;
};

}  // namespace nuice::am

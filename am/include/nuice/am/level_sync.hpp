// SPDX-License-Identifier: BSD-3-Clause
// Level synchronisation with neighbours only (002 s.5: each rank tells its neighbours that a level's messages are
// all sent; no global reduction).
//
//   am::LevelSync levels(ep, neighbours);
//   for (;;) { expand(); levels.finish_level(); ... }
//
// finish_level() returns when all messages that the neighbours sent in that level have been handled here. As messages
// keep their order between two ranks, one marker behind them says so; no counts are needed. A neighbour may then be
// one level ahead, so messages of the next level may be handled before this rank has finished its own: level_of(src)
// tells a handler which level the message belongs to, so two queues are enough (002 sends a second message instead).
// delta-synchronisation is quiesce() after every delta-th level.
#pragma once

#include <cstdint>
#include <vector>

#include "nuice/am/endpoint.hpp"

namespace nuice::am {

class LevelSync {
 public:
  /// Collective; the same number of LevelSync objects in the same order on all ranks. neighbours: without this rank,
  /// each once; if a lists b, b lists a. Throws Error mismatch on all ranks if they do not, invalid_argument for a
  /// rank outside or given twice. Makes progress; what a handler throws meanwhile is thrown by the next call that does.
  LevelSync(Endpoint& endpoint, std::vector<Rank> neighbours);

  /// Flushes all coalescers, tells the neighbours, makes progress until all of them have told this rank. Neighbours
  /// must call it as often. Does not cover messages that handlers send in answer, nor puts. An error of a handler is
  /// thrown when the level is finished: not to be called again for it. Throws Error state before seal().
  void finish_level();

  /// Levels that this rank has finished.
  std::uint64_t level() const { return level_; }
  /// Levels that src had finished when it sent the message being handled.
  std::uint64_t level_of(Rank src) const;

 private:
  EndpointCore& core_;
  std::vector<Rank> neighbours_;
  std::uint32_t id_;
  std::uint64_t level_ = 0;
};

}  // namespace nuice::am

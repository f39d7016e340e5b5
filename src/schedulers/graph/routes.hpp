// SPDX-License-Identifier: BSD-3-Clause
// The relevant links that each message crosses, and which messages use them in a phase. For schedulers
// without link contention (rs_nl, rs_nlh, link_coloring, link_list, path_coloring).
//
// A link that is crossed by at most as many messages as it has slots never causes contention, and is left
// out. The other links are numbered from 0. Memory: 4 bytes per link of a route, 4 bytes per link of the
// network.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "nuice/plan/scheduler.hpp"

namespace nuice::sched {

class Routes {
 public:
  /// paths: one per message; if empty, the network's own routes are used. Requires that why_not_link_free()
  /// (rows.hpp) is empty.
  explicit Routes(const Problem& problem, std::span<const std::int64_t> paths = {});

  std::span<const std::int32_t> of(MessageId id) const {
    return {links_.data() + begin_[id], begin_[id + 1] - begin_[id]};
  }
  std::size_t num_links() const { return slots_.size(); }
  std::int64_t slots(std::int32_t link) const { return slots_[static_cast<std::size_t>(link)]; }
  /// Returns the number of messages that cross the link; more than slots().
  MessageId load(std::int32_t link) const { return load_[static_cast<std::size_t>(link)]; }

 private:
  std::vector<std::size_t> begin_;   // by message, and one more
  std::vector<std::int32_t> links_;  // by message
  std::vector<std::int64_t> slots_;  // by link
  std::vector<MessageId> load_;      // by link
};

/// The links that have free slots in the current phase.
class LinksOfPhase {
 public:
  explicit LinksOfPhase(const Routes& routes) : routes_(routes), used_(routes.num_links()) {}

  void begin_phase() { ++phase_; }
  bool has_room_for(MessageId id) const {
    return std::ranges::all_of(routes_.of(id), [this](std::int32_t link) {
      const Use& use = used_[static_cast<std::size_t>(link)];
      return use.phase != phase_ || use.count < routes_.slots(link);
    });
  }
  /// Requires has_room_for(id).
  void take(MessageId id) {
    for (const std::int32_t link : routes_.of(id)) {
      Use& use = used_[static_cast<std::size_t>(link)];
      if (use.phase != phase_) use = {phase_, 0};
      ++use.count;
    }
  }
  /// Reverses take(id) of this phase.
  void release(MessageId id) {
    for (const std::int32_t link : routes_.of(id)) --used_[static_cast<std::size_t>(link)].count;
  }

 private:
  struct Use {
    std::uint32_t phase = 0;  // the last phase in which it was used; from 1 on
    std::uint32_t count = 0;
  };
  const Routes& routes_;
  std::uint32_t phase_ = 0;
  std::vector<Use> used_;
};

}  // namespace nuice::sched

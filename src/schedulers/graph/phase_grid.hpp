// SPDX-License-Identifier: BSD-3-Clause
// Which rank sends to which in which phase: a proper edge colouring of a bipartite graph that can be changed.
//
// Each rank has a cell for each phase in which it sends, and one for each in which it receives, by ascending phase.
// In a rank with few idle phases a phase's cell is at about its own index, so it is found at once. 20 bytes per
// message.
#pragma once

#include <span>
#include <vector>

#include "nuice/core/types.hpp"

namespace nuice::sched {

struct PhaseCell {
  PhaseId phase;
  Rank partner;
};

struct PhaseMove {
  Rank src;
  Rank dst;
  PhaseId from;
  PhaseId to;
};

class PhaseGrid {
 public:
  explicit PhaseGrid(Rank num_ranks)
      : sends_(static_cast<std::size_t>(num_ranks)), receives_(static_cast<std::size_t>(num_ranks)) {}

  /// By ascending phase.
  std::span<const PhaseCell> sends(Rank src) const { return sends_[static_cast<std::size_t>(src)]; }
  std::span<const PhaseCell> receives(Rank dst) const { return receives_[static_cast<std::size_t>(dst)]; }
  /// no_rank if idle.
  Rank receiver_of(Rank src, PhaseId phase) const;
  Rank sender_to(Rank dst, PhaseId phase) const;

  /// One more than the last phase with messages.
  PhaseId end_phase() const { return static_cast<PhaseId>(phases_.size()); }
  PhaseId num_used_phases() const { return num_used_; }
  bool is_used(PhaseId phase) const { return phases_[phase].size > 0; }

  void reserve(Rank rank, std::size_t num_sends, std::size_t num_receives);
  /// Requires that both are idle in that phase.
  void place(Rank src, Rank dst, PhaseId phase);
  void remove(Rank src, Rank dst, PhaseId phase);
  /// A phase < limit in which both are idle; if there is none, one is made by exchanging two phases along an
  /// alternating path, whose messages are appended to `moves`. Requires that both are busy in fewer than `limit`.
  PhaseId make_room(Rank src, Rank dst, PhaseId limit, std::vector<PhaseMove>& moves);
  /// A rank that sends in the last phase. Requires one.
  Rank sender_in_last_phase();

 private:
  using Cells = std::vector<PhaseCell>;
  struct Phase {
    std::size_t size = 0;
    std::vector<Rank> senders;  // all that send in it; also some that did, or twice
  };

  void enter(PhaseId phase, Rank src);
  void leave(PhaseId phase);
  void exchange_along_path(Rank dst, PhaseId a, PhaseId b, std::vector<PhaseMove>& moves);

  std::vector<Cells> sends_;     // by sender
  std::vector<Cells> receives_;  // by receiver
  std::vector<Phase> phases_;    // the last one is in use
  PhaseId num_used_ = 0;
};

}  // namespace nuice::sched

// SPDX-License-Identifier: BSD-3-Clause
// When ranks are idle, for messages that may go in any phase: those inside a host. ranks * phases / 4 bits.
#pragma once

#include <cstddef>
#include <vector>

#include "nuice/core/types.hpp"

namespace nuice::sched {

class IdlePhases {
 public:
  explicit IdlePhases(Rank num_ranks)
      : sends_(static_cast<std::size_t>(num_ranks)), receives_(static_cast<std::size_t>(num_ranks)) {}

  void mark_send(Rank rank, std::size_t phase) { mark(sends_[static_cast<std::size_t>(rank)], phase); }
  void mark_receive(Rank rank, std::size_t phase) { mark(receives_[static_cast<std::size_t>(rank)], phase); }
  /// The first phase in which src sends nothing and dst receives nothing; they do from now on.
  std::size_t take_first(Rank src, Rank dst) {
    const Busy& sends = sends_[static_cast<std::size_t>(src)];
    const Busy& receives = receives_[static_cast<std::size_t>(dst)];
    std::size_t phase = 0;
    while (is_marked(sends, phase) || is_marked(receives, phase)) ++phase;
    mark_send(src, phase);
    mark_receive(dst, phase);
    return phase;
  }

 private:
  using Busy = std::vector<bool>;  // by phase
  static bool is_marked(const Busy& busy, std::size_t phase) { return phase < busy.size() && busy[phase]; }
  static void mark(Busy& busy, std::size_t phase) {
    if (phase >= busy.size()) busy.resize(phase + 1);
    busy[phase] = true;
  }

  std::vector<Busy> sends_;
  std::vector<Busy> receives_;
};

}  // namespace nuice::sched

// SPDX-License-Identifier: BSD-3-Clause
// A receiver that looks for every single message as soon as the last is handled fights with the sender for the cache
// line that says whether there is one: in a flood it is faster to look away for a moment (Open MPI 5 in shared memory, 8 bytes: 150 -> 100 ns
// a message where the cores were far apart; UCX, 1 KiB: 105 -> 100 ns). Only after something came and then nothing, so an idle rank is as
// alert as before, and only where the rank has not answered meanwhile.
#pragma once

#include <utility>

#include "core/support/pause.hpp"

namespace nuice::am {

class Lull {
 public:
  /// pauses: the moment lasts this number; a hundred are some 4 us.
  explicit Lull(int pauses) : pauses_(pauses) {}

  void sent() { in_a_row_ = 0; }
  /// makes_a_burst: such messages come in so large numbers that a moment's have room where they wait.
  void arrived(bool makes_a_burst) { in_a_row_ = makes_a_burst ? in_a_row_ + 1 : 0; }
  /// At the end of a poll: looks away after a flood.
  void polled(int handled) {
    if (handled != 0) {
      had_some_ = true;
    } else if (std::exchange(had_some_, false) && in_a_row_ >= burst) {
      for (int i = 0; i < pauses_; ++i) pause_briefly();
    }
  }

 private:
  static constexpr int burst = 8;
  int pauses_;
  int in_a_row_ = 0;  // messages, without sending one
  bool had_some_ = false;
};

}  // namespace nuice::am

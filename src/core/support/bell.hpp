// SPDX-License-Identifier: BSD-3-Clause
// Sleeping until another process of this host rings, in memory that both have mapped.
//
//   sleeper:  announce(); if (!ready()) sleep(); withdraw();      ringer:  make it ready; ring();
//
// A sleeper looks again after `seconds` at the latest, so that it can let MPI go on: others may wait for that.
#pragma once

#include <atomic>
#include <cstdint>

namespace nuice {

/// While the four bytes there are this value, at most so long; until wake_sleeper() of them.
void sleep_while(const void* word, std::uint32_t value, double seconds);
/// One system call.
void wake_sleeper(const void* word);

/// All zero to begin with.
class Bell {
 public:
  /// Wakes the sleeper, if it sleeps. One system call then, none otherwise.
  void ring();
  /// From here on a ring ends the next sleep().
  void announce();
  /// Until somebody rings, or has rung since announce(); or so long.
  void sleep(double seconds);
  void withdraw() { is_asleep_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t> is_asleep_;
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace nuice

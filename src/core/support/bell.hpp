// SPDX-License-Identifier: BSD-3-Clause
// A bell, in memory that several processes of a host have mapped: a process sleeps until another process
// rings.
//
//   sleeper:  announce(); if (!ready()) sleep(); withdraw();      ringer:  make it ready; ring();
//
// A sleeper wakes after `seconds` at the latest, to let MPI progress, because other ranks may wait for this
// rank's MPI.
#pragma once

#include <atomic>
#include <cstdint>

namespace nuice {

/// Sleeps while the four bytes at `word` equal `value`, but at most `seconds`. Also returns after
/// wake_sleeper(word).
void sleep_while(const void* word, std::uint32_t value, double seconds);
/// Wakes the process that sleeps on `word`, by one system call.
void wake_sleeper(const void* word);

/// A bell. Its memory must be zero at the beginning.
class Bell {
 public:
  /// Wakes the sleeper by one system call. If no process sleeps, needs no system call.
  void ring();
  /// Announces a sleep: any later ring() ends the next sleep().
  void announce();
  /// Sleeps until a ring() after announce(), at most `seconds`.
  void sleep(double seconds);
  void withdraw() { is_asleep_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t> is_asleep_;
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace nuice

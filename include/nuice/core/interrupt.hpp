// SPDX-License-Identifier: BSD-3-Clause
// Interrupts a long call: a simulation, advice, the making or checking of a schedule, or the reading of a
// file.
//
//   const InterruptCheck check([] { if (signal_has_come) throw Interrupted(); });
//   simulate(...);            // calls the function regularly; its exceptions end the call
//
// An interrupted call leaves no result and frees its memory. Only calls of the same thread are affected.
#pragma once

#include <functional>

namespace nuice {

/// While an InterruptCheck exists, long calls of this thread call its function for every event, message or
/// phase, often more than a million times a second. So most calls of the function should take only
/// nanoseconds. Objects may be nested; only the innermost object is used.
class InterruptCheck {
 public:
  explicit InterruptCheck(std::function<void()> function);
  ~InterruptCheck();
  InterruptCheck(const InterruptCheck&) = delete;
  InterruptCheck& operator=(const InterruptCheck&) = delete;

 private:
  friend void check_interrupt();
  std::function<void()> function_;
  const InterruptCheck* outer_;
};

/// Calls the function of this thread's InterruptCheck, if there is one; otherwise returns after two
/// nanoseconds.
void check_interrupt();

}  // namespace nuice

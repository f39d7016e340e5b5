// SPDX-License-Identifier: BSD-3-Clause
// Ends a long call: a simulation, advice, a schedule, a check, reading a file.
//
//   const InterruptCheck check([] { if (signal_has_come) throw Interrupted(); });
//   simulate(...);            // calls the function regularly, and throws what it throws
//
// A call that is ended in this way leaves nothing behind. Only calls of the same thread are affected.
#pragma once

#include <functional>

namespace nuice {

/// While the object exists, long calls of this thread call the function about every millisecond, so it should
/// take some microseconds at most. Objects may be nested; the innermost one is used.
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

/// Calls the function of this thread's InterruptCheck, if there is one; otherwise it takes two nanoseconds.
void check_interrupt();

}  // namespace nuice

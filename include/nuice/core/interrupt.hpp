// SPDX-License-Identifier: BSD-3-Clause
// Ending a call that takes long: a simulation, an advice, a schedule, a check, the reading of a file.
//
//   const InterruptCheck check([] { if (signal_has_come) throw Interrupted(); });
//   simulate(...);            // asks again and again; what the function throws comes out of the call
//
// A call that is ended in this way leaves nothing behind. Only calls of the same thread ask.
#pragma once

#include <functional>

namespace nuice {

/// While it lives, calls of this thread that take long call the function every millisecond or so (no promise: it should
/// be cheap, some microseconds at most). They may be nested; the innermost is asked.
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

/// Calls the function of this thread's InterruptCheck, if there is one; otherwise takes two nanoseconds.
void check_interrupt();

}  // namespace nuice

// SPDX-License-Identifier: BSD-3-Clause
#include "am/transport/doorbell.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace nuice::am {

void wake(Doorbell& bell) {
  int expected = bell.armed.fetch_add(0, std::memory_order_acq_rel);
  if (expected == Doorbell::asleep && bell.armed.compare_exchange_strong(expected, 0))
    wake_sleeper(&bell.armed);
}

void ring_doorbell(Doorbell& bell) {
  const int signal = bell.armed.exchange(0, std::memory_order_acq_rel);
  if (signal == 0) return;
  if (signal == Doorbell::asleep) {
    wake_sleeper(&bell.armed);
    return;
  }
  // An error means that the receiver has ended, which the sender need not handle.
  (void)syscall(SYS_tgkill, bell.process.load(std::memory_order_relaxed),
                bell.thread.load(std::memory_order_relaxed), signal);
}

bool allow_doorbells() {
  static const bool allowed = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
  return allowed;
}

void arm(Doorbell& bell, int signal) {
  bell.process.store(static_cast<int>(getpid()), std::memory_order_relaxed);
  bell.thread.store(static_cast<int>(syscall(SYS_gettid)), std::memory_order_relaxed);
  rearm(bell, signal);
}

// A sender stores its record and then loads `armed`, and the processor may reorder the two. After the fence
// on every core, either the record is visible here, or the sender sees that the bell is armed.
void rearm(Doorbell& bell, int signal) {
  bell.armed.store(signal, std::memory_order_seq_cst);
  (void)syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}

void disarm(Doorbell& bell) { bell.armed.store(0, std::memory_order_seq_cst); }

}  // namespace nuice::am

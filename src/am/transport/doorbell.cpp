// SPDX-License-Identifier: BSD-3-Clause
#include "am/transport/doorbell.hpp"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace nuice::am {

namespace {

void wake_one(Doorbell& bell) { (void)syscall(SYS_futex, &bell.armed, FUTEX_WAKE, 1, nullptr, nullptr, 0); }

}  // namespace

void wake(Doorbell& bell) {
  int expected = bell.armed.fetch_add(0, std::memory_order_acq_rel);
  if (expected == Doorbell::asleep && bell.armed.compare_exchange_strong(expected, 0)) wake_one(bell);
}

void wait_asleep(Doorbell& bell, double seconds) {
  const timespec most{0, static_cast<long>(1e9 * seconds)};
  (void)syscall(SYS_futex, &bell.armed, FUTEX_WAIT, Doorbell::asleep, &most, nullptr, 0);
}

void ring_doorbell(Doorbell& bell) {
  const int signal = bell.armed.exchange(0, std::memory_order_acq_rel);
  if (signal == 0) return;
  if (signal == Doorbell::asleep) {
    wake_one(bell);
    return;
  }
  // An error means that the receiver is gone, which is no business of the sender's.
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

// A sender stores its record, then loads `armed`, and the processor may swap the two. After the fence on every core
// either the record can be seen here or the sender sees that the bell is armed.
void rearm(Doorbell& bell, int signal) {
  bell.armed.store(signal, std::memory_order_seq_cst);
  (void)syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}

void disarm(Doorbell& bell) { bell.armed.store(0, std::memory_order_seq_cst); }

}  // namespace nuice::am

// SPDX-License-Identifier: BSD-3-Clause
#include "core/support/bell.hpp"

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>
#else
#include <chrono>
#include <thread>
#endif

namespace nuice {

/// Both exchange, so one comes first: either the ringer sees that somebody sleeps, or the sleeper sees what was made ready.
void Bell::announce() { is_asleep_.exchange(1, std::memory_order_acq_rel); }

#ifdef __linux__

void Bell::ring() {
  if (is_asleep_.exchange(0, std::memory_order_acq_rel) == 0) return;
  (void)syscall(SYS_futex, &is_asleep_, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void Bell::sleep(double seconds) {
  const timespec most{0, static_cast<long>(1e9 * seconds)};
  (void)syscall(SYS_futex, &is_asleep_, FUTEX_WAIT, 1, &most, nullptr, 0);
}

#else

void Bell::ring() {}

void Bell::sleep(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds / 20)); }

#endif

}  // namespace nuice

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

/// Announces the sleep. This atomic exchange comes either before or after the one in ring(): either ring()
/// sees that a process sleeps, or the sleeper sees what was made ready.
void Bell::announce() { is_asleep_.exchange(1, std::memory_order_acq_rel); }

#ifdef __linux__

void wake_sleeper(const void* word) { (void)syscall(SYS_futex, word, FUTEX_WAKE, 1, nullptr, nullptr, 0); }

void sleep_while(const void* word, std::uint32_t value, double seconds) {
  const auto whole = static_cast<std::time_t>(seconds);
  const timespec most{whole, static_cast<long>(1e9 * (seconds - static_cast<double>(whole)))};
  (void)syscall(SYS_futex, word, FUTEX_WAIT, value, &most, nullptr, 0);
}

#else

void wake_sleeper(const void* /*word*/) {}

void sleep_while(const void* /*word*/, std::uint32_t /*value*/, double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds / 20));
}

#endif

void Bell::ring() {
  if (is_asleep_.exchange(0, std::memory_order_acq_rel) != 0) wake_sleeper(&is_asleep_);
}

void Bell::sleep(double seconds) { sleep_while(&is_asleep_, 1, seconds); }

}  // namespace nuice

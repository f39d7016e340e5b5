// SPDX-License-Identifier: BSD-3-Clause
// The receiver's side of a Doorbell, for transports with rings.
#pragma once

#include "am/transport/ring.hpp"
#include "core/support/bell.hpp"

namespace nuice::am {

/// Call it once per sending process, before its first push. Returns false if the system does not support it
/// (Linux before 4.16).
bool allow_doorbells();

/// Makes every later push raise the signal in the calling thread. A push made earlier may not raise it, so
/// check the rings afterwards.
void arm(Doorbell& bell, int signal);
/// Arms the bell again, after the signal was raised. Safe inside a signal handler.
void rearm(Doorbell& bell, int signal);
void disarm(Doorbell& bell);

/// Sleeps until a push or a call of wake(), but at most `seconds`. Must not be used while the bell is armed
/// for a signal. is_ready() is called when all ranks can see that this rank sleeps. A push in the nanoseconds
/// before this call may not wake this rank (see ring.hpp), so sleeps should be short.
template <typename Ready>
void sleep_on(Doorbell& bell, double seconds, Ready&& is_ready) {
  bell.armed.exchange(Doorbell::asleep, std::memory_order_seq_cst);
  if (!is_ready()) sleep_while(&bell.armed, static_cast<std::uint32_t>(Doorbell::asleep), seconds);
  bell.armed.store(0, std::memory_order_relaxed);
}
/// The sleeper, or its is_ready(), sees all stores that were made before this call.
void wake(Doorbell& bell);

}  // namespace nuice::am

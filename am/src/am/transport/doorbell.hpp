// SPDX-License-Identifier: BSD-3-Clause
// The receiver's side of a Doorbell, for transports with rings.
#pragma once

#include "am/transport/ring.hpp"
#include "core/support/bell.hpp"

namespace nuice::am {

/// Once per process that sends, before its first push. False where the system cannot do it (Linux before 4.16).
bool allow_doorbells();

/// From now on, a push by anybody raises the signal in the calling thread. A push that came before may not: look at
/// the rings afterwards.
void arm(Doorbell& bell, int signal);
/// The same again, after the signal was raised. Safe inside a signal handler.
void rearm(Doorbell& bell, int signal);
void disarm(Doorbell& bell);

/// Sleeps until somebody pushes or calls wake(), at most so long. Not while the bell is armed for a signal. is_ready is asked once
/// all can see that this rank sleeps. A push in the very nanoseconds before may not wake it (see ring.hpp), so sleeps are to be short.
template <typename Ready>
void sleep_on(Doorbell& bell, double seconds, Ready&& is_ready) {
  bell.armed.exchange(Doorbell::asleep, std::memory_order_seq_cst);
  if (!is_ready()) sleep_while(&bell.armed, static_cast<std::uint32_t>(Doorbell::asleep), seconds);
  bell.armed.store(0, std::memory_order_relaxed);
}
/// What was stored before is seen by the sleeper, or by its is_ready.
void wake(Doorbell& bell);

}  // namespace nuice::am

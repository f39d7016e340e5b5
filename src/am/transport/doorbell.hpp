// SPDX-License-Identifier: BSD-3-Clause
// The receiver's side of a Doorbell, for transports with rings.
#pragma once

#include "am/transport/ring.hpp"

namespace nuice::am {

/// Once per process that sends, before its first push. False where the system cannot do it (Linux before 4.16).
bool allow_doorbells();

/// From now on, a push by anybody raises the signal in the calling thread. A push that came before may not: look at
/// the rings afterwards.
void arm(Doorbell& bell, int signal);
/// The same again, after the signal was raised. Safe inside a signal handler.
void rearm(Doorbell& bell, int signal);
void disarm(Doorbell& bell);

}  // namespace nuice::am

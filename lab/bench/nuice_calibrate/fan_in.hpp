// SPDX-License-Identifier: BSD-3-Clause
// Many senders to one receiver: what a busy receiver loses, and where its queue ends.
#pragma once

#include "nuice_calibrate/samples.hpp"

namespace nuice::calibrate {

/// Sets loss_* and queue, queue_senders, timeout_s of a machine of which messages and duplex are known. `largest`: bytes of
/// a message that is not too long to try.
void fit_fan_in(Lab& lab, int reps, Bytes largest, Machine& machine, Notebook& notebook);

}  // namespace nuice::calibrate

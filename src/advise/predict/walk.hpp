// SPDX-License-Identifier: BSD-3-Clause
// When the ranks come through the phases of a schedule: a recurrence over its transfers. Whether a short queue overflows
// depends on which messages meet at a receiver, and no closed form knows that.
#pragma once

#include "advise/predict/rule.hpp"

namespace nuice::advice {

/// Of a schedule that sends messages straight, at most one out of and one into a rank in a phase, phase by phase.
/// O(transfers), and O(m log m) for the m messages to ranks whose queue may overflow.
Estimate rule_of_phases(const Schedule& schedule, const Traits& traits, const Machine& machine);

}  // namespace nuice::advice

// SPDX-License-Identifier: BSD-3-Clause
// Predicts when each rank enters each phase of a schedule, by a recurrence over the transfers. Whether a
// short queue overflows depends on which messages meet at a receiver. A closed form cannot tell that.
#pragma once

#include "advise/predict/rule.hpp"

namespace nuice::advice {

/// Further walks follow until one finds no full queue.
constexpr int most_walks = 3;

/// Times of a walk are not exact, so a queue as full as this may overflow.
constexpr double nearly_full = 0.6;

/// Predicts a schedule that is run phase by phase or, with at_once, all at once in its order. Cost:
/// O(transfers), and O(m log m) for m messages to ranks whose queue may overflow.
Estimate rule_of_phases(const Schedule& schedule, bool at_once, const Traits& traits, const Machine& machine);

}  // namespace nuice::advice

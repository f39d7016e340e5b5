// SPDX-License-Identifier: BSD-3-Clause
// What the schedulers share: a schedule of whole messages is told by the phase of each message.
#pragma once

#include <span>
#include <string>

#include "nuice/scheduler.hpp"

namespace nuice::sched {

/// Message id goes whole and straight in phase phase_of[id] < num_phases. Inside a phase transfers are in the
/// order of ids, that is by sender; phases without messages are left out. O(messages + num_phases).
Schedule from_phases(const CommMatrix& matrix, std::span<const PhaseId> phase_of, PhaseId num_phases);

/// why_not of a scheduler that handles every matrix.
std::string always_applicable(const Problem& problem);

}  // namespace nuice::sched

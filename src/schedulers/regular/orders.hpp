// SPDX-License-Identifier: BSD-3-Clause
// Schedules that a rank can make from its own messages alone, once it knows its sources (004 s.3). In the
// orders of a complete exchange the phase of a message follows from its two ranks. In AC each rank orders its
// own sends. A rank with the whole matrix uses the same functions (lp.cpp, bex.cpp, lex.cpp, ac.cpp), so that
// both make the same schedule.
#pragma once

#include <cstdint>
#include <vector>

#include "nuice/plan/scheduler.hpp"

namespace nuice::sched {

/// Returns the phase of a message, from 0 to num_ranks - 1. Phases without messages are counted here, and
/// left out later. Requires src != dst.
using FixedOrder = PhaseId (*)(Rank src, Rank dst, Rank num_ranks);

PhaseId lp_phase(Rank src, Rank dst, Rank num_ranks);
PhaseId bex_phase(Rank src, Rank dst, Rank num_ranks);
PhaseId lex_phase(Rank src, Rank dst, Rank num_ranks);

/// Makes the schedule of a whole matrix. O(messages + ranks).
Schedule in_fixed_order(const CommMatrix& matrix, FixedOrder phase_of);

/// Returns AC's sending order: for each of the `count` messages of `src`, its index by ascending receiver.
/// O(count).
std::vector<std::uint32_t> ac_order(std::uint64_t seed, Rank src, std::size_t count);

}  // namespace nuice::sched

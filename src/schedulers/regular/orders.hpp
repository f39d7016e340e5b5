// SPDX-License-Identifier: BSD-3-Clause
// Schedules that a rank can make of its own messages alone, once it knows its sources (004 s.3): the orders of a complete
// exchange, in which the phase of a message follows from its two ranks, and that in which AC sends. A rank with the whole matrix
// uses the same functions (lp.cpp, bex.cpp, lex.cpp, ac.cpp), so that both make the same schedule.
#pragma once

#include <cstdint>
#include <vector>

#include "nuice/plan/scheduler.hpp"

namespace nuice::sched {

/// The phase of a message, below num_ranks, before phases without messages are left out. src != dst.
using FixedOrder = PhaseId (*)(Rank src, Rank dst, Rank num_ranks);

PhaseId lp_phase(Rank src, Rank dst, Rank num_ranks);
PhaseId bex_phase(Rank src, Rank dst, Rank num_ranks);
PhaseId lex_phase(Rank src, Rank dst, Rank num_ranks);

/// All of a matrix. O(messages + ranks).
Schedule in_fixed_order(const CommMatrix& matrix, FixedOrder phase_of);

/// For the k-th message that AC lets `src` send: which of its messages it is, by ascending receiver. O(count).
std::vector<std::uint32_t> ac_order(std::uint64_t seed, Rank src, std::size_t count);

}  // namespace nuice::sched

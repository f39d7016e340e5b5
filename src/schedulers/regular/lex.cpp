// SPDX-License-Identifier: BSD-3-Clause
// LEX, linear exchange (001 s.3.1): there are n steps. In step i every rank that has a message for rank i
// sends this message. With some messages missing it is called linear scheduling (LS, 001 s.4.1), so lex and
// ls share this file.
//
// In each step all ranks send to one receiver. So every step has node contention, and one_port is not
// guaranteed. Paper 001 shows it as an example of what to avoid (tables 5, 11, 12). Steps whose receiver gets
// nothing are left out. For any number of ranks. Cost: O(messages + n).
#include "schedulers/regular/orders.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {

PhaseId lex_phase(Rank /*src*/, Rank dst, Rank /*num_ranks*/) { return static_cast<PhaseId>(dst); }

Schedule make_lex(const Problem& problem) { return in_fixed_order(problem.matrix, lex_phase); }

}  // namespace nuice::sched

// SPDX-License-Identifier: BSD-3-Clause
// LEX, linear exchange (001 s.3.1): in step i every rank that has a message for rank i sends it, n steps in
// all. With some messages left out it is called linear scheduling (LS, 001 s.4.1), so lex and ls share this
// file.
//
// All send to one receiver at a time: node contention in every step, hence no one_port. 001 shows it as what
// not to do (tables 5, 11, 12). Steps of receivers that get nothing are left out. Any number of ranks. Cost:
// O(messages + n).
#include "schedulers/regular/orders.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {

PhaseId lex_phase(Rank /*src*/, Rank dst, Rank /*num_ranks*/) { return static_cast<PhaseId>(dst); }

Schedule make_lex(const Problem& problem) { return in_fixed_order(problem.matrix, lex_phase); }

}  // namespace nuice::sched

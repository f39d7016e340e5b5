// SPDX-License-Identifier: BSD-3-Clause
// LP, linear permutation (000 fig. 5; 003 fig. 3): in phase k = 1 .. n-1 rank i exchanges with rank i xor k.
//
// The papers have two more names for the same pairs in the same order: pairwise exchange (PEX, 001 s.3.2,
// fig. 2) if every rank has a message for every rank, and otherwise pairwise scheduling (PS, 001 s.4.2). So
// lp, pex and ps share this file. If n is not a power of two, see pairing.hpp. Phases without messages are
// left out; 000, 003 and 004 count them too, but 001 table 8 does not. Cost: O(messages + n).
#include <vector>

#include "schedulers/graph/pairing.hpp"
#include "schedulers/regular/orders.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {

PhaseId lp_phase(Rank src, Rank dst, Rank num_ranks) { return meeting_step(src, dst, num_ranks); }

Schedule make_lp(const Problem& problem) { return in_fixed_order(problem.matrix, lp_phase); }

Schedule in_fixed_order(const CommMatrix& matrix, FixedOrder phase_of) {
  const Rank num_ranks = matrix.num_ranks();
  std::vector<PhaseId> phases(matrix.num_messages());
  for (MessageId id = 0; id < matrix.num_messages(); ++id)
    phases[id] = phase_of(matrix.src(id), matrix.dst(id), num_ranks);
  return Schedule::of_whole_messages(matrix, phases, static_cast<PhaseId>(num_ranks));
}

}  // namespace nuice::sched

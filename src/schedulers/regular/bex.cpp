// SPDX-License-Identifier: BSD-3-Clause
// BEX, balanced exchange (001 s.3.4, fig. 4): the steps of PEX among virtual numbers, where rank i has the
// number i + 1 mod n. With some messages missing it is called balanced scheduling (BS, 001 s.4.3), so bex and
// bs share this file.
//
// Reason: PEX exchanges inside clusters of ranks in its first steps. In all other steps all ranks send across
// the root of a fat tree at the same time. BEX shifts all ranks by one, so one rank of every cluster takes a
// place in the neighbour cluster. So some exchanges across the root happen in the first steps, and some local
// exchanges in later ones. For 8 ranks in two clusters of four this is the best possible: of the 4 exchanges
// of a step, 2 cross the root in every step except one, in which all 4 do (PEX: 0 0 0 4 4 4 4). The text of
// s.3.4 gives virtual = physical - 1, but fig. 4 computes virtual = physical + 1; NUICE follows the figure.
//
// If n is not a power of two, virtual numbers are paired as in a round-robin tournament (pairing.hpp). The
// pairs are as good as in pex, but the argument about clusters does not apply. Cost: O(messages + n).
#include "schedulers/graph/pairing.hpp"
#include "schedulers/regular/orders.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {

PhaseId bex_phase(Rank src, Rank dst, Rank num_ranks) {
  const auto virtual_number = [num_ranks](Rank rank) { return rank + 1 == num_ranks ? 0 : rank + 1; };
  return meeting_step(virtual_number(src), virtual_number(dst), num_ranks);
}

Schedule make_bex(const Problem& problem) { return in_fixed_order(problem.matrix, bex_phase); }

}  // namespace nuice::sched

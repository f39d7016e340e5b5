// SPDX-License-Identifier: BSD-3-Clause
// BEX, balanced exchange (001 s.3.4, fig. 4): the steps of PEX among virtual numbers, rank i being number i +
// 1 mod n. With some messages left out it is called balanced scheduling (BS, 001 s.4.3), so bex and bs share
// this file.
//
// Why: PEX talks inside clusters of ranks in its first steps and between them in all others, when every rank
// goes through the root of a fat tree at once. Moving all ranks on by one moves one rank of every cluster
// into its neighbour's place, so that crossings happen in the first steps and local exchanges in later ones.
// For 8 ranks in two clusters of four that is the best possible: 2 of 4 exchanges cross in every step, all 4
// in one (PEX: 0 0 0 4 4 4 4). The text of s.3.4 gives virtual = physical - 1, fig. 4 computes virtual =
// physical + 1; we follow the figure.
//
// For n that is not a power of two the pairs are those of the round-robin tournament (pairing.hpp) among virtual
// numbers: as good as pex, but without the argument about clusters. Cost: O(messages + n).
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

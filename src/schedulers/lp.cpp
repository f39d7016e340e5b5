// SPDX-License-Identifier: BSD-3-Clause
// LP, linear permutation (NICE fig. 5; 003 fig. 3): in phase k = 1 .. n-1 rank i exchanges with rank i xor k.
//
// That pairs all ranks when n is a power of two. The papers leave the other n open; here they follow the
// timetable of a round-robin tournament, which also pairs: for odd n, ranks i and j meet in round (i + j) mod
// n, and the rank with 2i = round is idle; for even n, ranks below n-1 meet so modulo n-1, and the idle rank
// meets rank n-1. So there are at most n-1 phases (n for odd n), the least that pairing allows. Phases in
// which nobody has anything to send are left out; the papers count them too. Cost: O(messages + n).
#include <bit>
#include <vector>

#include "schedulers/rows.hpp"

namespace nuice::sched {
namespace {

using Index = std::uint32_t;  // a rank; sums of two do not overflow

PhaseId tournament_round(Index i, Index j, Index num_ranks) {
  if (num_ranks % 2 == 1) return (i + j) % num_ranks;
  const Index last = num_ranks - 1;
  if (j == last) return 2 * i % last;
  if (i == last) return 2 * j % last;
  return (i + j) % last;
}

}  // namespace

Schedule make_lp(const Problem& problem) {
  const CommMatrix& matrix = problem.matrix;
  const auto num_ranks = static_cast<Index>(matrix.num_ranks());
  const bool power_of_two = std::has_single_bit(num_ranks);
  std::vector<PhaseId> phase_of(matrix.num_messages());
  for (MessageId id = 0; id < matrix.num_messages(); ++id) {
    const auto src = static_cast<Index>(matrix.src(id));
    const auto dst = static_cast<Index>(matrix.dst(id));
    phase_of[id] = power_of_two ? (src ^ dst) - 1 : tournament_round(src, dst, num_ranks);
  }
  return Schedule::of_whole_messages(matrix, phase_of, num_ranks);
}

}  // namespace nuice::sched

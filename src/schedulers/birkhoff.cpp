// SPDX-License-Identifier: BSD-3-Clause
// Birkhoff: the fewest bytes. Messages are split so that all phases together wait for as many bytes as the busiest rank
// sends or receives, which no schedule can beat (Birkhoff 1946; as preemptive open shop, Gonzalez and Sahni, JACM 23,
// 1976; between servers, FAST, NSDI 2026).
//
// The matrix is peeled (peeling.hpp) with matchings of large edges first: as long as all edges of a matching can have
// `least` bytes left, such ones are taken; then `least` is lowered by a quarter. A matching may as well be taken without
// looking at sizes, but then each phase empties about one message, and 128 ranks need 16,000 phases instead of 1,000.
// Phases: at most messages + 2 ranks, since each empties an edge. That is not a good schedule where a phase costs much;
// see kpbs for one that counts phases too.
// Cost: O(phases * ranks + searches * messages) time in the worst case, searches being short; 32 bytes per piece.
#include "schedulers/graph/peeling.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {

std::string why_not_peeling(const Problem& problem) {
  if (problem.matrix.num_messages() < Peeling::most_messages) return {};
  return "more than 2^31 messages";
}

Schedule make_birkhoff(const Problem& problem) { return peel_large_first(problem.matrix, 1); }

}  // namespace nuice::sched

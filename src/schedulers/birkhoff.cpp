// SPDX-License-Identifier: BSD-3-Clause
// Birkhoff: the fewest bytes. Messages are split so that all phases together wait for as many bytes as the
// busiest rank sends or receives, which no schedule can beat (Birkhoff 1946; as preemptive open shop,
// Gonzalez and Sahni, JACM 23, 1976; between servers, FAST, NSDI 2026).
//
// The matrix is peeled (peeling.hpp), starting with matchings of large edges. While there is a matching whose
// edges all have at least `least` bytes left, it is taken. When there is none, `least` is lowered by a
// quarter. Matchings could also be taken regardless of sizes, but then each phase empties about one message,
// and 128 ranks need 16,000 phases instead of 1,000. The number of phases is at most messages + 2 * ranks,
// because each phase empties an edge. This is not a good schedule if a phase costs much; kpbs takes the cost
// of phases into account. Cost: O(phases * ranks + searches * messages) time in the worst case; searches are
// short. 32 bytes per piece.
#include "schedulers/graph/peeling.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {

std::string why_not_peeling(const Problem& problem) {
  if (problem.matrix.num_messages() < Peeling::most_messages) return {};
  return "more than 2^31 messages";
}

Schedule make_birkhoff(const Problem& problem) { return peel_large_first(problem.matrix, 1); }

}  // namespace nuice::sched

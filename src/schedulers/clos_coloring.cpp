// SPDX-License-Identifier: BSD-3-Clause
// Clos colouring: whole messages in phases without node or link contention, each over a path of its own, on trees of
// switches. Where a tree is not thinned, in exactly as many phases as the largest degree D, whatever the matrix (Slepian
// 1952, Duguid 1959), while on static routes the busiest link alone may need two or three times D.
//
// The phases are those of coloring_by_size. In a phase a switch with h ranks below it sends at most h messages upwards and
// gets at most h, so the multigraph of these switches has an edge colouring with h colours (Koenig 1916): the cables.
// choose_paths() does that level by level, and divides the phases of thinned trees.
//
// The sender must be able to choose: see docs/reference/networks.md, "Paths".
// Cost: coloring_by_size; O(messages * levels * cables of a switch) for the paths. 8 bytes more for each message.
#include "nuice/plan/paths.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {

std::string why_not_clos_coloring(const Problem& problem) {
  if (std::string reason = why_not_link_free(problem); !reason.empty()) return reason;
  return why_no_paths(*problem.topology);
}

Schedule make_clos_coloring(const Problem& problem) {
  return choose_paths(make_coloring_by_size(problem), *problem.topology);
}

}  // namespace nuice::sched

// SPDX-License-Identifier: BSD-3-Clause
// path_coloring and path_list: link_coloring and link_list with a way for every message, on any network that has several: the
// cables of thinned trees, the detours of a dragonfly, the LIDs of a port (LMC). No theorem says what the best ways are, as on
// full trees (clos_coloring); they are searched (graph/balanced_paths.hpp), and then the order is made for them. Where a
// pair has one way only they are link_coloring and link_list.
//
// path_coloring has few phases, for equal sizes; path_list is an order for unequal ones.
//
// The sender must be able to choose: see docs/reference/networks.md, "Paths".
// Cost: link_coloring or link_list, and O(messages * ways * links of a way), at most 8 times 64 ways. 8 bytes more for each
// message.
#include "schedulers/graph/balanced_paths.hpp"
#include "schedulers/graph/on_paths.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {

Schedule make_path_coloring(const Problem& problem) {
  return color_on_paths(problem, balance_paths(problem.matrix, *problem.topology));
}

Schedule make_path_list(const Problem& problem) {
  return list_on_paths(problem, balance_paths(problem.matrix, *problem.topology));
}

}  // namespace nuice::sched

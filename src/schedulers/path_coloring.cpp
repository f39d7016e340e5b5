// SPDX-License-Identifier: BSD-3-Clause
// Path colouring: whole messages in phases without node or link contention, each on a path of its own, where the network has
// several.
//
//   * On fat trees the phases are those of coloring_by_size, and each gets paths (graph/tree_paths.hpp). On full ones that is
//     exactly as many phases as the largest degree D, whatever the matrix. On static routes the busiest link alone may need
//     two or three times D. Where thinned trees need more than D phases, the search is tried as well.
//   * Elsewhere no theorem says how: the paths are searched (graph/balanced_paths.hpp), and link_coloring makes the phases.
//     That is for the detours of a dragonfly, and the LIDs of a port (LMC). With one path for every pair it is link_coloring.
//
// The sender must be able to choose, which no MPI lets it do: docs/reference/networks.md, "Paths".
// Cost: coloring_by_size and O(messages * levels * log(cables)); or link_coloring, and at most 8 searches of 64 paths for
// every message. 16 bytes more for each message.
#include "nuice/core/bounds.hpp"
#include "schedulers/graph/balanced_paths.hpp"
#include "schedulers/graph/tree_paths.hpp"
#include "schedulers/rows.hpp"

namespace nuice::sched {

Schedule make_path_coloring(const Problem& problem) {
  const auto searched = [&] {
    return color_on_paths(problem, balance_paths(problem.matrix, *problem.topology));
  };
  if (problem.topology->levels().empty()) return searched();
  Schedule schedule = choose_tree_paths(problem.matrix, make_coloring_by_size(problem), *problem.topology);
  if (schedule.num_phases() <= lower_bounds(problem.matrix).max_degree) return schedule;
  Schedule other = searched();
  return other.num_phases() < schedule.num_phases() ? std::move(other) : std::move(schedule);
}

}  // namespace nuice::sched

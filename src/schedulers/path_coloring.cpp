// SPDX-License-Identifier: BSD-3-Clause
// Path colouring: whole messages in phases without node or link contention. If the network has several paths
// between ranks, each message gets a path of its own.
//
// * On fat trees coloring_by_size makes the phases, and the messages of each phase get paths
//   (graph/tree_paths.hpp). On full fat trees this needs exactly as many phases as the maximum degree D, for
//   every matrix. With static routes the busiest link alone may require two or three times D phases. If a
//   tree has fewer cables than ranks and needs more than D phases, the search below is tried as well.
// * On other networks no construction is known. Paths are searched (graph/balanced_paths.hpp), and
//   link_coloring makes the phases. This uses the detours of a dragonfly, and several LIDs of a port (LMC).
//   With one path per pair of ranks the result is that of link_coloring.
//
// The sender must be able to choose a path, which no MPI allows: see docs/reference/networks.md, "Paths".
// Cost: on fat trees, coloring_by_size and O(messages * levels * log(cables)); on others, link_coloring and
// at most 8 searches of 64 paths for every message. 16 more bytes per message.
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

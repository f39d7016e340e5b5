// SPDX-License-Identifier: BSD-3-Clause
// Which way every transfer takes, where its sender can choose (Topology::num_paths()).
//
//   const Schedule schedule = choose_paths(make_schedule(matrix, "coloring"), *topology);
//   check(matrix, schedule, direct | one_port | link_free, topology.get())
//
// On a tree of switches with as many cables upwards as downwards, the phases of any one_port schedule can be sent without
// link contention, whatever the matrix (Slepian 1952, Duguid 1959; by Koenig's edge colouring, 1916): with `coloring` in
// exactly as many phases as the largest degree. The scheduler `clos_coloring` is this with `coloring_by_size`.
#pragma once

#include <string>

#include "nuice/core/schedule.hpp"
#include "nuice/core/topology.hpp"

namespace nuice {

/// The same with paths for the transfers of every phase so that none of its links carries more than its slots; where a tree is thinned, a
/// phase becomes several, as few as its busiest switch needs. Throws Error not_applicable for a topology without levels()
/// or a schedule that is not one_port, mismatch if the topology has fewer ranks.
/// O(transfers * levels * cables of a switch) time, in addition to flipping colours.
Schedule choose_paths(const Schedule& schedule, const Topology& topology);

/// Empty if choose_paths() can choose on this topology, else the reason.
std::string why_no_paths(const Topology& topology);

}  // namespace nuice

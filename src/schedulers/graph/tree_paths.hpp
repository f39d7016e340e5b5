// SPDX-License-Identifier: BSD-3-Clause
// Chooses a path for every message of a phase on a tree of switches, so that no link is shared
// (path_coloring).
//
// In a phase a switch with h ranks below it sends at most h messages upwards, and receives at most h from
// above. So the multigraph of these switches has an edge colouring with h colours (Koenig 1916). A colour is
// an upward cable. All messages of one colour go up to switches with the same number, and every subtree sends
// one of these messages and receives one. These messages are coloured again with the subtrees of the next
// level, and so on (Slepian 1952, Duguid 1959).
//
// If a switch has w cables for more than w messages of a phase, the phase is divided: colour c becomes cable
// c mod w in part c / w.
#pragma once

#include "nuice/core/comm_matrix.hpp"
#include "nuice/core/schedule.hpp"
#include "nuice/core/topology.hpp"

namespace nuice::sched {

/// Returns the one_port schedule of whole messages, with paths. On trees with fewer cables than ranks, phases
/// are divided. Requires levels(). O(messages * levels * log(cables)) expected, and 20 bytes per message.
Schedule choose_tree_paths(const CommMatrix& matrix, const Schedule& schedule, const Topology& tree);

}  // namespace nuice::sched

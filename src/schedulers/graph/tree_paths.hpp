// SPDX-License-Identifier: BSD-3-Clause
// A path for every message of a phase on a tree of switches, so that no link is shared (path_coloring).
//
// In a phase a switch with h ranks below it sends at most h messages upwards and gets at most h, so the multigraph of these
// switches has an edge colouring with h colours (Koenig 1916). A colour is a cable upwards: in one colour every subtree
// sends one message and receives one, and all meet switches of one number. Among these the same is done with the subtrees
// of the next level, and so on (Slepian 1952, Duguid 1959).
//
// Where a switch has w cables for more than w messages of a phase, colour c stands for cable c mod w in part c / w of the
// phase.
#pragma once

#include "nuice/core/comm_matrix.hpp"
#include "nuice/core/schedule.hpp"
#include "nuice/core/topology.hpp"

namespace nuice::sched {

/// The one_port schedule of whole messages with paths; phases of thinned trees are divided. Requires levels().
/// O(messages * levels * log(cables)) expected, and 20 bytes per message.
Schedule choose_tree_paths(const CommMatrix& matrix, const Schedule& schedule, const Topology& tree);

}  // namespace nuice::sched

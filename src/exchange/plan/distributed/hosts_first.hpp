// SPDX-License-Identifier: BSD-3-Clause
// Hosts first: planning without a matrix where hosts have several ranks, and a port each.
//
// The lowest rank of a host speaks for it. It learns the messages of all its ranks, finds phases for those between hosts together
// with the speakers of other hosts (coloring.hpp: the vertices are hosts now, and two may have several messages), puts
// those inside the host where both ranks are idle, and tells its ranks. The same schedule as make_host_schedule(), byte for byte.
//
// Cost for h ranks on a host: the speaker has h times a rank's messages, letters and memory; the others write a message to each partner,
// and three to the speaker.
#pragma once

#include "exchange/plan/distributed/planners.hpp"

namespace nuice::mpi {

/// Collective. near: the ranks of this one's host.
HostPlace place_among_hosts(const Communicator& comm, std::vector<Rank> near);

LocalPlan plan_hosts_first(const LocalProblem& problem, const HostPlace& place);

/// Collective. The law of such plans, of each host by its speaker: no phase has two sends to, or two receives from, other hosts.
/// Throws Error mismatch, the same on all ranks.
void check_host_ports(const Communicator& comm, SparseExchange& sparse, const PhaseTable& table,
                      const HostPlace& place);

}  // namespace nuice::mpi

// SPDX-License-Identifier: BSD-3-Clause
// Schedules for hosts with several ranks: the port is the host's, so hosts are scheduled and not ranks.
//
//   const Schedule schedule = make_host_schedule(problem, "coloring", hosts);
//
// The scheduler schedules the matrix of hosts, whose messages are then replaced by the ranks'; schedulers with
// phases_between_hosts (scheduler.hpp) give the phases themselves. In every phase a host sends to at most one host and receives
// from at most one: find_host_contention() (hosts.hpp) is the law.
#pragma once

#include <string_view>

#include "nuice/core/hosts.hpp"
#include "nuice/plan/scheduler.hpp"

namespace nuice {

/// Whether make_host_schedule() has hosts scheduled: for schedulers that promise direct and one_port, but those without
/// link contention, whose network says itself what hosts share (tree, slurm). Others are left as they are.
bool schedules_hosts(const Scheduler& scheduler);

/// What a schedule of make_host_schedule() promises: find_host_contention() finds nothing in it, and these.
unsigned host_guarantees(const Scheduler& scheduler);

/// Every message straight from rank to rank. Those of a pair of hosts that share a phase of the hosts' schedule follow each
/// other in as many phases; messages inside a host go in the first phase in which both ranks are idle.
/// Pure, as all schedulers. Cost: that of the scheduler on the hosts' matrix, and O(m log m + messages inside hosts *
/// phases / 64); ranks * phases / 4 bytes meanwhile.
/// Throws as make_schedule() does (of the hosts' matrix). Without schedules_hosts() just make_schedule().
Schedule make_host_schedule(const Problem& problem, std::string_view name, const Hosts& hosts);

}  // namespace nuice

// SPDX-License-Identifier: BSD-3-Clause
// Schedules for hosts with several ranks: the port is the host's, so hosts are scheduled and not ranks.
//
//   const Schedule one_by_one = make_host_schedule(problem, "coloring", hosts);
//   const Schedule combined = make_combined_schedule(problem, "ac", hosts);
//
// Both make the matrix of hosts, have the scheduler schedule that, and replace the hosts' messages by the
// ranks'; but make_host_schedule() asks schedulers with phases_between_hosts (scheduler.hpp) for the phases themselves. In every phase a host sends to at most one host and receives from at most one: find_host_contention() (hosts.hpp)
// is the law.
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

/// What a host sends another is one transfer: gathered on the first rank of the host in the first phase, which also
/// carries the messages inside hosts, scattered on the other side in the last. Between them are the phases of the hosts'
/// schedule, one of all at once for "ac". Fewer, larger messages between hosts for two more inside them: for small ones.
/// A transfer then carries parts of several messages: executors with phases.
/// Promises delivery only; for schedulers with one_port also that find_host_contention() finds nothing.
/// Cost: that of the scheduler on the hosts' matrix, and O(m log m). Throws as make_host_schedule(), and not_applicable for
/// schedulers that promise link_free.
Schedule make_combined_schedule(const Problem& problem, std::string_view name, const Hosts& hosts);

}  // namespace nuice

// SPDX-License-Identifier: BSD-3-Clause
// Planning for hosts with several ranks: which ranks share one, the schedules made for them, and the share that each rank
// has of its host's window.
//
// The port is the host's: the switch in front of it holds as much for four ranks as for one. So the windows of its ranks
// together are what one rank's is otherwise. They are as the bytes that the ranks are to receive from other hosts, so
// that all ranks of a host come to the end together and nobody's share lies idle.
// Cost: two allgathers of some bytes, a small allreduce, and small messages between the ranks of each host.
#include <algorithm>
#include <array>

#include "exchange/plan/options.hpp"
#include "exchange/plan/plan_state.hpp"
#include "mpi/agree.hpp"
#include "mpi/collective.hpp"
#include "mpi/host/host_ranks.hpp"
#include "nuice/core/error.hpp"
#include "nuice/plan/host_schedule.hpp"

namespace nuice::mpi {
namespace {

/// The share of one who has `mine` of `all` bytes. (A chunk may always be under way.)
double share_of(Bytes mine, double all) {
  const bool is_alone = static_cast<double>(mine) >= all;  // or has nothing to share
  return is_alone ? 1 : std::max(1e-3, static_cast<double>(mine) / all);
}

}  // namespace

void Plan::State::find_hosts(const PlanOptions& options) {
  info.num_hosts = comm->num_ranks();
  info.combined = options.combine;
  info.shared_memory = options.shared_memory;
  if (options.hosts.empty()) return;
  const bool is_asked = options.hosts == auto_name;
  std::vector<Rank> host_of;
  if (is_asked) host_of = ranks_that_share_memory(*comm);
  all_or_none(*comm, [&] {
    hosts = is_asked ? Hosts(std::move(host_of)) : parse_hosts(options.hosts, comm->num_ranks());
    info.num_hosts = hosts->num_hosts();
    shares_ports = hosts->any_shared();
    if (shares_ports) windows.near = hosts->ranks_beside(comm->rank());
  });
  // Whoever names a network says what its ports are. On one host there are none.
  const bool ranks_are_scheduled = !options.topology.empty() || info.num_hosts == 1;
  if (is_asked && ranks_are_scheduled && !options.combine) hosts.reset();
}

void Plan::State::find_near_ranks(const PlanOptions& options) {
  info.num_hosts = comm->num_ranks();
  info.shared_memory = options.shared_memory;
  if (options.hosts.empty() || options.hosts == "1") return;
  if (options.hosts == auto_name) windows.near = ranks_of_this_host(*comm);
  all_or_none(*comm, [&] {
    if (options.hosts != auto_name)
      windows.near = parse_hosts(options.hosts, comm->num_ranks()).ranks_beside(comm->rank());
  });
  info.num_hosts = windows.near.front() == comm->rank() ? 1 : 0;
  all_reduce(*comm, MPI_IN_PLACE, &info.num_hosts, 1, MPI_INT32_T, MPI_SUM);
  shares_ports = info.num_hosts < comm->num_ranks();
}

void Plan::State::share_windows() {
  const bool is_on_one_host = info.num_hosts == 1;
  if (shares_ports && !is_on_one_host && grants()) share_window();
  if (hosts && hosts->any_shared() && info.combined && !relays)
    group = std::make_shared<const HostGroup>(*comm, std::move(*hosts), settled_options.combining.leaders);
  hosts.reset();
}

Bytes Plan::State::bytes_over_port(std::span<const Partner> partners) const {
  Bytes bytes = 0;
  for (const Partner& partner : partners)
    if (comes_over_port(partner.rank)) bytes += partner.bytes;
  return bytes;
}

Bytes Plan::State::most_over_a_port(Bytes mine, bool is_backwards) const {
  double most = static_cast<double>(mine) / windows.of(is_backwards);
  all_reduce(*comm, MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX);
  return static_cast<Bytes>(std::min(most, static_cast<double>(max_bytes)));
}

void Plan::State::share_window() {
  const Bytes forwards = bytes_over_port(table.sources);
  const Bytes backwards = bytes_over_port(table.destinations);
  std::array<double, 2> sums = {};
  for (const auto& of_rank : values_on_host(*comm, windows.near, std::array{forwards, backwards}))
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += static_cast<double>(of_rank[i]);
  windows.forwards = share_of(forwards, sums[0]);
  windows.backwards = share_of(backwards, sums[1]);
}

Schedule Plan::State::make_schedule_for(const Problem& problem, const Scheduler& scheduler) const {
  if (!hosts) return make_schedule(problem, scheduler.name);
  return relays ? make_combined_schedule(problem, scheduler.name, *hosts)
                : make_host_schedule(problem, scheduler.name, *hosts);
}

void Plan::State::require_correct_for(const Problem& problem, const Schedule& schedule,
                                      const Scheduler& scheduler) const {
  const auto fail = [&](const Violation& violation) {
    throw Error(ErrorCode::mismatch,
                "scheduler " + std::string(scheduler.name) + " made a wrong schedule: " + violation.text);
  };
  const unsigned guarantees =
      !hosts || !hosts->any_shared() ? scheduler.guarantees : host_guarantees(scheduler);
  const auto violation = check(problem.matrix, schedule, relays ? 0 : guarantees, problem.topology);
  if (violation) fail(*violation);
  const bool is_for_hosts = hosts && (relays ? (scheduler.guarantees & one_port) != 0
                                             : hosts->any_shared() && schedules_hosts(scheduler));
  if (!is_for_hosts) return;
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase)
    if (const auto contention = find_host_contention(schedule, phase, *hosts)) fail(*contention);
}

void Plan::State::settle_form(const Scheduler& scheduler, const Executor& executor) {
  const bool forwards = (scheduler.guarantees & direct) == 0;
  relays = forwards && hosts && hosts->any_shared();
  if (relays) info.combined = true;
  if (forwards) require_phases_to_forward(std::string(scheduler.name), executor);
}

}  // namespace nuice::mpi

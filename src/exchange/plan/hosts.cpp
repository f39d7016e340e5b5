// SPDX-License-Identifier: BSD-3-Clause
// Planning for hosts with several ranks: which ranks share one, and the schedules made for them.
// Cost: two allgathers of some bytes, and a small allreduce.
#include <algorithm>

#include "exchange/plan/options.hpp"
#include "exchange/plan/planner.hpp"
#include "mpi/agree.hpp"
#include "mpi/collective.hpp"
#include "mpi/host/host_ranks.hpp"
#include "nuice/core/error.hpp"
#include "nuice/plan/host_schedule.hpp"

namespace nuice::mpi {
void Plan::Planner::find_hosts(const PlanOptions& options) {
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
    if (shares_ports) view.near = hosts->ranks_beside(comm->rank());
  });
  // Whoever names a network says what its ports are. On one host there are none.
  const bool ranks_are_scheduled = !options.topology.empty() || info.num_hosts == 1;
  if (is_asked && ranks_are_scheduled && !options.combine) hosts.reset();
}

void Plan::Planner::find_near_ranks(const PlanOptions& options) {
  info.num_hosts = comm->num_ranks();
  info.shared_memory = options.shared_memory;
  if (options.hosts.empty() || options.hosts == "1") return;
  if (options.hosts == auto_name) view.near = ranks_of_this_host(*comm);
  all_or_none(*comm, [&] {
    if (options.hosts != auto_name)
      view.near = parse_hosts(options.hosts, comm->num_ranks()).ranks_beside(comm->rank());
  });
  info.num_hosts = view.near.front() == comm->rank() ? 1 : 0;
  all_reduce(*comm, MPI_IN_PLACE, &info.num_hosts, 1, MPI_INT32_T, MPI_SUM);
  shares_ports = info.num_hosts < comm->num_ranks();
}

void Plan::Planner::find_leaders() {
  const bool combines = info.combined || std::ranges::any_of(rivals, &Rival::combines);
  if (hosts && hosts->any_shared() && combines)
    view.group =
        std::make_shared<const HostGroup>(*comm, std::move(*hosts), settled_options.combining.leaders);
  hosts.reset();
}

Schedule Plan::Planner::make_schedule_for(const Problem& problem, const Scheduler& scheduler) const {
  return hosts ? make_host_schedule(problem, scheduler.name, *hosts) : make_schedule(problem, scheduler.name);
}

void Plan::Planner::require_correct_for(const Problem& problem, const Schedule& schedule,
                                        const Scheduler& scheduler) const {
  const auto fail = [&](const Violation& violation) {
    throw Error(ErrorCode::mismatch,
                "scheduler " + std::string(scheduler.name) + " made a wrong schedule: " + violation.text);
  };
  const unsigned guarantees =
      !hosts || !hosts->any_shared() ? scheduler.guarantees : host_guarantees(scheduler);
  const auto violation = check(problem.matrix, schedule, guarantees, problem.topology);
  if (violation) fail(*violation);
  const bool is_for_hosts = hosts && hosts->any_shared() && schedules_hosts(scheduler);
  if (!is_for_hosts) return;
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase)
    if (const auto contention = find_host_contention(schedule, phase, *hosts)) fail(*contention);
}

void Plan::Planner::require_suitable(const Scheduler& scheduler, const Executor& executor) const {
  if ((scheduler.guarantees & direct) != 0) return;
  require_phases_to_forward(std::string(scheduler.name), executor);
  if (info.combined)
    throw Error(ErrorCode::not_applicable,
                "option combine is for schedulers that send each message straight; " +
                    std::string(scheduler.name) + " forwards messages");
}

}  // namespace nuice::mpi

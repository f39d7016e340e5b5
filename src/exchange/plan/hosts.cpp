// SPDX-License-Identifier: BSD-3-Clause
// Finds which ranks share a host, for planning.
// Cost: two allgathers of some bytes, and a small allreduce.
#include <algorithm>

#include "exchange/plan/options.hpp"
#include "exchange/plan/planner.hpp"
#include "mpi/agree.hpp"
#include "mpi/collective.hpp"
#include "mpi/host/host_ranks.hpp"
#include "nuice/core/error.hpp"

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
  // A named network says where the ports are. A single host uses no ports.
  const bool has_no_ports = !options.topology.empty() || info.num_hosts == 1;
  if (is_asked && has_no_ports && !options.combine) hosts.reset();
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
  const auto is_combined = [](const Rival& rival) { return !rival.table; };
  const bool combines = info.combined || std::ranges::any_of(rivals, is_combined);
  if (hosts && hosts->any_shared() && combines)
    view.group =
        std::make_shared<const HostGroup>(*comm, std::move(*hosts), settled_options.combining.leaders);
  hosts.reset();
}

void Plan::Planner::require_correct_for(const Problem& problem, const Schedule& schedule,
                                        const Scheduler& scheduler) {
  if (const auto violation = check(problem.matrix, schedule, scheduler.guarantees, problem.topology))
    throw Error(ErrorCode::mismatch,
                "scheduler " + std::string(scheduler.name) + " made a wrong schedule: " + violation->text);
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

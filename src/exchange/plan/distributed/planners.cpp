// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/plan/distributed/planners.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "core/support/table.hpp"
#include "exchange/plan/distributed/coloring.hpp"
#include "mpi/agree.hpp"
#include "nuice/plan/scheduler.hpp"
#include "schedulers/distributed/table_of.hpp"
#include "schedulers/regular/orders.hpp"

namespace nuice::mpi {

using namespace distributed;

LocalPlan plan_of(const LocalProblem& problem, std::vector<Placed> sends, std::vector<Placed> receives,
                  std::size_t num_phases) {
  LocalPlan plan;
  plan.largest.assign(num_phases, 0);
  for (const Placed& send : sends) plan.largest[send.phase] = std::max(plan.largest[send.phase], send.bytes);
  all_max(problem.comm, std::span(plan.largest));
  all_or_none(problem.comm, [&] {
    for (const Bytes bytes : plan.largest) plan.used.push_back(bytes > 0 ? 1 : 0);
    std::erase(plan.largest, 0);
    const std::vector<PhaseId> number = phases_of(plan.used);
    for (Placed& send : sends) send.phase = number[send.phase];
    for (Placed& receive : receives) receive.phase = number[receive.phase];
    PhaseTable& table = plan.table;
    table.rank = problem.comm.rank();
    table.num_ranks = problem.comm.num_ranks();
    table.num_phases = static_cast<PhaseId>(plan.largest.size());
    for (std::size_t i = 0; i < problem.sends.size(); ++i)
      table.destinations.push_back({problem.sends.partners[i], problem.sends.bytes[i]});
    for (std::size_t i = 0; i < problem.receives.size(); ++i)
      table.sources.push_back({problem.receives.partners[i], problem.receives.bytes[i]});
    table.entries = entries_of(std::move(sends), std::move(receives));
  });
  return plan;
}

namespace {

// ---- what follows from the two ends of a message

LocalPlan plan_ac(const LocalProblem& problem) {
  const auto at_once = [](std::size_t) { return 0; };
  const std::vector<Placed> by_rank = placed(problem.sends, at_once);
  std::vector<Placed> sends;
  for (const std::uint32_t k : sched::ac_order(problem.seed, problem.comm.rank(), by_rank.size()))
    sends.push_back(by_rank[k]);
  return plan_of(problem, std::move(sends), placed(problem.receives, at_once), 1);
}

template <sched::FixedOrder phase_of>
LocalPlan plan_in_order(const LocalProblem& problem) {
  const Rank self = problem.comm.rank();
  const Rank num_ranks = problem.comm.num_ranks();
  const auto& to = problem.sends.partners;
  const auto& from = problem.receives.partners;
  return plan_of(problem,
                 placed(problem.sends, [&](std::size_t i) { return phase_of(self, to[i], num_ranks); }),
                 placed(problem.receives, [&](std::size_t i) { return phase_of(from[i], self, num_ranks); }),
                 static_cast<std::size_t>(num_ranks));
}

// ---- what the ranks find together

std::vector<bool> equal_places(const std::vector<Colour>& now, const std::vector<Colour>& earlier) {
  std::vector<bool> equal;
  for (std::size_t i = 0; i < now.size(); ++i) equal.push_back(now[i] == earlier[i]);
  return equal;
}

LocalPlan plan_coloring(const LocalProblem& problem) {
  Colours found = find_colours(problem);
  LocalPlan plan = plan_of(problem, placed(problem.sends, [&](std::size_t i) { return found.sends[i]; }),
                           placed(problem.receives, [&](std::size_t i) { return found.receives[i]; }),
                           found.palette->size());
  found.palette->keep(plan.used);
  plan.palette = std::move(found.palette);
  if (const auto& earlier = problem.earlier)
    plan.kept = {equal_places(found.sends, earlier->sends), equal_places(found.receives, earlier->receives)};
  return plan;
}

constexpr std::array local_planners{
    LocalPlanner{"distributed_coloring", plan_coloring}, LocalPlanner{"ac", plan_ac},
    LocalPlanner{"lp", plan_in_order<sched::lp_phase>}, LocalPlanner{"bex", plan_in_order<sched::bex_phase>},
    LocalPlanner{"lex", plan_in_order<sched::lex_phase>}};

}  // namespace

const LocalPlanner* local_planner(std::string_view scheduler) {
  const Scheduler* const row = core::row_named(schedulers(), scheduler);
  if (row == nullptr) return nullptr;
  return core::row_named(local_planners, row->alias_of.empty() ? row->name : row->alias_of);
}

std::string local_planner_names() {
  std::string names;
  for (const LocalPlanner& row : local_planners) names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

}  // namespace nuice::mpi

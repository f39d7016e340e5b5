// SPDX-License-Identifier: BSD-3-Clause
#include "advise/planning_costs.hpp"

#include <algorithm>

#include "nuice/core/executor.hpp"
#include "nuice/plan/advise.hpp"
#include "nuice/plan/simulate.hpp"

namespace nuice {
namespace advice {
namespace {

/// log2 rounded down, plus the rest linearly: the same on every platform, unlike std::log2.
double log2_of(double value) {
  double floor = 0;
  while (value >= 2) {
    value /= 2;
    ++floor;
  }
  return floor + (value - 1);
}

}  // namespace

double planning_s(const PlanningCost& cost, const MatrixTraits& t) {
  const double log = log2_of(1 + t.degree);
  const double uneven = t.equal_sizes ? 0 : cost.uneven * log;
  return 1e-9 * (cost.fixed + cost.rank * t.ranks +
                 t.messages * (cost.message + cost.log * log + cost.hop * t.hops + uneven));
}

double planning_on_s(const Scheduler* planner, const Traits& traits, const Machine& machine) {
  const double whole_s =
      planner == nullptr ? 0 : machine.planning_slowdown * planning_s(planner->planning_cost, traits);
  if (machine.control_word_s == 0) return whole_s;
  const auto ranks = static_cast<Rank>(traits.ranks);
  if (planner != nullptr && planner->gathers) return whole_s + concatenation_s(machine, ranks);
  return whole_s / traits.ranks + discovery_s(machine, ranks, traits.degree);
}

// After lab/bench/run.py planning_costs --simulation. Where many messages are in flight at once and share links, or a port for both
// ways, each begin and end of one changes the rates of others.
double rule_cost_s(const Traits& t, double candidates) {
  return (5000 + 1500 * candidates + 20 * t.ranks + t.messages * (10 + 5 * t.hops)) * 1e-9;
}

double model_cost_s(const Traits& t, double transfers) {
  return (2000 + 40 * t.ranks + transfers * (50 + 12 * t.hops)) * 1e-9;
}

double simulation_cost_s(const Traits& t, double transfers, const Machine& machine, bool all_at_once) {
  double flow_ns = 0;
  if (all_at_once && machine.sends_at_once != 1) {
    const bool half = machine.duplex != Duplex::full;
    const bool shares_links = t.hops > 0 && machine.switching == Switching::packet;
    flow_ns = shares_links ? (half ? 170 : 60) : (half ? 50 : 8);
  }
  return (20000 + transfers * (700 + 200 * t.hops + flow_ns * transfers)) * 1e-9;
}

/// Up to a million or so are simulated one by one, later some windows of them for each message (simulate.hpp). A few are in
/// simulation_cost_s() already.
double refusals_cost_s(const Traits& t, const Machine& machine, double exchange_s) {
  constexpr double refusal_ns = 500;
  constexpr double few = 1e5;
  constexpr double window = 3 * 4096;
  const double inquiry_s =
      machine.am_send_s + 2 * machine.am_latency_s + 2 * machine.am_handler_s + machine.am_retry_s;
  const double refusals = inquiry_s > 0 ? t.ranks * exchange_s / inquiry_s : 0;
  const double most =
      static_cast<double>(default_refusals_one_by_one) + t.messages * std::max(window, 3 * 16 * t.ranks);
  return std::max(0.0, std::min(refusals, most) - few) * refusal_ns * 1e-9;
}

}  // namespace advice

double planning_cost_s(const CommMatrix& matrix, std::string_view scheduler, const Topology* topology) {
  const auto is_needless = [&](const Executor& e) {
    return !e.needs_schedule() && e.without_scheduler == scheduler;
  };
  if (std::ranges::any_of(executors(), is_needless)) return 0;
  return advice::planning_s(find_scheduler(scheduler).planning_cost, advice::traits_of(matrix, topology, {}));
}

}  // namespace nuice

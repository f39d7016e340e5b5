// SPDX-License-Identifier: BSD-3-Clause
#include "advise/work.hpp"

#include <algorithm>

#include "nuice/core/executor.hpp"
#include "nuice/plan/advise.hpp"

namespace nuice {
namespace advice {
namespace {

/// The nominal time of a step, in which a message is handled once. Only budgets and the planning time S
/// depend on it.
constexpr double step_s = 10e-9;

/// Returns log2 rounded down, plus a linear remainder. Unlike std::log2, it gives the same result on every
/// platform.
double log2_of(double value) {
  double floor = 0;
  while (value >= 2) {
    value /= 2;
    ++floor;
  }
  return floor + (value - 1);
}

}  // namespace

/// The time contains a logarithm, because a message is compared with the partner's other messages in a heap,
/// a sorted list or a binary search.
double making_s(const Scheduler& planner, const MatrixTraits& t) {
  constexpr double fixed = 150;
  const double of_a_message = planner.planning_passes * (1 + log2_of(1 + t.degree) / 3);
  const double routes = planner.needs_topology() ? 1 + t.hops : 1;
  return step_s * (fixed + t.ranks + t.messages * of_a_message * routes);
}

/// A forwarded message is checked in each of its hops. With one message per phase it moves in half of the
/// phases.
double planning_s(const Scheduler& planner, const MatrixTraits& t) {
  const bool forwards = (planner.guarantees & direct) == 0;
  const double phases = (*planner.expected_phases)(t);
  const double hops = (planner.guarantees & one_port) != 0 ? phases / 2 : phases;
  return making_s(planner, t) + step_s * t.messages * (forwards ? 5 * hops : 2);
}

double planning_on_s(const Scheduler* planner, const Traits& traits, const Machine& machine) {
  const double whole_s = planner == nullptr ? 0 : machine.planning_slowdown * planning_s(*planner, traits);
  if (machine.control_word_s == 0) return whole_s;
  const auto ranks = static_cast<Rank>(traits.ranks);
  if (planner != nullptr && planner->gathers) return whole_s + concatenation_s(machine, ranks);
  return whole_s / traits.ranks + discovery_s(machine, ranks, traits.degree);
}

double rule_work_s(const Traits& t, double candidates) {
  return step_s * (500 + 150 * candidates + 2 * t.ranks + t.messages * (1 + t.hops / 2));
}

double walk_work_s(const Traits& t, bool all_at_once) {
  return step_s * (t.ranks + (all_at_once ? 8 : 4) * t.messages);
}

/// Each begin and end of a message changes the rates of other messages. If all messages are in flight at
/// once, it changes the rates of all messages at the same ports. It changes nearly all rates if messages
/// share links, share ports for both directions, or slow a receiver down.
double fluid_work_s(const Traits& t, double transfers, const Machine& machine, bool all_at_once) {
  double others = 0;
  if (all_at_once && machine.sends_at_once != 1) {
    const bool one_way = machine.duplex == Duplex::full;
    const bool shares = machine.switching == Switching::packet && (t.hops > 0 || !one_way);
    const bool is_local = !shares && machine.loss_most_sending == 0;
    others = is_local ? transfers / t.ranks : (one_way ? 6 : 18) * transfers;
  }
  return step_s * (2000 + transfers * (70 + 20 * t.hops + others));
}

/// A few refusals are included in fluid_work_s() already.
double refusals_work_s(const Traits& t, const Machine& machine, double exchange_s) {
  constexpr double few = 1e5;
  const double inquiry_s =
      machine.am_send_s + 2 * machine.am_latency_s + 2 * machine.am_handler_s + machine.am_retry_s;
  const double refusals = inquiry_s > 0 ? t.ranks * exchange_s / inquiry_s : 0;
  return step_s * 50 * std::max(0.0, refusals - few);
}

double packets_work_s(const Traits& t, double packets) {
  return step_s * (4000 + 40 * t.messages + 12 * packets * (t.hops + 2));
}

}  // namespace advice

double planning_cost_s(const CommMatrix& matrix, std::string_view scheduler, const Topology* topology) {
  const auto is_needless = [&](const Executor& e) {
    return !e.needs_schedule() && e.without_scheduler == scheduler;
  };
  if (std::ranges::any_of(executors(), is_needless)) return 0;
  return advice::making_s(find_scheduler(scheduler), advice::traits_of(matrix, topology, {}));
}

}  // namespace nuice

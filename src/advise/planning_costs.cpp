// SPDX-License-Identifier: BSD-3-Clause
//   S = fixed + rank * ranks + messages * (message + log * L + hop * hops) + messages * L * uneven, if sizes differ
//
// in nanoseconds, L = log2(1 + degree), fitted by bench/planning_costs.py to the times of make and check() together, within
// 0.4 to 1.6 mostly. link_coloring counts its work and stops at a bound that it may reach at once: its row is a quarter of
// the most that it can take.
#include "advise/planning_costs.hpp"

#include <algorithm>
#include <array>

#include "nuice/core/error.hpp"
#include "nuice/plan/advise.hpp"
#include "nuice/plan/simulate.hpp"

namespace nuice {
namespace advice {
namespace {

struct Cost {
  std::string_view scheduler;
  double fixed_ns;
  double rank_ns;
  double message_ns;
  double log_ns;
  double hop_ns;
  double uneven_ns;
};

constexpr std::array costs{
    Cost{"ac", 1.07e+03, 2.27, 14.9, 1.03, 0, 0},
    Cost{"lp", 1.27e+03, 12.5, 11.3, 0.551, 0, 0.0482},
    Cost{"gm", 1.32e+03, 10.7, 18.3, 1.06, 0, 0},
    Cost{"rs_n", 1.59e+03, 8.28, 10.4, 3.64, 0, 0},
    Cost{"coloring", 1.74e+03, 5.78, 22.7, 0, 0, 0},
    Cost{"lex", 1.41e+03, 7.36, 8.67, 0.441, 0, 0},
    Cost{"rex", 0, 263, 63.7, 20.7, 0, 0},
    Cost{"bruck", 0, 560, 82, 48, 0, 0},
    Cost{"bex", 1.47e+03, 15.3, 9.88, 0.815, 0, 0},
    Cost{"gs", 1.07e+03, 41.9, 1.62, 9.24, 0, 0},
    Cost{"rs_nh", 1.64e+03, 45.9, 8.11, 7.39, 0, 4},
    Cost{"lpt", 1.61e+03, 28.1, 14.9, 2.88, 0, 5.12},
    Cost{"birkhoff", 2.11e+03, 32, 34.9, 8.25, 0, 79.3},
    Cost{"coloring_by_size", 655, 53.6, 0, 29.5, 0, 3.74},
    Cost{"slices", 2.1e+03, 63.7, 17.6, 10.1, 0, 124},
    Cost{"kpbs", 782, 141, 0, 43.7, 0, 12},
    Cost{"rs_nl", 397, 11.3, 0, 5.56, 44, 0},
    Cost{"rs_nlh", 0, 40.3, 0, 6.69, 55, 5.85},
    Cost{"link_coloring", 0, 0, 400, 0, 400, 0},
};

struct Alias {
  std::string_view name;
  std::string_view scheduler;
};
/// The same algorithm under another name.
constexpr std::array aliases{Alias{"cgm", "rs_n"}, Alias{"pex", "lp"}, Alias{"ps", "lp"}, Alias{"bs", "bex"},
                             Alias{"ls", "lex"}};

/// log2 rounded down, plus the rest linearly: the same on every platform, unlike std::log2.
double log2_of(double value) {
  double floor = 0;
  while (value >= 2) {
    value /= 2;
    ++floor;
  }
  return floor + (value - 1);
}

double nanoseconds(const Cost& cost, const Traits& t) {
  const double log = log2_of(1 + t.degree);
  const double uneven = t.equal_sizes() ? 0 : cost.uneven_ns * log;
  return cost.fixed_ns + cost.rank_ns * t.ranks +
         t.messages * (cost.message_ns + cost.log_ns * log + cost.hop_ns * t.hops + uneven);
}

const Cost& cost_of(std::string_view scheduler) {
  const auto* const alias = std::ranges::find(aliases, scheduler, &Alias::name);
  if (alias != aliases.end()) scheduler = alias->scheduler;
  const auto* const row = std::ranges::find(costs, scheduler, &Cost::scheduler);
  // A row of the scheduler table that nobody has measured: as the dearest one.
  return row == costs.end() ? costs.back() : *row;
}

}  // namespace

double planning_s(std::string_view scheduler, const Traits& traits) {
  return nanoseconds(cost_of(scheduler), traits) * 1e-9;
}

// After bench/planning_costs.py --simulation. Where many messages are under way at once and share links, or a port for both
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
  if (scheduler != "drs_n") find_scheduler(scheduler);
  return advice::planning_s(scheduler, advice::traits_of(matrix, topology, {}));
}

}  // namespace nuice

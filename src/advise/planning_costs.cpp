// SPDX-License-Identifier: BSD-3-Clause
// S = a + b * ranks + c * messages + d * messages * log2(1 + degree) + e * messages * hops, nanoseconds. The
// coefficients are fitted by bench/planning_costs.py to the sum of the times of make and check().
#include "advise/planning_costs.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "nuice/advise.hpp"
#include "nuice/error.hpp"

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
};

constexpr std::array costs{
    Cost{"ac", 500, 20, 70, 5, 0},
    Cost{"rs_n", 500, 20, 80, 10, 0},
};

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
  return cost.fixed_ns + cost.rank_ns * t.ranks +
         t.messages * (cost.message_ns + cost.log_ns * log2_of(1 + t.degree) + cost.hop_ns * t.hops);
}

}  // namespace

double planning_s(std::string_view scheduler, const Traits& traits) {
  const auto* const row = std::ranges::find(costs, scheduler, &Cost::scheduler);
  return nanoseconds(row == costs.end() ? costs.back() : *row, traits) * 1e-9;
}

double rule_cost_s(const Traits& traits) { return (5000 + 20 * traits.ranks + 15 * traits.messages) * 1e-9; }

double model_cost_s(const Traits& traits, double transfers) {
  return (500 + 30 * traits.ranks + transfers * (40 + 10 * traits.hops)) * 1e-9;
}

double simulation_cost_s(const Traits& traits, double transfers) {
  return (3000 + 500 * traits.ranks + transfers * (1500 + 600 * traits.hops)) * 1e-9;
}

}  // namespace advice

double planning_cost_s(const CommMatrix& matrix, std::string_view scheduler, const Topology* topology) {
  if (scheduler != "drs_n") find_scheduler(scheduler);
  return advice::planning_s(scheduler, advice::traits_of(matrix, topology));
}

}  // namespace nuice

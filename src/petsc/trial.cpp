// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/trial.hpp"

#include <algorithm>
#include <numeric>

namespace nuice::petsc {
namespace {

constexpr std::int64_t turn_length = 4;
constexpr std::size_t turns_to_be_sure = 12;
constexpr double far_ahead = 1.3;
constexpr double clearly = 1.05;

double mean_without_worst_quarter(std::span<const double> times_s) {
  std::vector<double> sorted(times_s.begin(), times_s.end());
  std::ranges::sort(sorted);
  sorted.resize(sorted.size() - sorted.size() / 4);
  return std::accumulate(sorted.begin(), sorted.end(), 0.0) / static_cast<double>(sorted.size());
}

}  // namespace

Trial::Step Trial::next() {
  const std::int64_t at = begun_++ - round_begin_;
  if (is_decided_ || at < 0 || at >= turn_length * static_cast<std::int64_t>(turns_)) return {kept_};
  const std::int64_t at_in_turn = at % turn_length;
  return {at_in_turn < 2 ? Way::basic : Way::plan, at_in_turn % 2 == 1};
}

bool Trial::add(Way way, double elapsed_s) {
  times_s_[index(way)].push_back(elapsed_s);
  if (std::ranges::any_of(times_s_, [&](const auto& times) { return times.size() < turns_; })) return false;
  is_reported_ = true;
  reported_at_ = begun_;
  return true;
}

std::span<const double> Trial::report() {
  report_.clear();
  for (const auto& times : times_s_) report_.insert(report_.end(), times.begin(), times.end());
  return report_;
}

void Trial::learn(std::span<const double> of_all) {
  const std::size_t half = of_all.size() / 2;
  costs_s_ = {mean_without_worst_quarter(of_all.first(half)), mean_without_worst_quarter(of_all.last(half))};
  num_timed_ = static_cast<int>(half);
  const double plan_s = cost_s(Way::plan), basic_s = cost_s(Way::basic);
  const bool is_sure = basic_s > far_ahead * plan_s || plan_s > far_ahead * basic_s;
  is_decided_ = is_sure || turns_ == turns_to_be_sure;
  if (is_decided_) kept_ = basic_s > clearly * plan_s ? Way::plan : Way::basic;
  is_reported_ = false;
  for (auto& times : times_s_) times.clear();
  round_begin_ = begun_;
  turns_ = turns_to_be_sure;
}

}  // namespace nuice::petsc

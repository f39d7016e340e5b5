// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/contest/standings.hpp"

#include <algorithm>
#include <cmath>

namespace nuice::exchange {
namespace {

// The header explains these values.
constexpr double z = 2.5;
constexpr double z_at_last = 1;
constexpr double enough = 8;
constexpr double usual_deviation = 0.25;
constexpr double indifference = 0.05;
/// ln 1.4, which is 1.34 usual deviations. If nothing has changed, two reports in a row both deviate by more
/// with a probability of 3 %. After a smaller change, a search costs more than it gains, because some of its
/// exchanges use slower arms.
constexpr double other_network = 0.336;

}  // namespace

double Standings::Arm::variance() const {
  const double of_reports = exchanges > 0 ? std::max(0.0, squares / exchanges - log_s() * log_s()) : 0;
  return usual_deviation * usual_deviation / std::max(reports, 1.0) + of_reports;
}

/// The weight of the arm's reports if an exchange takes exp(log_s) seconds. It is the number of reports, or
/// less if they have different numbers of exchanges. It is at most the time of all these exchanges, in time
/// slices.
double Standings::Arm::weight_at(double log_s) const {
  if (exchanges <= 0) return 0;
  return std::min(exchanges * exchanges / lengths_squared, exchanges * std::exp(log_s) / time_slice_s);
}

bool Standings::is_settled() const { return std::ranges::count(arms_, true, &Arm::is_in) == 1; }

double Standings::mean_s(std::size_t arm) const {
  return arms_[arm].exchanges > 0 ? std::exp(arms_[arm].log_s()) : 0;
}

void Standings::add(std::size_t arm, double report_s, int exchanges) {
  Arm& it = arms_[arm];
  if (arm == best_ && !it.was_used) it = {.was_used = true, .num_reports = it.num_reports};
  const double log_s = std::log(report_s);
  it.reports += 1;
  it.exchanges += exchanges;
  it.lengths_squared += static_cast<double>(exchanges) * exchanges;
  it.sum += exchanges * log_s;
  it.squares += exchanges * log_s * log_s;
  it.last_log_s = log_s;
  it.last_exchanges = exchanges;
  ++it.num_reports;
}

Standings::Difference Standings::to_best(std::size_t arm) const {
  const Arm& it = arms_[arm];
  const Arm& best = arms_[best_];
  const double slower = std::max(it.log_s(), best.log_s());
  const double weight = it.weight_at(slower), weight_of_best = best.weight_at(slower);
  return {.log_s = it.log_s() - best.log_s(),
          .deviation = std::sqrt(it.variance() / weight + best.variance() / weight_of_best),
          .is_heavy = std::min(weight, weight_of_best) >= 1};
}

bool Standings::loses(std::size_t arm) const {
  const Arm& it = arms_[arm];
  if (!it.is_in || arm == best_ || it.exchanges <= 0) return !it.is_in;
  const auto [gap, deviation, is_heavy] = to_best(arm);
  return it.weight() >= enough || (is_heavy && gap - z * deviation > -indifference);
}

bool Standings::judge() {
  std::size_t leader = best_;
  for (std::size_t i = 0; i < arms_.size(); ++i)
    if (arms_[i].is_in && arms_[i].exchanges > 0 && arms_[i].log_s() < arms_[leader].log_s()) leader = i;
  const auto [gap, deviation, is_heavy] = to_best(leader);
  const double wanted = arms_[leader].weight() >= enough ? z_at_last : z;
  const bool is_better = leader != best_ && is_heavy && gap < -indifference;
  is_contested_ = is_better && gap + wanted * deviation > 0;
  if (is_better && !is_contested_) {
    best_ = leader;
    return true;
  }
  for (std::size_t i = 0; i < arms_.size(); ++i) arms_[i].is_in = !loses(i);
  settled_log_s_ = arms_[best_].log_s();
  settled_deviation_ = std::sqrt(arms_[best_].variance());
  return false;
}

bool Standings::is_off() const {
  const double apart = std::abs(arms_[best_].last_log_s - settled_log_s_);
  return apart > std::max(other_network, z * settled_deviation_);
}

double Standings::loss(std::size_t arm) const {
  const Arm& it = arms_[arm];
  if (it.exchanges <= 0 || arms_[best_].exchanges <= 0) return usual_deviation;
  const double seen = std::max(0.0, std::exp(it.log_s() - arms_[best_].log_s()) - 1);
  return std::max(indifference, (usual_deviation + it.weight() * seen) / (1 + it.weight()));
}

void Standings::restart() {
  const double now_s = std::exp(arms_[best_].last_log_s);
  const int exchanges = arms_[best_].last_exchanges;
  std::ranges::fill(arms_, Arm());
  add(best_, now_s, exchanges);
}

}  // namespace nuice::exchange

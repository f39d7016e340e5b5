// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/contest/contest.hpp"

#include <algorithm>
#include <cmath>

namespace nuice::exchange {
namespace {

/// The distance between rounds doubles up to this number of exchanges, so that a change of the network is
/// noticed within this number. No turn is longer, so turns of exchanges below 20 us (time_slice_s / 256) take
/// less than a time slice.
constexpr std::int64_t most_between_rounds = 256;
/// The maximum distance between rounds after another arm was adopted. It is short, because so far only trials
/// have measured that arm (chosen by simulation: docs/explanation/contests.md).
constexpr std::int64_t most_after_a_change = 15;
/// The share of the time of all exchanges that trials may cost. It equals the smallest gain for which another
/// arm is adopted (standings.hpp).
constexpr double budget = 0.05;
constexpr std::int64_t least_exchanges = 2;  // of a turn; the first is not timed
constexpr int reports_in_a_row = 2;          // a single report may be an outlier
constexpr double clock_s = 1e-9;             // the unit of clocks; measured times are at least this long

}  // namespace

Contest::Contest(std::size_t num_arms, std::int64_t report_lag)
    : report_lag_(report_lag), standings_(num_arms), tallies_(num_arms), report_(num_arms, 0.0) {
  turns_.reserve(num_arms);
}

Contest::Step Contest::next() {
  ++number_;
  if (state_ == State::resting && number_ >= round_begin_) begin_round();
  Step step{standings_.best(), state_ == State::resting && number_ > 1};
  if (state_ == State::in_round) step = next_of_round();
  under_way_ += step.is_timed ? 1 : 0;
  return step;
}

void Contest::begin_round() {
  state_ = State::in_round;
  const auto exchanges = static_cast<double>(number_ - origin_);
  // at least one exchange, so that one challenger is tried
  double left = std::max(1.0, budget * exchanges) - spent_;
  turns_.clear();
  turns_.push_back({standings_.best(), 1});  // the arm in use is timed between rounds, too
  for (std::size_t i = 0; i < standings_.size(); ++i) {
    const std::size_t arm = (i + static_cast<std::size_t>(rounds_)) % standings_.size();
    if (arm == standings_.best() || !standings_.is_in(arm)) continue;
    const std::int64_t length = turn_length(arm, left);
    if (length > 0) turns_.push_back({arm, length});
  }
  turn_ = 0;
  at_in_turn_ = 0;
}

/// Returns how many exchanges of a turn a challenger gets from the remaining budget `left`, and subtracts
/// their cost from `left`. 0: no exchanges.
std::int64_t Contest::turn_length(std::size_t arm, double& left) const {
  const double usual_s = standings_.mean_s(standings_.best());
  const bool is_first_look = standings_.num_reports(arm) == 0;
  const double exchanges = is_first_look ? 1 : std::round(time_slice_s / std::max(usual_s, clock_s));
  const std::int64_t least = is_first_look ? 1 : least_exchanges;
  const double wanted =
      std::clamp(exchanges, static_cast<double>(least), static_cast<double>(most_between_rounds));
  const double loss = standings_.loss(arm);
  const auto length = static_cast<std::int64_t>(std::min(wanted, left / loss));
  if (length < least) return 0;
  left -= static_cast<double>(length) * loss;
  return length;
}

Contest::Step Contest::next_of_round() {
  const Turn& turn = turns_[turn_];
  const Step step{turn.arm, turn.exchanges == 1 || at_in_turn_ > 0};
  if (++at_in_turn_ < turn.exchanges) return step;
  at_in_turn_ = 0;
  if (++turn_ == turns_.size()) state_ = State::ending;
  return step;
}

bool Contest::add(std::size_t arm, double elapsed_s) {
  Tally& tally = tallies_[arm];
  tally.sum_s += elapsed_s;
  tally.longest_s = std::max(tally.longest_s, elapsed_s);
  ++tally.count;
  if (--under_way_ > 0 || state_ != State::ending) return false;
  make_report();
  return true;
}

void Contest::make_report() {
  state_ = State::reported;
  reported_at_ = number_;
  for (std::size_t i = 0; i < tallies_.size(); ++i) {
    const auto [sum_s, longest_s, count] = tallies_[i];
    const double mean_s = count > 2 ? (sum_s - longest_s) / (count - 1) : sum_s / std::max(count, 1);
    report_[i] = count == 0 ? 0 : std::max(mean_s, clock_s);
  }
}

void Contest::learn(std::span<const double> of_all) {
  state_ = State::resting;
  ++rounds_;
  const bool was_settled = standings_.is_settled();
  spent_ += cost_of_round(of_all);
  for (std::size_t i = 0; i < tallies_.size(); ++i)
    if (of_all[i] > 0) standings_.add(i, of_all[i], tallies_[i].count);
  std::ranges::fill(tallies_, Tally());
  if (was_settled) {
    strikes_ = standings_.is_off() ? strikes_ + 1 : 0;
    if (strikes_ == reports_in_a_row) {
      standings_.restart();
      origin_ = number_;
      spent_ = strikes_ = 0;
    }
    place_round(false);
    return;
  }
  const bool is_changed = standings_.judge();
  if (is_changed) best_since_ = number_ + 1;
  place_round(is_changed);
}

double Contest::cost_of_round(std::span<const double> of_all) const {
  double cost = 0;
  for (const Turn& turn : turns_)
    cost +=
        static_cast<double>(turn.exchanges) * std::max(0.0, of_all[turn.arm] / of_all[standings_.best()] - 1);
  return cost;
}

void Contest::place_round(bool is_changed) {
  const bool is_soon = standings_.is_contested() && turns_.size() > 1;
  const std::int64_t most = is_soon ? 1 : is_changed ? most_after_a_change : most_between_rounds;
  const std::int64_t apart = std::clamp<std::int64_t>(reported_at_ - origin_, 1, most);
  round_begin_ = std::max(number_ + 1, reported_at_ + apart);
}

}  // namespace nuice::exchange

// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/window_control.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace nuice::exchange {
namespace {

constexpr int levels_to_a_doubling = 2;
constexpr Bytes chunks_in_window = 8;
// Of a small window a chunk is a quarter: every chunk costs a grant, headers and a packet that is not full. Up to four packets, with MPI's header.
// Not at start-up: what is granted then would be a single chunk, and a late sender that has it would hold up all others.
constexpr Bytes chunks_in_small_window = 4;
constexpr Bytes enough_for_a_chunk = 4 * segment_bytes - 64;
constexpr Bytes chunks_in_least_window = 3;  // of ranks that share a host's

// Start-up. With little on its way the least delay is that of an empty queue.
constexpr Bytes first_part_at_start_up = 4;
constexpr Bytes first_part = 2;
constexpr double rate_growth = 1.25;  // as BBR: less, and the port is full
constexpr double queue_is_there = 2;  // times the least delay
constexpr double window_over_bdp = 1.25;

// The search. A larger window must gain a little for every level, as it loses more when others come; a smaller one may lose a little.
constexpr double gain_of_a_level = 0.985;
constexpr double loss_of_a_level = 1.005;
// What is neither is looked at twice.
constexpr double clear_gain = 0.95;
constexpr double clear_loss = 1.05;
constexpr double large_gain = 0.6;  // the next step is four times the window
// Of shorter exchanges the better ones count, and they are looked at more often: another process's time slice is as long. On the way up once is
// enough, where it gains so much.
constexpr double long_exchange_s = 5e-3;
constexpr int reports_of_short = 2;
constexpr double gain_seen_at_once = 0.92;
constexpr int small_step = levels_to_a_doubling;
constexpr int large_step = 2 * levels_to_a_doubling;

// What a transport may lose of its packets. Above, it is the queue that overflows, and sooner or later one waits for a timer.
// One segment of a few hundred says little, so the first report may have more.
constexpr double share_that_may_be_lost = 0.005;
constexpr double more_in_a_report = 0.01;
constexpr double price_of_losses = 1.25;  // a window without may take so much longer

// Drift and tails.
constexpr double much_slower = 1.125;  // a search costs a few exchanges that are hardly slower
constexpr double much_faster = 0.8;
constexpr int patience = 2;
constexpr double tail = 1.05;  // the mean with all slow exchanges, over what the level below usually takes
constexpr int enough_means = 8;
constexpr int enough_means_where_lossy = 2;

}  // namespace

double WindowControl::Level::cost_s() const {
  std::array<double, most> sorted = times_s;
  const auto count = static_cast<std::ptrdiff_t>(std::min(reports, most));
  std::sort(sorted.begin(), sorted.begin() + count);
  const std::ptrdiff_t counted = count - count / 3;
  return std::accumulate(sorted.begin(), sorted.begin() + counted, 0.0) / static_cast<double>(counted);
}

bool WindowControl::Level::is_lossy() const {
  if (reports == 0) return false;
  return lost_sum > static_cast<double>(reports) * share_that_may_be_lost + more_in_a_report;
}

bool WindowControl::Level::is_enough(bool is_clear) const {
  const std::size_t needed = cost_s() > long_exchange_s ? 1 : reports_of_short;
  return reports >= (is_clear ? needed : 2 * needed);
}

WindowControl::WindowControl(const WindowBounds& bounds)
    : bounds_(bounds), top_(level_for(static_cast<double>(bounds.most_bytes))), starts_up_(bounds.adapts) {
  levels_.resize(static_cast<std::size_t>(top_) + 1);
  ceiling_ = top_ + 1;
}

/// The lowest level that holds so many bytes, or the top.
int WindowControl::level_for(double bytes) const {
  const double most =
      std::min(static_cast<double>(bounds_.most_bytes), static_cast<double>(bounds_.window_bytes));
  const double doublings =
      std::log2(std::max(1.0, std::min(bytes, most) / static_cast<double>(least_window_bytes)));
  return static_cast<int>(std::ceil(doublings * levels_to_a_doubling - 1e-9));
}

Bytes WindowControl::least_chunk_bytes(const WindowBounds& bounds) {
  return std::min(bounds.chunk_bytes, segment_bytes);
}

bool WindowControl::holds_all(int level) const {
  return (is_open(level) || !bounds_.adapts) && bounds_.window_bytes >= bounds_.most_bytes;
}

Bytes WindowControl::window_at(int level, double share) const {
  if (bounds_.adapts && holds_all(level)) return max_bytes;
  const auto bound = static_cast<double>(bounds_.window_bytes);
  const double found =
      static_cast<double>(least_window_bytes) * std::exp2(static_cast<double>(level) / levels_to_a_doubling);
  return std::max<Bytes>(1, static_cast<Bytes>(share * (bounds_.adapts ? std::min(bound, found) : bound)));
}

Bytes WindowControl::first_window_bytes() const {
  const Bytes window = window_bytes();
  const bool is_known = !bounds_.adapts || window == max_bytes;
  return is_known ? window : std::max<Bytes>(1, window / (starts_up_ ? first_part_at_start_up : first_part));
}

Bytes WindowControl::chunk_at(int level) const {
  const Bytes window = window_at(level, bounds_.share);
  if (window == max_bytes) return bounds_.chunk_bytes;
  if (bounds_.adapts) {
    const Bytes of_small = starts_up_ ? 0 : std::min(window / chunks_in_small_window, enough_for_a_chunk);
    return std::min(bounds_.chunk_bytes, std::max({window / chunks_in_window, of_small, segment_bytes}));
  }
  const Bytes of_share = std::max(window / chunks_in_least_window, segment_bytes);
  return bounds_.share < 1 ? std::min(bounds_.chunk_bytes, of_share) : bounds_.chunk_bytes;
}

void WindowControl::start(double now_s) {
  started_s_ = now_s;
  round_bytes_ = 0;
  round_begin_s_ = -1;
  round_delay_s_ = std::numeric_limits<double>::infinity();
  if (block_exchanges_ == 0) block_highest_ = block_lowest_ = level_;
}

void WindowControl::land(double now_s, Bytes bytes, double delay_s) {
  if (!starts_up_) return;
  if (delay_s >= 0) {
    least_delay_s_ = std::min(least_delay_s_, delay_s);
    round_delay_s_ = std::min(round_delay_s_, delay_s);
  }
  if (round_begin_s_ < 0) {
    round_begin_s_ = now_s;  // from here on: how long the first took says nothing of the rate
    return;
  }
  round_bytes_ += bytes;
  if (round_bytes_ >= window_bytes()) end_round(now_s);
}

void WindowControl::end_round(double now_s) {
  const double elapsed_s = now_s - round_begin_s_;
  const double rate = elapsed_s > 0 ? static_cast<double>(round_bytes_) / elapsed_s : 0;
  const bool is_first = best_rate_ == 0;  // with the queue still empty
  const bool grows = rate > rate_growth * best_rate_;
  const bool waits = round_delay_s_ > queue_is_there * least_delay_s_;
  best_rate_ = std::max(best_rate_, rate);
  if (is_open(level_) || (!is_first && (!grows || waits))) {
    end_start_up();
  } else if (!is_first) {
    move_to(level_ + small_step);
  }
  round_bytes_ = 0;
  round_begin_s_ = now_s;
  round_delay_s_ = std::numeric_limits<double>::infinity();
}

void WindowControl::end_start_up() {
  starts_up_ = false;
  const bool knows_delay = std::isfinite(least_delay_s_);
  move_to(knows_delay ? level_for(window_over_bdp * best_rate_ * least_delay_s_ / bounds_.share) : 0);
}

void WindowControl::finish(double now_s) {
  if (std::exchange(is_changing_, false)) return;
  const double elapsed_s = std::max(now_s - started_s_, 1e-9);
  block_sum_s_ += elapsed_s;
  block_worst_s_ = std::max(block_worst_s_, elapsed_s);
  ++block_exchanges_;
  block_highest_ = std::max(block_highest_, level_);
  block_lowest_ = std::min(block_lowest_, level_);
}

WindowControl::Report WindowControl::report(double lost_share) {
  Report figures{};
  if (block_exchanges_ == 0) {  // levels that nobody has
    figures[highest_level] = figures[lowest_level_negated] = top_ + 1;
    return figures;
  }
  const double mean = block_sum_s_ / std::max(block_exchanges_, 1);
  const int enough = mean > long_exchange_s ? 3 : 2;
  const bool has_many = block_exchanges_ >= enough;
  figures[usual_s] = has_many ? (block_sum_s_ - block_worst_s_) / (block_exchanges_ - 1) : mean;
  figures[mean_s] = mean;
  figures[lost] = lost_share;
  figures[highest_level] = block_highest_;
  figures[lowest_level_negated] = -block_lowest_;
  figures[first_level_negated] =
      starts_up_ ? -static_cast<double>(top_) - 1 : -level_;  // or nothing was seen
  block_sum_s_ = block_worst_s_ = 0;
  block_exchanges_ = 0;
  return figures;
}

void WindowControl::move_to(int level) { level_ = std::clamp(level, 0, top_); }

void WindowControl::learn(const Report& of_all) {
  ++reports_;
  const int before = level_;
  draw_conclusions(of_all);
  if (level_ == before) return;
  changed_at_ = reports_;
  is_changing_ = true;  // senders hear of the chunk in the next exchange only
  block_sum_s_ = block_worst_s_ = 0;
  block_exchanges_ = 0;
}

void WindowControl::draw_conclusions(const Report& of_all) {
  if (state_ == State::first) {  // connections and pages were new, and every rank found a window of its own
    state_ = State::climbing;
    starts_up_ = false;
    const int lowest = -static_cast<int>(of_all[first_level_negated]);
    best_ = lowest > top_ ? 0 : lowest;
    move_to(best_);
    return;
  }
  const int level = static_cast<int>(of_all[highest_level]);
  if (level != -static_cast<int>(of_all[lowest_level_negated]) || level > top_) return;
  Level& tried = levels_[static_cast<std::size_t>(level)];
  tried.add(of_all[usual_s], of_all[lost]);
  if (level != level_) return;  // a late one
  state_ == State::settled ? watch(of_all) : judge();
}

/// There is a new time of the level that is being tried.
void WindowControl::judge() {
  const Level& tried = levels_[static_cast<std::size_t>(level_)];
  const Level& best = levels_[static_cast<std::size_t>(best_)];
  const bool is_larger = level_ > best_;
  const bool loses = tried.is_lossy() && !best.is_lossy();
  const double ratio = tried.cost_s() / best.cost_s();
  const bool is_seen_at_once =
      level_ == best_ ? has_larger_untried() : is_larger && (loses || ratio < gain_seen_at_once);
  if (!is_seen_at_once) {
    if (is_larger && !best.is_enough(true)) {
      move_to(best_);  // it was not looked at long enough to be compared with
      return;
    }
    const bool is_clear = level_ == best_ || ratio < clear_gain || ratio > clear_loss;
    if (!tried.is_enough(is_clear)) return;
  }
  if (level_ != best_) {
    const double allowed = best.is_lossy() && !tried.is_lossy() ? price_of_losses : loss_of_a_level;
    const double needed = is_larger ? std::pow(gain_of_a_level, level_ - best_) : allowed;
    const bool is_better = ratio < needed && !(is_larger && loses);
    if (is_better) step_ = ratio < large_gain ? large_step : small_step;
    (is_larger == is_better ? floor_ : ceiling_) = is_better ? best_ : level_;
    if (is_better) best_ = level_;
  }
  go_on_from_best();
}

/// Whether what would be tried next was never looked at.
bool WindowControl::has_larger_untried() const {
  const int next = std::min(best_ + step_, top_);
  return next > best_ && next < ceiling_ && levels_[static_cast<std::size_t>(next)].reports == 0;
}

void WindowControl::go_on_from_best() {
  if (propose(best_ + step_) || propose(best_ + small_step) || propose(best_ + 1) || propose(best_ - 1))
    return;
  settle_at(best_);
}

/// Tries this level next unless it is known to be no better. The top can always be reached.
bool WindowControl::propose(int level) {
  if (level > best_) level = std::min(level, top_);
  if (level <= floor_ || level >= ceiling_ || level == best_) return false;
  move_to(level);
  return true;
}

/// Is it still what was settled on, and are slow exchanges as rare as they may be?
void WindowControl::watch(const Report& of_all) {
  Level& now = levels_[static_cast<std::size_t>(level_)];
  const double time_s = of_all[usual_s];
  const bool is_off = time_s > much_slower * settled_s_ || time_s < much_faster * settled_s_;
  strikes_ = is_off ? strikes_ + 1 : 0;
  if (strikes_ >= patience) {  // another network, or another job on it
    start_search();
    return;
  }
  now.add_mean(of_all[mean_s]);
  if (now.means < (now.is_lossy() ? enough_means_where_lossy : enough_means)) return;
  const auto above = static_cast<std::size_t>(level_) + 1;
  const bool was_above = above < levels_.size() && levels_[above].means >= enough_means_where_lossy;
  if (was_above && levels_[above].mean_s() < now.mean_s()) {
    may_go_down_ = false;
    settle_at(level_ + 1);
  } else if (may_go_down_ && level_ > 0) {
    const Level& below = levels_[static_cast<std::size_t>(level_) - 1];
    const double usually_s = now.cost_s();
    const double expected_s =
        below.reports > 0 ? std::min(below.cost_s(), price_of_losses * usually_s) : usually_s;
    const double worth_s = (now.is_lossy() ? price_of_losses : 1) * now.mean_s();
    if (worth_s > tail * expected_s) settle_at(level_ - 1);
  }
}

/// Keeps nothing but the window.
void WindowControl::start_search() {
  std::ranges::fill(levels_, Level{});
  ceiling_ = top_ + 1;
  floor_ = -1;
  step_ = small_step;
  may_go_down_ = true;
  state_ = State::climbing;
}

void WindowControl::settle_at(int level) {
  state_ = State::settled;
  strikes_ = 0;
  best_ = level;
  move_to(level);
  const Level& now = levels_[static_cast<std::size_t>(level_)];
  if (now.reports > 0) settled_s_ = now.cost_s();
}

}  // namespace nuice::exchange

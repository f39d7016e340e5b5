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
// Every chunk costs a grant and headers, and all senders that share a window need one.
constexpr Bytes chunks_in_window_at_least = 4;
// The smallest chunk on the ladder: two full packets with MPI's header.
constexpr Bytes packets_in_least_chunk = 2;
constexpr Bytes header_of_a_chunk = 64;
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
constexpr double large_gain = 0.6;            // the next step is four times the window
constexpr double large_gain_of_chunks = 0.8;  // likewise of both, where larger chunks gain
// Of shorter exchanges the better ones count, and they are looked at more often: another process's time slice is as long. On the way up once is
// enough, where it gains so much.
constexpr double long_exchange_s = 5e-3;
constexpr int reports_of_short = 2;
constexpr double gain_seen_at_once = 0.92;
constexpr double loss_seen_at_once = 1.5;
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

/// In whole packets.
Bytes chunk_of_step(int step) { return (packets_in_least_chunk << step) * segment_bytes - header_of_a_chunk; }

/// The largest chunk that is no longer than this; -1: none is.
int step_below(Bytes bytes) {
  int step = -1;
  while (step < 40 && chunk_of_step(step + 1) <= bytes) ++step;
  return step;
}

}  // namespace

double WindowControl::Trial::cost_s() const {
  std::array<double, most> sorted = times_s;
  const auto count = static_cast<std::ptrdiff_t>(std::min(reports, most));
  std::sort(sorted.begin(), sorted.begin() + count);
  const std::ptrdiff_t counted = count - count / 3;
  return std::accumulate(sorted.begin(), sorted.begin() + counted, 0.0) / static_cast<double>(counted);
}

bool WindowControl::Trial::is_lossy() const {
  if (reports == 0) return false;
  return lost_sum > static_cast<double>(reports) * share_that_may_be_lost + more_in_a_report;
}

bool WindowControl::Trial::is_enough(bool is_clear) const {
  const std::size_t needed = cost_s() > long_exchange_s ? 1 : reports_of_short;
  return reports >= (is_clear ? needed : 2 * needed);
}

WindowControl::WindowControl(const WindowBounds& bounds)
    : bounds_(bounds), top_(level_for(static_cast<double>(bounds.most_bytes))), starts_up_(bounds.adapts) {
  num_chunk_steps_ = chunk_step_for(top_, chunks_in_window_at_least) + 1;
  trials_.resize(static_cast<std::size_t>(top_ + 1) * static_cast<std::size_t>(num_chunk_steps_));
  ceiling_ = too_large_ = top_ + 1;
  chunk_ceiling_ = num_chunk_steps_;
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

Bytes WindowControl::chunk_at(int level, int step, double share) const {
  const Bytes window = window_at(level, share);
  if (window == max_bytes) return bounds_.chunk_bytes;
  if (bounds_.adapts) {
    // What is granted beforehand would be a single chunk at start-up, and a late sender that has it would hold up all others.
    const Bytes most = window / (starts_up_ ? chunks_in_window : chunks_in_window_at_least);
    const Bytes wanted = starts_up_ ? most : std::min(most, chunk_of_step(step));
    return std::min(bounds_.chunk_bytes, std::max(wanted, segment_bytes));
  }
  const Bytes of_share = std::max(window / chunks_in_least_window, segment_bytes);
  return share < 1 ? std::min(bounds_.chunk_bytes, of_share) : bounds_.chunk_bytes;
}

/// The largest chunk of which so many make the host's window; of one that holds all, the window below.
int WindowControl::chunk_step_for(int level, Bytes chunks) const {
  return std::max(0, step_below(window_at(std::min(level, std::max(0, top_ - 1)), 1) / chunks));
}

/// Where the search begins, and how large chunks may be without a gain.
int WindowControl::natural_chunk_step(int level) const { return chunk_step_for(level, chunks_in_window); }

void WindowControl::start(double now_s) {
  started_s_ = now_s;
  round_bytes_ = 0;
  round_begin_s_ = -1;
  round_delay_s_ = std::numeric_limits<double>::infinity();
  if (block_exchanges_ == 0) block_highest_ = block_lowest_ = setting();
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
    move_to(level_ + small_step, chunk_step_);
  }
  round_bytes_ = 0;
  round_begin_s_ = now_s;
  round_delay_s_ = std::numeric_limits<double>::infinity();
}

void WindowControl::end_start_up() {
  starts_up_ = false;
  const bool knows_delay = std::isfinite(least_delay_s_);
  move_to(knows_delay ? level_for(window_over_bdp * best_rate_ * least_delay_s_ / bounds_.share) : 0,
          chunk_step_);
}

void WindowControl::finish(double now_s) {
  if (std::exchange(is_changing_, false)) return;
  const double elapsed_s = std::max(now_s - started_s_, 1e-9);
  block_sum_s_ += elapsed_s;
  block_worst_s_ = std::max(block_worst_s_, elapsed_s);
  ++block_exchanges_;
  block_highest_ = std::max(block_highest_, setting());
  block_lowest_ = std::min(block_lowest_, setting());
}

WindowControl::Report WindowControl::report(double lost_share) {
  Report figures{};
  if (block_exchanges_ == 0) {  // levels that nobody has
    figures[highest_setting] = figures[lowest_setting_negated] = top_ + 1;
    return figures;
  }
  const double mean = block_sum_s_ / std::max(block_exchanges_, 1);
  const int enough = mean > long_exchange_s ? 3 : 2;
  const bool has_many = block_exchanges_ >= enough;
  figures[usual_s] = has_many ? (block_sum_s_ - block_worst_s_) / (block_exchanges_ - 1) : mean;
  figures[mean_s] = mean;
  figures[lost] = lost_share;
  figures[highest_setting] = block_highest_;
  figures[lowest_setting_negated] = -block_lowest_;
  figures[first_level_negated] =
      starts_up_ ? -static_cast<double>(top_) - 1 : -level_;  // or nothing was seen
  block_sum_s_ = block_worst_s_ = 0;
  block_exchanges_ = 0;
  return figures;
}

void WindowControl::move_to(int level, int chunk_step) {
  level_ = std::clamp(level, 0, top_);
  chunk_step_ = chunk_step;
}

void WindowControl::learn(const Report& of_all) {
  ++reports_;
  const int before = setting();
  draw_conclusions(of_all);
  if (setting() == before) return;
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
    best_chunk_step_ = natural_chunk_step(best_);
    move_to(best_, best_chunk_step_);
    return;
  }
  const int heard = static_cast<int>(of_all[highest_setting]);
  const int level = heard % settings_of_a_chunk;
  if (heard != -static_cast<int>(of_all[lowest_setting_negated]) || level > top_) return;
  trials_[index_of(level, heard / settings_of_a_chunk)].add(of_all[usual_s], of_all[lost]);
  if (heard != setting()) return;  // a late one
  state_ == State::settled ? watch(of_all) : judge();
}

/// There is a new time of what is being tried.
void WindowControl::judge() {
  const Trial& tried = trial_of(level_, chunk_step_);
  const Trial& best = trial_of(best_, best_chunk_step_);
  const bool is_larger = level_ > best_;
  const bool has_other_chunk = chunk_step_ != best_chunk_step_;
  const Comparison now = {.ratio = tried.cost_s() / best.cost_s(),
                          .loses = tried.is_lossy() && !best.is_lossy(),
                          .saves = best.is_lossy() && !tried.is_lossy()};
  const bool is_seen_at_once = is_at_best()
                                   ? has_larger_untried()
                                   : now.ratio > loss_seen_at_once ||
                                         (level_ >= best_ && (now.loses || now.ratio < gain_seen_at_once));
  if (!is_seen_at_once) {
    if ((is_larger || has_other_chunk) && !best.is_enough(true)) {
      move_to(best_, best_chunk_step_);  // it was not looked at long enough to be compared with
      return;
    }
    const bool is_clear = is_at_best() || now.ratio < clear_gain || now.ratio > clear_loss;
    // One look that was disturbed must not end what may lead far.
    const bool may_lead_far = chunk_step_ > best_chunk_step_ && tried.reports < 2;
    if (may_lead_far || !tried.is_enough(is_clear)) return;
  }
  const bool is_too_large = now.loses || (now.ratio > loss_seen_at_once && !has_other_chunk);
  if (is_larger && is_too_large) too_large_ = std::min(too_large_, level_);
  if (level_ != best_)
    has_other_chunk ? judge_both(now) : judge_window(now);
  else if (has_other_chunk)
    judge_chunk(now);
  go_on_from_best();
}

void WindowControl::judge_window(const Comparison& tried) {
  const bool is_larger = level_ > best_;
  const double allowed = tried.saves ? price_of_losses : loss_of_a_level;
  const double needed = is_larger ? std::pow(gain_of_a_level, level_ - best_) : allowed;
  const bool is_better = tried.ratio < needed && !(is_larger && tried.loses);
  if (is_better) step_ = tried.ratio < large_gain ? large_step : small_step;
  (is_larger == is_better ? floor_ : ceiling_) = is_better ? best_ : level_;
  if (is_better) best_ = level_;
}

/// Fewer chunks cost less, so larger ones need not be faster, up to the natural one.
void WindowControl::judge_chunk(const Comparison& tried) {
  const bool is_larger = chunk_step_ > best_chunk_step_;
  const bool is_free = is_larger && chunk_step_ <= natural_chunk_step(best_);
  const bool is_better = !tried.loses && tried.ratio < (is_free ? 1 : gain_of_a_level);
  (is_larger == is_better ? chunk_floor_ : chunk_ceiling_) = is_better ? best_chunk_step_ : chunk_step_;
  if (!is_better) return;
  best_chunk_step_ = chunk_step_;
  grows_together_ = is_larger;
  look_above_best();
  if (is_larger && tried.ratio < large_gain_of_chunks) step_ = large_step;
}

void WindowControl::judge_both(const Comparison& tried) {
  grows_together_ = !tried.loses && tried.ratio < std::pow(gain_of_a_level, level_ - best_);
  if (grows_together_) {
    best_ = level_;
    best_chunk_step_ = chunk_step_;
  }
  look_above_best();
  if (grows_together_ && tried.ratio < large_gain_of_chunks) step_ = large_step;
}

/// With other chunks larger windows may gain that did not before. Not those that lost or were much slower.
void WindowControl::look_above_best() {
  floor_ = best_ - 1;
  ceiling_ = too_large_;
  step_ = small_step;
}

/// Whether what would be tried next was never looked at.
bool WindowControl::has_larger_untried() const {
  const int next = std::min(best_ + step_, top_);
  return next > best_ && next < ceiling_ && trial_of(next, best_chunk_step_).reports == 0;
}

void WindowControl::go_on_from_best() {
  if (grows_together_ && propose_both()) return;
  if (propose(best_ + step_) || propose(best_ + small_step) || propose(best_ + 1) || propose(best_ - 1))
    return;
  if (propose_chunk(best_chunk_step_ + 1) || propose_chunk(best_chunk_step_ - 1)) return;
  settle_at(best_);
}

/// Tries this level next unless it is known to be no better. The top can always be reached.
bool WindowControl::propose(int level) {
  if (level > best_) level = std::min(level, top_);
  if (level <= floor_ || level >= ceiling_ || level == best_) return false;
  move_to(level, best_chunk_step_);
  return true;
}

/// A window and a chunk that stand to each other as now.
bool WindowControl::propose_both() {
  const int level = std::min(best_ + step_, top_);
  if (level >= ceiling_ || level == best_) return false;
  move_to(level, std::min(best_chunk_step_ + (level - best_) / levels_to_a_doubling, num_chunk_steps_ - 1));
  return true;
}

/// With the best window, which is known by then.
bool WindowControl::propose_chunk(int step) {
  if (step <= chunk_floor_ || step >= chunk_ceiling_ || is_open(best_)) return false;
  // Of a whole window, as ranks with other shares must choose alike.
  if (chunk_at(best_, step, 1) == chunk_at(best_, best_chunk_step_, 1)) return false;
  move_to(best_, step);
  return true;
}

/// Is it still what was settled on, and are slow exchanges as rare as they may be?
void WindowControl::watch(const Report& of_all) {
  Trial& now = trials_[index_of(level_, chunk_step_)];
  const double time_s = of_all[usual_s];
  const bool is_off = time_s > much_slower * settled_s_ || time_s < much_faster * settled_s_;
  strikes_ = is_off ? strikes_ + 1 : 0;
  if (strikes_ >= patience) {  // another network, or another job on it
    start_search();
    return;
  }
  now.add_mean(of_all[mean_s]);
  if (now.means < (now.is_lossy() ? enough_means_where_lossy : enough_means)) return;
  const bool was_above = level_ < top_ && trial_of(level_ + 1, chunk_step_).means >= enough_means_where_lossy;
  if (was_above && trial_of(level_ + 1, chunk_step_).mean_s() < now.mean_s()) {
    may_go_down_ = false;
    settle_at(level_ + 1);
  } else if (may_go_down_ && level_ > 0) {
    const Trial& below = trial_of(level_ - 1, chunk_step_);
    const double usually_s = now.cost_s();
    const double expected_s =
        below.reports > 0 ? std::min(below.cost_s(), price_of_losses * usually_s) : usually_s;
    const double worth_s = (now.is_lossy() ? price_of_losses : 1) * now.mean_s();
    if (worth_s > tail * expected_s) settle_at(level_ - 1);
  }
}

/// Keeps nothing but the window.
void WindowControl::start_search() {
  std::ranges::fill(trials_, Trial{});
  ceiling_ = too_large_ = top_ + 1;
  floor_ = -1;
  chunk_ceiling_ = num_chunk_steps_;
  chunk_floor_ = -1;
  grows_together_ = false;
  step_ = small_step;
  may_go_down_ = true;
  state_ = State::climbing;
}

void WindowControl::settle_at(int level) {
  state_ = State::settled;
  strikes_ = 0;
  best_ = level;
  move_to(level, best_chunk_step_);
  const Trial& now = trial_of(level_, chunk_step_);
  if (now.reports > 0) settled_s_ = now.cost_s();
}

}  // namespace nuice::exchange

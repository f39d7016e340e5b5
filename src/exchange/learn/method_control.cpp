// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/learn/method_control.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace nuice::exchange {
namespace {

constexpr std::int64_t most_between_blocks = 256;
/// Where a larger window has gained little, another method can gain no more: a fifth at best, and two trials that each cost ten exchanges
/// are made up for after a hundred.
constexpr std::int64_t first_block_where_put_off = 128;
/// The second exchange still pays for what is new. By the second look what finds its pace has used larger windows. If they gained so much, the
/// network can do more.
constexpr std::int64_t first_look = 3;
constexpr std::int64_t second_look = 7;
constexpr double much_gained = 0.85;
/// After a change the next block comes so soon.
constexpr std::int64_t most_after_a_change = 15;
/// A method's turn lasts about so long: one exchange of a few microseconds says nothing where ranks wait for cores.
constexpr double turn_s = 5e-3;
constexpr int least_runs = 2;
constexpr int most_runs = 256;
/// By then what finds its pace has had some dozen exchanges.
constexpr int blocks_to_find_pace = 3;
/// One that is so much worse is out: in the first block, which has a single exchange of each, and by any later turn, as it may have done well
/// once by what the method before it had left. Where the best finds its pace, which only gets better, that holds of short exchanges, too:
/// if it was another process's time slice, what was chosen stays. `worse`: by its usual cost, later.
constexpr double much_worse = 1.5;
constexpr double worse = 1.15;
constexpr double worse_where_dear = 1;  // what gains nothing is not tried again
/// The best gives way to one that takes so much less.
constexpr double clearly_better = 0.85;  // while it still finds its pace
constexpr double better = 0.97;
/// Who is still in after so many blocks is as good as the best.
constexpr int most_blocks = 7;
constexpr double slower_by_far = 1.4;
constexpr double faster_by_far = 0.6;
constexpr int blocks_in_a_row = 2;

}  // namespace

/// Without the worst third, or the worse of two: on a busy machine those say nothing of the method. Of one that finds its pace only the
/// last times count.
double MethodControl::Method::cost_s() const {
  constexpr std::size_t last_ones = 2;
  const std::size_t known = std::min(blocks, finds_pace ? last_ones : most);
  if (known == 0) return 0;
  std::array<double, most> sorted{};
  for (std::size_t i = 0; i < known; ++i) sorted[i] = times_s[(blocks - 1 - i) % most];
  std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(known));
  const std::size_t counted = known - (known + 1) / 3;
  const double mean_s =
      std::accumulate(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(counted), 0.0) /
      static_cast<double>(counted);
  return std::max(mean_s, used_s);
}

MethodControl::MethodControl(const std::vector<bool>& finds_pace)
    : report_(finds_pace.size(), 0.0), num_in_(finds_pace.size()) {
  for (const bool finds : finds_pace) methods_.push_back({.finds_pace = finds});
  turns_.reserve(methods_.size());
  place_block();
}

/// Those that are in take their turns from block_begin_ on.
void MethodControl::place_block() {
  turns_.clear();
  for (std::size_t i = 0; i < methods_.size(); ++i)
    if (methods_[i].is_in) turns_.push_back(i);
  block_end_ = block_begin_ + block_length() - 1;
}

/// Only what finds its own pace is a choice that can be lived with so long.
void MethodControl::put_off() {
  if (!methods_.front().finds_pace) return;
  is_put_off_ = may_drop_ = true;
  turns_ = {0};
  block_begin_ = block_end_ = first_look;
}

/// It was looked at alone.
void MethodControl::look_again(double time_s) {
  methods_.front().add(time_s);
  if (first_look_s_ == 0) {
    first_look_s_ = time_s;
    block_begin_ = block_end_ = second_look;
    return;
  }
  is_put_off_ = false;
  block_begin_ =
      time_s < much_gained * first_look_s_ ? block_end_ + report_lag + 1 : first_block_where_put_off;
  place_block();
}

void MethodControl::begin() {
  ++exchange_;
  const bool is_first_of_turn = (exchange_ - block_begin_) % runs_ == 0;
  const bool is_in_use = blocks_ > 0 && !is_reported_ && !is_settled();
  is_timed_ = is_in_block() ? runs_ == 1 || !is_first_of_turn : is_in_use;
}

std::size_t MethodControl::method() const {
  if (!is_in_block()) return best_;
  return turns_[static_cast<std::size_t>((exchange_ - block_begin_) / runs_)];
}

void MethodControl::add(double elapsed_s) {
  Method& method_now = methods_[method()];
  method_now.sum_s += elapsed_s;
  method_now.worst_s = std::max(method_now.worst_s, elapsed_s);
  ++method_now.count;
}

bool MethodControl::finish() {
  if (exchange_ != block_end_) return false;
  for (std::size_t i = 0; i < methods_.size(); ++i) {
    Method& method = methods_[i];
    const bool leaves_out_worst = !is_settled() && i == best_ && method.count > 2;
    const int counted = method.count - (leaves_out_worst ? 1 : 0);
    const double sum_s = method.sum_s - (leaves_out_worst ? method.worst_s : 0);
    report_[i] = counted == 0 ? 0 : std::max(sum_s / counted, 1e-9);
    method.sum_s = method.worst_s = 0;
    method.count = 0;
  }
  is_reported_ = true;
  return true;
}

void MethodControl::learn(std::span<const double> of_all) {
  is_reported_ = false;
  if (is_put_off_) {
    look_again(of_all[0]);
    return;
  }
  ++blocks_;
  for (std::size_t i = 0; i < methods_.size(); ++i)
    if (of_all[i] > 0) methods_[i].add(of_all[i]);
  if (!methods_[best_].finds_pace) methods_[best_].used_s = of_all[best_];
  const std::size_t before = best_;
  is_settled() ? watch() : drop_losers();
  const bool is_new = best_ != before;
  if (is_new) best_since_ = block_end_ + report_lag;
  runs_ =
      std::clamp(static_cast<int>(std::lround(turn_s / std::max(settled_s_, 1e-9))), least_runs, most_runs);
  const std::int64_t most = is_new ? most_after_a_change : most_between_blocks;
  block_begin_ = block_end_ + std::clamp(block_end_, report_lag + 1, most);
  place_block();
}

void MethodControl::drop_losers() {
  std::size_t cheapest = best_;
  for (std::size_t i = 0; i < methods_.size(); ++i)
    if (methods_[i].is_in && methods_[i].cost_s() < methods_[cheapest].cost_s()) cheapest = i;
  const bool is_early = blocks_ < blocks_to_find_pace;
  const double needed = is_early && methods_[best_].finds_pace ? clearly_better : better;
  if (methods_[cheapest].cost_s() < needed * methods_[best_].cost_s()) best_ = cheapest;
  const bool is_clear =
      methods_[best_].cost_s() > turn_s || blocks_ > 1;  // short ones need more than one exchange
  const bool is_single = blocks_ == 1 && !methods_[best_].finds_pace;
  const double allowed = is_single ? much_worse : may_drop_ ? worse_where_dear : worse;
  const double limit = allowed * methods_[best_].cost_s();
  num_in_ = 0;
  for (std::size_t i = 0; i < methods_.size(); ++i) {
    Method& method = methods_[i];
    const bool may_improve = method.finds_pace && is_early;
    const bool is_far_off = blocks_ > 1 && method.last_s() > much_worse * methods_[best_].cost_s();
    const bool is_hopeless =
        methods_[best_].finds_pace && method.cost_s() > much_worse * methods_[best_].cost_s();
    const bool is_worse =
        !may_improve && (is_hopeless || (is_clear && (method.cost_s() > limit || is_far_off)));
    const bool is_out = i != best_ && (is_worse || blocks_ >= most_blocks);
    method.is_in = method.is_in && !is_out;
    num_in_ += method.is_in ? 1 : 0;
  }
  settled_s_ = methods_[best_].cost_s();
}

/// Is it still what was settled on?
void MethodControl::watch() {
  const Method& now = methods_[best_];
  const double last_s = now.last_s();
  if (now.finds_pace) settled_s_ = std::min(settled_s_, last_s);  // it has found a better one since
  const bool is_off = last_s > slower_by_far * settled_s_ || last_s < faster_by_far * settled_s_;
  strikes_ = is_off ? strikes_ + 1 : 0;
  if (strikes_ < blocks_in_a_row) return;
  settled_s_ = last_s;
  start_again();
}

/// Keeps nothing but what is in use.
void MethodControl::start_again() {
  for (Method& method : methods_) method = {.finds_pace = method.finds_pace};
  num_in_ = methods_.size();
  blocks_ = 0;
  strikes_ = 0;
}

MethodControl::Known MethodControl::known(std::size_t method) const {
  const Method& it = methods_[method];
  return {.blocks = static_cast<int>(it.blocks), .mean_s = it.cost_s(), .is_in = it.is_in};
}

}  // namespace nuice::exchange

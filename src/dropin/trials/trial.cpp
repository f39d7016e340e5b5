// SPDX-License-Identifier: BSD-3-Clause
#include "dropin/trials/trial.hpp"

#include <algorithm>
#include <utility>

#include "dropin/trials/turns.hpp"

namespace nuice::dropin {
namespace {

constexpr double first_calls = 4;  // of each way, timed
constexpr int phases_of_round = 2;
constexpr double again_after = 8;           // times the number of the call
constexpr double first_if_trusted = 16;     // a call
constexpr std::size_t most_trials = 64;     // of the same ranks: what is told stays short
constexpr std::int64_t first_distance = 8;  // from one meeting to the next

Trial::Way other(Trial::Way way) { return way == Trial::Way::ours ? Trial::Way::mpi : Trial::Way::ours; }

}  // namespace

Trial::Trial(Way first, bool is_trusted)
    : switches_{{0, first, 0}}, kept_switches_{{0, first, 0}}, is_trusted_(is_trusted) {
  if (!is_trusted) return;
  is_measuring_ = false;
  again_at_ = first_if_trusted;
}

Trial::Step Trial::next() {
  ++most_.begun;
  while (switches_.size() > 1 && switches_[1].from <= most_.begun) switches_.pop_front();
  const Switch& now = switches_.front();
  // Call 1 may make connections.
  const bool is_first = most_.begun == std::max(1.0, now.from);
  return {now.way, now.phase, is_measuring_ && now.phase == phase_ && !is_first};
}

Trial::Way Trial::next_kept() {
  ++most_.kept;
  while (kept_switches_.size() > 1 && kept_switches_[1].from <= most_.kept) kept_switches_.pop_front();
  return kept_switches_.front().way;
}

/// Of a phase that is through nothing counts any more, as the others may have told of it already.
void Trial::add(const Step& step, double bytes, double seconds) {
  if (!step.is_timed || !is_measuring_ || step.phase != phase_) return;
  ++most_.timed;
  most_.bytes = std::max(most_.bytes, bytes);
  (step.way == Way::ours ? sums_.our_bytes : sums_.mpi_bytes) += bytes;
  (step.way == Way::ours ? sums_.our_s : sums_.mpi_s) += seconds;
}

void Trial::go(Way way, const Most& most) {
  most_.timed = 0;
  ++phase_;
  switches_.push_back({most.begun + 1, way, phase_});
}

void Trial::begin(const Most& most) {
  sums_ = {};
  num_phases_ = 0;
  is_measuring_ = true;
  go(switches_.back().way, most);
}

bool Trial::hear(const Most& most, const Sums& sums) {
  is_over_ = most.is_over != 0;
  if (is_over_ || most.begun == 0) return is_over_;
  if (!is_trusted_ && num_phases_ == 0 && switches_.back().way == Way::ours && Turns::is_large(most.bytes)) {
    is_trusted_ = true;
    is_measuring_ = false;
    again_at_ = first_if_trusted;
    return true;
  }
  if (!is_measuring_) {
    if (most.begun < again_at_) return false;
    begin(most);
    return true;
  }
  const double wanted = num_phases_ < phases_of_round ? first_calls : 2 * first_calls;
  if (most.timed < wanted) return false;
  ++num_phases_;
  if (num_phases_ % phases_of_round != 0) {
    go(other(switches_.back().way), most);
  } else {
    decide(most, sums);
  }
  return true;
}

void Trial::decide(const Most& most, const Sums& sums) {
  const Turns::Outcome outcome =
      Turns::outcome_of({sums.mpi_bytes, sums.mpi_s}, {sums.our_bytes, sums.our_s});
  if (num_phases_ == phases_of_round && !outcome.is_far_apart) return go(other(switches_.back().way), most);
  is_measuring_ = false;
  again_at_ = again_after * most.begun;
  ++num_decided_;
  if (outcome.prefers_mpi) ++num_lost_;
  const Way winner = outcome.prefers_mpi ? Way::mpi : Way::ours;
  go(winner, most);
  kept_switches_.push_back({most.kept + 1, winner, phase_});
}

bool Trials::add(std::shared_ptr<Trial> trial) {
  const bool is_full = all_.size() == most_trials;
  if (is_full) all_.erase(all_.begin());
  all_.push_back(std::move(trial));
  distance_ = first_distance;
  const std::int64_t soon = calls_ + distance_;
  next_meeting_ = next_meeting_ > calls_ ? std::min(next_meeting_, soon) : soon;
  return !is_full;
}

bool Trials::reach() { return !all_.empty() && ++calls_ == next_meeting_; }

std::vector<double> Trials::most() const {
  std::vector<double> words;
  for (const auto& each : all_) {
    const Trial::Most& own = each->most();
    words.insert(words.end(), {own.begun, own.kept, own.timed, own.bytes, each->is_over() ? 1.0 : 0.0});
  }
  return words;
}

std::vector<double> Trials::sums() const {
  std::vector<double> words;
  for (const auto& each : all_) {
    const auto& [our_bytes, our_s, mpi_bytes, mpi_s] = each->sums();
    words.insert(words.end(), {our_bytes, our_s, mpi_bytes, mpi_s});
  }
  return words;
}

Trials::News Trials::hear(std::span<const double> most, std::span<const double> sums) {
  News news;
  bool is_any_measured = false;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    Trial& each = *all_[i];
    const std::int64_t lost_before = each.num_lost();
    const std::int64_t decided_before = each.num_decided();
    const std::span<const double> m = most.subspan(5 * i, 5);
    const std::span<const double> s = sums.subspan(4 * i, 4);
    const Trial::Sums sum{s[0], s[1], s[2], s[3]};
    const bool is_new = each.hear({m[0], m[1], m[2], m[3], m[4]}, sum);
    if (each.num_decided() > decided_before) news.decided.push_back(sum);
    news.num_lost += each.num_lost() - lost_before;
    is_any_measured = is_any_measured || (is_new && each.is_measuring() && !each.is_over());
  }
  news.num_over = std::erase_if(all_, [](const auto& each) { return each->is_over(); });
  if (!is_any_measured) distance_ *= 2;
  next_meeting_ = calls_ + distance_;
  return news;
}

}  // namespace nuice::dropin

// SPDX-License-Identifier: BSD-3-Clause
#include "am/transport/council.hpp"

#include <utility>

namespace nuice::am {

Council::Council(Seats seats)
    : seats_(std::move(seats)), sent_to_host_(seats_.num_hosts, 0), wave_(seats_.num_hosts + 2, 0) {}

void Council::enter(std::uint64_t sent, std::uint64_t handled) {
  publish(sent, handled);
  if (seats_.place == 0) {
    number_ = last_done_ + 1;  // every rank counts its entry as a go of this number
    state_ = State::gathering;
    owes_wave_ = seats_.num_hosts > 1;
    sent_before_ = -1;
  }
  follow({last_done_ + 1, Kind::go});
}

Council::Order Council::order() const {
  const std::uint64_t word = tally(0).order.load(std::memory_order_acquire);
  const Order order{word >> 2, static_cast<Kind>(word & 3)};
  return order.number > last_done_ ? order : Order{last_done_ + 1, Kind::go};
}

void Council::publish(std::uint64_t sent, std::uint64_t handled) {
  if (published_ == sent + handled) return;
  published_ = sent + handled;
  Tally& mine = tally(seats_.place);
  std::atomic<std::uint64_t>* const to_hosts = sent_from(seats_.place);
  for (std::size_t host = 0; host < sent_to_host_.size(); ++host)
    to_hosts[host].store(sent_to_host_[host], std::memory_order_relaxed);
  mine.sent_here.store(sent - sent_afar_, std::memory_order_relaxed);
  mine.handled_from_afar.store(handled_from_afar_, std::memory_order_relaxed);
  mine.handled_here.store(handled - handled_from_afar_, std::memory_order_release);
}

void Council::follow(Order go) {
  followed_ = go.number;
  tally(seats_.place).ready.store(go.number, std::memory_order_release);
}

void Council::answer(Order question, bool nothing_left) {
  answered_ = question.number;
  tally(seats_.place).answer.store(2 * question.number + (nothing_left ? 1 : 0), std::memory_order_release);
}

void Council::take_step() {
  switch (state_) {
    case State::gathering:
      if (!all_are_ready()) return;
      if (owes_wave_) {
        start_wave(false);
      } else {
        state_ = State::settling;
      }
      return;
    case State::summing:
      if (seats_.sums->test()) end_wave();
      return;
    case State::settling:
      if (!is_settled()) return;
      give(Kind::question);
      state_ = State::asking;
      return;
    case State::asking:
      count_answers();
      return;
  }
}

void Council::give(Kind kind) {
  ++number_;
  tally(0).order.store(4 * number_ + static_cast<std::uint64_t>(kind), std::memory_order_release);
  if (!seats_.may_sleep) return;
  for (std::size_t place = 1; place < seats_.tallies.size(); ++place) tally(place).bell.ring();
}

bool Council::sleep_after(Order question, double seconds) {
  if (!seats_.may_sleep || seats_.place == 0) return false;
  Bell& bell = tally(seats_.place).bell;
  bell.announce();
  if (order().number == question.number) bell.sleep(seconds);
  bell.withdraw();
  return true;
}

void Council::go_on(bool owes_wave) {
  owes_wave_ = owes_wave;
  give(Kind::go);
  state_ = State::gathering;
}

bool Council::all_are_ready() const {
  for (std::size_t place = 0; place < seats_.tallies.size(); ++place)
    if (tally(place).ready.load(std::memory_order_acquire) < number_) return false;
  return true;
}

/// Exact when all ranks have answered a question, a guess before.
bool Council::is_settled() const {
  std::uint64_t sent = 0;
  std::uint64_t handled = 0;
  std::uint64_t from_afar = 0;
  for (std::size_t place = 0; place < seats_.tallies.size(); ++place) {
    const Tally& theirs = tally(place);
    handled += theirs.handled_here.load(std::memory_order_acquire);
    from_afar += theirs.handled_from_afar.load(std::memory_order_relaxed);
    sent += theirs.sent_here.load(std::memory_order_relaxed);
  }
  return handled == sent && (seats_.num_hosts == 1 || from_afar >= expected_);
}

void Council::count_answers() {
  bool nothing_left = true;
  for (std::size_t place = 0; place < seats_.tallies.size(); ++place) {
    const std::uint64_t answer = tally(place).answer.load(std::memory_order_acquire);
    if (answer / 2 < number_) return;
    nothing_left = nothing_left && answer % 2 == 1;
  }
  if (!nothing_left) {
    go_on(seats_.num_hosts > 1);
  } else if (!is_settled()) {
    go_on(false);
  } else if (seats_.num_hosts == 1) {
    give(Kind::done);
  } else {
    start_wave(true);
  }
}

void Council::start_wave(bool is_dry) {
  const std::size_t hosts = seats_.num_hosts;
  std::int64_t all = 0;
  for (std::size_t host = 0; host < hosts; ++host) {
    std::uint64_t sum = 0;
    for (std::size_t place = 0; place < seats_.tallies.size(); ++place)
      sum += sent_from(place)[host].load(std::memory_order_relaxed);
    wave_[host] = static_cast<std::int64_t>(sum);
    all += wave_[host];
  }
  wave_[hosts] = all;
  wave_[hosts + 1] = is_dry ? 0 : 1;
  is_dry_ = is_dry;
  state_ = State::summing;
  seats_.sums->start(wave_);
}

void Council::end_wave() {
  const std::size_t hosts = seats_.num_hosts;
  const bool is_last = wave_[hosts + 1] == 0 && wave_[hosts] == sent_before_;
  expected_ = static_cast<std::uint64_t>(wave_[seats_.own_host]);
  sent_before_ = wave_[hosts];
  if (is_last) {
    give(Kind::done);
  } else if (is_dry_) {
    go_on(false);
  } else {
    state_ = State::settling;
  }
}

}  // namespace nuice::am

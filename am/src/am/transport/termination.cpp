// SPDX-License-Identifier: BSD-3-Clause
#include "am/transport/termination.hpp"

#include <utility>

#include "am/transport/doorbell.hpp"

namespace nuice::am {

TerminationDetector::TerminationDetector(Setup setup)
    : setup_(std::move(setup)), sent_to_host_(setup_.num_hosts, 0), wave_(setup_.num_hosts + 2, 0) {}

void TerminationDetector::enter(std::uint64_t sent, std::uint64_t handled) {
  publish(sent, handled);
  if (setup_.place == 0) {
    number_ = last_done_ + 1;  // every rank counts its entry as a `go` of this number
    state_ = State::gathering;
    owes_wave_ = setup_.num_hosts > 1;
    sent_before_ = -1;
  }
  follow({last_done_ + 1, Kind::go});
}

TerminationDetector::Order TerminationDetector::order() const {
  const std::uint64_t word = counts_of(0).order.load(std::memory_order_seq_cst);
  const Order order{word >> 3, static_cast<Kind>(word & 7)};
  return order.number > last_done_ ? order : Order{last_done_ + 1, Kind::go};
}

void TerminationDetector::publish(std::uint64_t sent, std::uint64_t handled) {
  if (published_ == sent + handled) return;
  published_ = sent + handled;
  Counts& mine = counts_of(setup_.place);
  std::atomic<std::uint64_t>* const to_hosts = sent_from(setup_.place);
  for (std::size_t host = 0; host < sent_to_host_.size(); ++host)
    to_hosts[host].store(sent_to_host_[host], std::memory_order_relaxed);
  mine.sent_here.store(sent - sent_afar_, std::memory_order_relaxed);
  mine.handled_from_afar.store(handled_from_afar_, std::memory_order_relaxed);
  mine.handled_here.store(handled - handled_from_afar_, std::memory_order_release);
}

void TerminationDetector::follow(Order go) {
  followed_ = go.number;
  counts_of(setup_.place).ready.store(go.number, std::memory_order_release);
  wake_leader();
}

void TerminationDetector::answer(Order question, bool nothing_left) {
  answered_ = question.number;
  counts_of(setup_.place)
      .answer.store(2 * question.number + (nothing_left ? 1 : 0), std::memory_order_release);
  wake_leader();
}

// A rank that wakes looks for an order after it has withdrawn its reply. The leader looks for sleepers after
// it has given an order. So at least one of them sees the other: either the sleeper's reply counts, or the
// rank answers.
void TerminationDetector::rest(bool nothing_left) {
  const Reply reply = nothing_left ? Reply::nothing_left : Reply::something_left;
  counts_of(setup_.place).rest.store(static_cast<std::uint32_t>(reply), std::memory_order_seq_cst);
  wake_leader();
}

void TerminationDetector::wake_up() { counts_of(setup_.place).rest.store(0, std::memory_order_seq_cst); }

void TerminationDetector::take_step() {
  switch (state_) {
    case State::gathering:
      if (!all_are_ready()) return;
      if (owes_wave_) {
        start_wave(false);
      } else {
        state_ = State::settling;
        if (setup_.num_hosts > 1 && !is_settled()) give(Kind::take);
      }
      return;
    case State::summing:
      if (setup_.sums->test()) end_wave();
      return;
    case State::settling:
      if (!is_settled()) return;
      give(Kind::question);
      state_ = State::asking;
      return;
    case State::asking:
      count_answers();
      return;
    case State::closing:
      if (!all_have_answered()) return;
      setup_.sums->start(std::span(wave_).first(1));
      state_ = State::leaving;
      return;
    case State::leaving:
      if (setup_.sums->test()) give(Kind::done);
      return;
  }
}

void TerminationDetector::give(Kind kind) {
  ++number_;
  counts_of(0).order.store(8 * number_ + static_cast<std::uint64_t>(kind), std::memory_order_seq_cst);
  // A sleeping rank has answered a question in advance, and after `wait` probably no message comes.
  if (kind != Kind::question && kind != Kind::wait) wake_all();
}

void TerminationDetector::wake_leader() {
  if (!setup_.bells.empty() && setup_.place != 0) wake(*setup_.bells[0]);
}

void TerminationDetector::wake_all() {
  for (std::size_t place = 1; place < setup_.bells.size(); ++place) wake(*setup_.bells[place]);
}

void TerminationDetector::go_on(bool owes_wave) {
  owes_wave_ = owes_wave;
  give(Kind::go);
  state_ = State::gathering;
}

bool TerminationDetector::all_are_ready() const {
  for (std::size_t place = 0; place < setup_.counts.size(); ++place)
    if (counts_of(place).ready.load(std::memory_order_acquire) < number_) return false;
  return true;
}

/// Returns whether this host's ranks have handled all messages from each other and, with several hosts, all
/// messages that the last wave has counted. Exact if all ranks have answered a question, otherwise an
/// estimate.
bool TerminationDetector::is_settled() const {
  std::uint64_t sent = 0;
  std::uint64_t handled = 0;
  std::uint64_t from_afar = 0;
  for (std::size_t place = 0; place < setup_.counts.size(); ++place) {
    const Counts& theirs = counts_of(place);
    handled += theirs.handled_here.load(std::memory_order_acquire);
    from_afar += theirs.handled_from_afar.load(std::memory_order_relaxed);
    sent += theirs.sent_here.load(std::memory_order_relaxed);
  }
  return handled == sent && (setup_.num_hosts == 1 || from_afar >= expected_);
}

TerminationDetector::Reply TerminationDetector::reply_of(std::size_t place) const {
  const Counts& theirs = counts_of(place);
  const auto rest = static_cast<Reply>(theirs.rest.load(std::memory_order_seq_cst));
  if (rest != Reply::none) return rest;
  const std::uint64_t answer = theirs.answer.load(std::memory_order_acquire);
  if (answer / 2 < number_) return Reply::none;
  return answer % 2 == 1 ? Reply::nothing_left : Reply::something_left;
}

bool TerminationDetector::all_have_answered() const {
  for (std::size_t place = 0; place < setup_.counts.size(); ++place)
    if (reply_of(place) == Reply::none) return false;
  return true;
}

void TerminationDetector::count_answers() {
  bool nothing_left = true;
  for (std::size_t place = 0; place < setup_.counts.size(); ++place) {
    const Reply reply = reply_of(place);
    if (reply == Reply::none) return;
    nothing_left = nothing_left && reply == Reply::nothing_left;
  }
  if (!nothing_left) {
    go_on(setup_.num_hosts > 1);
  } else if (!is_settled()) {
    go_on(false);
  } else if (setup_.num_hosts == 1) {
    give(Kind::done);
  } else {
    start_wave(true);
    give(Kind::wait);  // after its counts have been added up
  }
}

void TerminationDetector::start_wave(bool is_dry) {
  const std::size_t hosts = setup_.num_hosts;
  std::int64_t all = 0;
  for (std::size_t host = 0; host < hosts; ++host) {
    std::uint64_t sum = 0;
    for (std::size_t place = 0; place < setup_.counts.size(); ++place)
      sum += sent_from(place)[host].load(std::memory_order_relaxed);
    wave_[host] = static_cast<std::int64_t>(sum);
    all += wave_[host];
  }
  wave_[hosts] = all;
  wave_[hosts + 1] = is_dry ? 0 : 1;
  is_dry_ = is_dry;
  state_ = State::summing;
  setup_.sums->start(wave_);
}

void TerminationDetector::end_wave() {
  const std::size_t hosts = setup_.num_hosts;
  const bool is_last = wave_[hosts + 1] == 0 && wave_[hosts] == sent_before_;
  expected_ = static_cast<std::uint64_t>(wave_[setup_.own_host]);
  sent_before_ = wave_[hosts];
  if (is_last) {
    give(Kind::question);
    state_ = State::closing;
  } else if (is_dry_) {
    go_on(false);
  } else {
    state_ = State::settling;
    if (!is_settled()) give(Kind::take);
  }
}

}  // namespace nuice::am

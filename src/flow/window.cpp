// SPDX-License-Identifier: BSD-3-Clause
#include "flow/window.hpp"

#include <algorithm>
#include <cmath>

namespace nuice::flow {
namespace {

// A loss costs a retransmission timeout of up to 200 ms where too few packets follow to reveal it. One segment of 200 is the share at
// which that starts to show in exchanges of some hundred segments, and below what any window of congestion control keeps up with.
constexpr double share_that_is_too_much = 1.0 / 200;
constexpr std::int64_t segments_to_judge = 400;  // two losses at that share
constexpr double bdps = 2;          // BBR: one in flight, one for acknowledgements that come late or together
constexpr double shrinks_to = 0.7;  // CUBIC, RFC 9438 section 4.6
constexpr double grows_to = 1.5;
constexpr double gain_that_counts = 1.1;  // of the rate, for half as much again in flight
constexpr int judgements_of_a_try = 2;
constexpr int first_patience = 8;
constexpr int most_patience = 1024;
constexpr int judgements_of_period = 64;  // the fastest rate is that of this and the last period
// With one packet each a connection waits for its process after every packet. That costs more than few losses: 16 hosts, 100 Mbit/s, queues of
// 16 KiB took 70 ms in place of 63 with two packets and 2 % lost; 32 ranks that share 8 ports of 20 Mbit/s 844 in place of 1,131, with 7 % lost.
constexpr double share_of_a_crowd = 1.0 / 25;
constexpr int losses_of_a_crowd = 2;  // in a row, while every sender has its two packets and no more

}  // namespace

Report& Report::operator+=(const Report& later) {
  busy_s += later.busy_s;
  bytes += later.bytes;
  segments += later.segments;
  lost_segments += later.lost_segments;
  round_trip_s = std::max(round_trip_s, later.round_trip_s);
  num_senders = later.num_senders;
  return *this;
}

void Window::add(const Report& report) {
  sum_ += report;
  if (!loses(sum_) && sum_.segments < segments_to_judge) return;
  judge(sum_);
  sum_ = {};
}

bool Window::loses(const Report& sum) const {
  if (is_settling_) return false;
  const auto judged = static_cast<double>(std::max(sum.segments, segments_to_judge));
  return static_cast<double>(sum.lost_segments) > share_that_is_too_much * judged;
}

void Window::judge(const Report& sum) {
  const double rate = sum.busy_s > 0 ? static_cast<double>(sum.bytes) / sum.busy_s : 0;
  note_rate(rate);
  if (sum.round_trip_s > 0) round_trip_s_ = sum.round_trip_s;
  const auto segments = static_cast<double>(std::max<std::int64_t>(sum.segments, 1));
  least_ =
      static_cast<double>(least_segments_ * sum.num_senders) * (static_cast<double>(sum.bytes) / segments);
  if (is_settling_) {
    is_settling_ = false;
  } else if (state_ == State::unlimited) {
    if (loses(sum)) limit();
  } else if (loses(sum)) {
    shrink(sum);
  } else {
    look_for_more(rate);
  }
}

void Window::limit() {
  state_ = State::steady;
  window_ = std::max(least_, bdps * fastest_ * round_trip_s_);
  is_settling_ = true;
  calm_ = 0;
  patience_ = first_patience;
}

void Window::shrink(const Report& sum) {
  const bool is_crowd = window_ <= least_ &&
                        static_cast<double>(sum.lost_segments) >
                            share_of_a_crowd * static_cast<double>(std::max(sum.segments, segments_to_judge));
  losses_in_a_row_ = is_crowd ? losses_in_a_row_ + 1 : 0;
  if (losses_in_a_row_ >= losses_of_a_crowd) least_segments_ = 1;
  if (state_ == State::trying)
    give_up_try();
  else
    window_ = std::max(least_, window_ * shrinks_to);
  is_settling_ = true;
  state_ = State::steady;
  may_follow_rate_ = false;
  calm_ = 0;
  patience_ = std::min(2 * patience_, most_patience);
}

void Window::look_for_more(double rate) {
  ++calm_;
  losses_in_a_row_ = 0;
  if (state_ == State::steady) {
    if (may_follow_rate_) window_ = std::max(window_, bdps * fastest_ * round_trip_s_);
    rate_before_try_ = calm_ == 1 ? rate : std::max(rate_before_try_, rate);
    if (calm_ < patience_) return;
    window_before_try_ = window_;
    least_before_try_ = least_segments_;
    least_segments_ = segments_without_a_timer;
    window_ = grows_to * std::max(window_, least_);
    state_ = State::trying;
    calm_ = 0;
  } else if (rate > gain_that_counts * rate_before_try_) {
    state_ = State::steady;  // and at once more
    may_follow_rate_ = true;
    calm_ = patience_ - 1;
    rate_before_try_ = rate;
  } else if (calm_ >= judgements_of_a_try) {
    give_up_try();
    state_ = State::steady;
    calm_ = 0;
    patience_ = std::min(2 * patience_, most_patience);
  }
}

void Window::give_up_try() {
  window_ = window_before_try_;
  least_segments_ = least_before_try_;
}

void Window::note_rate(double rate) {
  fastest_of_period_ = std::max(fastest_of_period_, rate);
  fastest_ = std::max(fastest_, rate);
  if (++reports_of_period_ < judgements_of_period) return;
  fastest_ = fastest_of_period_;
  fastest_of_period_ = 0;
  reports_of_period_ = 0;
}

std::int64_t Window::bytes() const {
  return state_ == State::unlimited ? unlimited : static_cast<std::int64_t>(std::llround(window_));
}

std::int64_t Window::least_share_bytes(std::int64_t segment_bytes) const {
  return least_segments_ * segment_bytes;
}

std::int64_t Window::share_bytes(int num_senders, std::int64_t segment_bytes) const {
  if (state_ == State::unlimited) return unlimited;
  const std::int64_t part = bytes() / std::max(num_senders, 1);
  return std::max(least_segments_, part / segment_bytes) * segment_bytes;
}

}  // namespace nuice::flow

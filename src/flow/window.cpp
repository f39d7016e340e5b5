// SPDX-License-Identifier: BSD-3-Clause
#include "flow/window.hpp"

#include <algorithm>
#include <cmath>

namespace nuice::flow {
namespace {

// The time that a host may add to a round trip, by delayed interrupts and the kernel's other work. If the
// bytes in flight keep the port busy for longer, more bytes only fill the queue.
constexpr double host_delay_s = 1e-3;
constexpr double bdps = 2;  // BBR: one in flight, one for acknowledgements that come late or together
// The window may grow while the present round trips are below the first of these shares of the time above:
// then more than half of this time is not spent in queues. It shrinks while they exceed the second share. The
// shares differ by grows_to: a step that only fills a queue makes round trips longer by this factor, and no
// second step follows. Most slack allows for two time slices of a processor (3 to 4 ms).
constexpr double short_below = 0.5;
constexpr double long_from = 0.75;
constexpr double most_slack = 8;
// The queue that any switch port has. This much in flight is not too much unless packets are lost.
constexpr double smallest_queue_bytes = 16 << 10;
// A larger share is not limited. A buffer with a limited window is at most net.core.rmem_max, by default 208
// KiB, because the kernel no longer enlarges it.
constexpr double largest_share_bytes = 128 << 10;

// A rate is measured over a stretch without pauses, which is long enough for several looks.
constexpr double seconds_of_a_rate = 0.02;
constexpr std::int64_t segments_of_a_rate = 100;
constexpr int rates_of_period = 64;  // number of rates in a period of fastest_
// The segments of a look that suffice for a rate while the window opens. A rate that is wrong by a third
// costs at most one step of the window.
constexpr std::int64_t segments_of_a_first_rate = 10;

// A loss costs a retransmission timeout if too few packets follow to reveal it. When one segment of 100 is
// lost, such timeouts begin to show in exchanges of several hundred segments. If fewer packets are out of
// order, others may have overtaken them on another path.
constexpr double share_that_is_too_much = 1.0 / 100;
constexpr std::int64_t segments_to_judge = 400;  // four losses at that share
constexpr double seen_of_two_packets = 0.5;      // only the loss of the first packet is seen
constexpr double shrinks_to = 0.7;               // CUBIC, RFC 9438 section 4.6
constexpr double full_below = 1.25;              // BBR's start-up ends when the rate grows by less

// About 1 / shrinks_to: a larger window undoes one loss.
constexpr double grows_to = 1.5;
constexpr int judgements_of_a_try = 2;  // the first still has packets of the smaller window
// After a try that fails, every process that waits for this port loses a retransmission timeout (12 to 200
// ms). So tries become rare quickly.
constexpr int patience_grows_to = 8;
constexpr int most_patience = 4096;  // 8^4

// If a larger share of segments than this is lost although each sender has only two packets in flight,
// senders may have fewer. This has a cost: with one packet, a sender waits for the receiving process after
// every packet. Measured with 15 senders to a port of 50 Mbit/s and a queue of 32 KiB: 218 ms with one packet
// for each sender, 170 ms with 1.5, 162 ms with two. But with two, 9 % of the segments are retransmitted, and
// one exchange in 20 takes more than 250 ms. An all to all of 32 ranks that share 8 ports of 20 Mbit/s takes
// 540 to 610 ms with fewer than two packets, and 820 to 880 ms with two.
constexpr double share_of_a_crowd = 1.0 / 50;  // twice share_that_is_too_much
constexpr std::int64_t segments_of_a_crowd = 800;
constexpr int times_of_a_crowd = 4;  // in a row: at first, packets of larger windows are lost

double share_of(std::int64_t part, std::int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(std::max<std::int64_t>(whole, 1));
}

}  // namespace

Report& Report::operator+=(const Report& later) {
  timed_s += later.timed_s;
  timed_segments += later.timed_segments;
  segments += later.segments;
  lost_segments += later.lost_segments;
  segment_bytes = later.segment_bytes;
  if (later.round_trip_s > 0) round_trip_s = later.round_trip_s;
  sum_round_trips_s += later.sum_round_trips_s;
  num_round_trips += later.num_round_trips;
  num_senders = later.num_senders;
  return *this;
}

void Window::add(const Report& report) {
  note_rate(report);
  sum_ += report;
  if (report.round_trip_s > 0) round_trip_s_ = report.round_trip_s;
  num_senders_ = std::max(report.num_senders, 1);
  least_ = static_cast<double>(least_segments_ * num_senders_ * report.segment_bytes);
  if (!(state_ == State::opening ? open() : judge())) return;
  sum_ = {};
}

/// Updates the fastest rate from stretches without pauses.
void Window::note_rate(const Report& report) {
  if (report.timed_s == 0) stretch_ = {};
  stretch_ += report;
  if (stretch_.timed_s < seconds_of_a_rate || stretch_.timed_segments < segments_of_a_rate) return;
  const double rate = stretch_.rate();
  stretch_ = {};
  if (state_ == State::opening && fastest_ > 0 && rate < full_below * fastest_) {
    window_ = std::min(window_, enough(std::max(fastest_, rate)));
    state_ = State::steady;
    calm_ = patience_ - 1;
  }
  fastest_of_period_ = std::max(fastest_of_period_, rate);
  fastest_ = std::max(fastest_, rate);
  if (++rates_of_period_ == rates_of_period) {
    fastest_ = fastest_of_period_;
    fastest_of_period_ = 0;
    rates_of_period_ = 0;
  }
}

/// Returns the bytes that keep the port busy at this rate (Little's law: in flight = rate x time).
double Window::enough(double rate) const {
  return std::max(smallest_queue_bytes, slack_ * rate * longest_round_trip_s());
}

double Window::longest_round_trip_s() const { return host_delay_s + bdps * round_trip_s_; }

bool Window::loses() const {
  if (is_settling_) return false;
  const bool was_crowd = state_ == State::trying && least_before_try_ < least_segments_;
  return share_of(sum_.lost_segments, std::max(sum_.segments, segments_to_judge)) >
         (was_crowd ? share_of_a_crowd * seen_of_two_packets
                    : share_that_is_too_much * out_of_order_per_loss());
}

/// Returns how many packets come out of order per loss: the packets in flight after the lost one on its
/// connection. These are (n - 1) / 2 on average if n packets are in flight. Of two packets that come
/// together, the loss of the second is not seen. The result is at most ten, so that one segment of ten out of
/// order always counts as a loss.
double Window::out_of_order_per_loss() const {
  const double in_flight = fastest_ > 0 ? std::min(window_, enough(fastest_)) : window_;
  const std::int64_t segment_bytes = std::max<std::int64_t>(sum_.segment_bytes, 1);
  const double packets = in_flight / static_cast<double>(num_senders_ * segment_bytes);
  return std::clamp((packets - 1) / 2, seen_of_two_packets, 10.0);
}

/// Opens the window as TCP's slow start does, but at the receiver. After a loss the window is too large, and
/// is halved. Returns whether sum_ was judged.
bool Window::open() {
  if (loses()) {
    state_ = State::steady;
    window_ = std::max(std::min(window_ / 2, enough(std::max(fastest_, sum_.rate()))), smallest_queue_bytes);
    is_settling_ = true;
    return true;
  }
  if (sum_.timed_segments >= segments_of_a_first_rate) first_rate_ = std::max(first_rate_, sum_.rate());
  const bool has_come = static_cast<double>(sum_.segments * sum_.segment_bytes) >= window_;
  if (has_come) window_ = std::min(2 * std::max(window_, least_), most_bytes);
  const double rate = std::max(first_rate_, fastest_);
  if (rate > 0) window_ = std::min(window_, std::max(2 * enough(rate), least_));
  return has_come;
}

bool Window::judge() {
  const bool has_losses = loses();
  if (!has_losses && sum_.segments < segments_to_judge) return false;
  if (state_ == State::steady) look_for_a_crowd();
  if (is_settling_)
    is_settling_ = false;
  else if (has_losses)
    shrink();
  else {
    follow_round_trips();
    look_for_more();
  }
  return true;
}

/// Applies rule 5. The kernel's round trips include the time in queues, but not the time until a process
/// reads. If they are short although the window is full, bytes wait for the processes.
void Window::follow_round_trips() {
  if (state_ != State::steady || is_crowd() || sum_.num_round_trips == 0) return;
  const double present = sum_.sum_round_trips_s / sum_.num_round_trips / longest_round_trip_s();
  if (present > long_from) {
    slack_ = std::max(1.0, slack_ / grows_to);
    window_ = std::min(window_, enough(fastest_));
  } else if (present < short_below && !may_be_too_small()) {
    slack_ = std::min(slack_ * grows_to, most_slack);
  }
}

/// Counts losses while every sender has its minimum of two packets.
void Window::look_for_a_crowd() {
  if (window_ > least_ || least_ <= smallest_queue_bytes) {
    at_least_ = {};
    return;
  }
  at_least_ += sum_;
  if (at_least_.segments < segments_of_a_crowd) return;
  const bool is_much =
      share_of(at_least_.lost_segments, at_least_.segments) > share_of_a_crowd * seen_of_two_packets;
  times_much_is_lost_ = is_much ? times_much_is_lost_ + 1 : 0;
  if (times_much_is_lost_ == times_of_a_crowd) {
    least_segments_ = 1;
    window_ = shrinks_to * least_;
    patience_ = first_patience;
  }
  at_least_ = {};
}

void Window::shrink() {
  slack_ = std::max(1.0, shrinks_to * slack_);
  if (state_ == State::trying)
    give_up_try();
  else
    window_ = std::max(shrinks_to * window_, is_crowd() ? 0 : smallest_queue_bytes);
  is_settling_ = true;
  calm_ = 0;
}

/// Returns true in a crowd: with one packet each, senders wait for processes, which takes longer than
/// anything in the kernel.
bool Window::may_be_too_small() const { return is_crowd() || std::max(window_, least_) < enough(fastest_); }

void Window::look_for_more() {
  ++calm_;
  if (state_ == State::steady) {
    if (calm_ < patience_ || !may_be_too_small()) return;
    window_before_try_ = window_;
    least_before_try_ = least_segments_;
    window_ = std::min(grows_to * std::max(window_, least_), std::max(enough(fastest_), 2 * least_));
    if (window_ >= 2 * least_) least_segments_ = segments_without_a_timer;
    state_ = State::trying;
    calm_ = 0;
  } else if (calm_ == judgements_of_a_try) {
    state_ = State::steady;  // a larger window is tried at the next judgement
    calm_ = patience_ - 1;
  }
}

void Window::give_up_try() {
  window_ = window_before_try_;
  least_segments_ = least_before_try_;
  state_ = State::steady;
  patience_ = std::min(patience_grows_to * patience_, most_patience);
}

bool Window::is_limited() const { return window_ < largest_share_bytes * num_senders_; }

std::int64_t Window::bytes() const {
  return is_limited() ? static_cast<std::int64_t>(std::llround(window_)) : unlimited;
}

std::int64_t Window::share_bytes(int num_senders, std::int64_t segment_bytes) const {
  if (!is_limited()) return unlimited;
  const std::int64_t part = bytes() / std::max(num_senders, 1);
  const std::int64_t whole = part / segment_bytes * segment_bytes;
  return std::max(least_segments_ * segment_bytes, is_crowd() ? std::min(part, 2 * segment_bytes) : whole);
}

int MostSenders::add(int num_senders) {
  if (++looks_ == looks_of_a_period) {
    of_last_period_ = of_this_period_;
    of_this_period_ = looks_ = 0;
  }
  of_this_period_ = std::max(of_this_period_, num_senders);
  return value();
}

int MostSenders::value() const { return std::max({of_this_period_, of_last_period_, 1}); }

}  // namespace nuice::flow

// SPDX-License-Identifier: BSD-3-Clause
// How many bytes may be in flight to a port, and each sender's part of that: pure arithmetic, without clocks and sockets.
//
// Why a bound pays. TCP's congestion control adapts each connection for itself. Where many senders converge on one port, the smallest
// window that a sender keeps (4 packets with BBR, 2 with Reno, 10 at the start) times the number of senders exceeds the queue in front
// of the port, and packets are lost for as long as the transfer lasts. The receiver sees all of its senders, so it can divide one
// window among them (ICTCP: Wu et al., CoNEXT 2010).
//
// The rule.
//   1. A port begins with two packets for each sender, and twice as many each time that so much has come without losses, as in TCP's
//      slow start, until the rate grows by less than a quarter.
//   2. It does not grow beyond what fits the smallest queue, or keeps the port busy for a millisecond and two round trips at the
//      fastest rate so far (BBR's bound and end of the start: Cardwell et al., 2016); while it opens, twice that: with less, pairs
//      that send both ways at once stayed slow (130 instead of 100 ms for 512 KiB). On fast ports that is more than any
//      connection uses: no bound.
//   3. Losses halve the window the first time, and from then on shrink it to 0.7 (CUBIC's factor, RFC 9438).
//   4. Where the window is smaller than rule 2 allows and nothing was lost for a while, half as much again is tried, and kept if that
//      loses nothing. If it does, the window returns, and the next try comes after eight times as long.
//   5. No sender has less than two packets: Linux acknowledges every second packet at once, a single one when the process reads it or
//      after up to 40 ms. Only if two packets of each sender are too much, each has one.
// From then on nothing but losses makes a window smaller. A bound that follows the rate would: too small a window lowers the rate, and so
// the bound.
#pragma once

#include <cstdint>

namespace nuice::flow {

/// What came to a port since the report before.
struct Report {
  double timed_s = 0;               // since the report before; 0 after a pause, in which nothing came
  std::int64_t timed_segments = 0;  // in that time
  std::int64_t segments = 0;
  std::int64_t lost_segments = 0;  // that came out of order: others before them were lost
  std::int64_t segment_bytes =
      0;                    // of a full one: queues have room for a number of them, whatever their size
  double round_trip_s = 0;  // the least of all connections; 0: not known
  int num_senders = 0;      // active ones

  double rate() const {
    return timed_s > 0 ? static_cast<double>(timed_segments * segment_bytes) / timed_s : 0;
  }
  Report& operator+=(const Report& later);
};

class Window {
 public:
  static constexpr std::int64_t unlimited = INT64_MAX;

  void add(const Report& report);

  /// False: each sender may have more than any buffer holds.
  bool is_limited() const;
  /// Bytes in flight to the port.
  std::int64_t bytes() const;
  /// The share of one sender, in whole packets.
  std::int64_t share_bytes(int num_senders, std::int64_t segment_bytes) const;

 private:
  static constexpr std::int64_t segments_without_a_timer =
      2;                                      // RFC 9293: every second one is acknowledged at once
  static constexpr double most_bytes = 1e12;  // fits the integers that it becomes
  static constexpr int first_patience = 1;
  enum class State { opening, steady, trying };

  void note_rate(const Report& report);
  double enough(double rate) const;
  bool loses() const;
  double out_of_order_per_loss() const;
  bool open();
  bool judge();
  void look_for_a_crowd();
  void shrink();
  bool is_crowd() const { return least_segments_ < segments_without_a_timer; }
  bool may_be_too_small() const;
  void look_for_more();
  void give_up_try();

  State state_ = State::opening;
  double window_ = 0;  // may be less than least_: then each sender has its least
  double least_ = 0;   // two packets of each active sender
  std::int64_t least_segments_ = segments_without_a_timer;
  int num_senders_ = 1;
  double round_trip_s_ = 0;
  Report sum_;                // since the last judgement
  bool is_settling_ = false;  // what is lost next was in flight before the window changed

  Report stretch_;         // without a pause
  double first_rate_ = 0;  // while opening, of single reports
  double fastest_ = 0;     // of this and the last period of rates
  double fastest_of_period_ = 0;
  int rates_of_period_ = 0;

  Report at_least_;  // with the least window
  int times_much_is_lost_ = 0;

  double window_before_try_ = 0;
  std::int64_t least_before_try_ = segments_without_a_timer;
  int calm_ = 0;                   // judgements without losses in this state
  int patience_ = first_patience;  // calm judgements before more is tried
};

/// The most senders that were active at once, in this and the last period. A window is divided by it, so shares change rarely: one that
/// shrinks delays acknowledgements until the process reads (Linux acknowledges at once only while the window does not get smaller).
class MostSenders {
 public:
  static constexpr int looks_of_a_period = 64;  // about a quarter of a second of traffic

  /// At one look. Returns value().
  int add(int num_senders);
  /// At least 1.
  int value() const;

 private:
  int of_this_period_ = 0;
  int of_last_period_ = 0;
  int looks_ = 0;
};

}  // namespace nuice::flow

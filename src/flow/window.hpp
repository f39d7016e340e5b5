// SPDX-License-Identifier: BSD-3-Clause
// Decides how many bytes may be in flight to a port, and each sender's share: pure arithmetic, without clocks
// and sockets.
//
// Why a bound pays. TCP's congestion control adapts each connection separately. If many senders converge on
// one port, the smallest window that a sender keeps (4 packets with BBR, 2 with Reno, 10 at the start) times
// the number of senders exceeds the queue in front of the port. Packets are then lost until the transfer
// ends. The receiver sees all of its senders, so it can divide one window among them (ICTCP: Wu et al.,
// CoNEXT 2010).
//
// The rules:
//   1. A port's window begins with two packets per sender. It doubles each time that a whole window has come
//      without losses, as in TCP's slow start, until the rate grows by less than a quarter.
//   2. The window is at most 16 KiB, which any queue holds, or the bytes that keep the port busy for a
//      millisecond and two round trips at the fastest rate so far, if these are more (BBR's bound and end of
//      the start: Cardwell et al., 2016). During the start it may be twice as large: with less, pairs that
//      send both ways at once stayed slow (130 ms instead of 100 ms for 512 KiB). On fast ports a connection
//      uses less than this bound, so no window is set.
//   3. The first losses halve the window. Later losses shrink it to 0.7 of its size (CUBIC's factor, RFC
//      9438).
//   4. If the window is smaller than rule 2 allows and nothing was lost for a while, a window 1.5 times as
//      large is tried, and kept if nothing is lost. Otherwise the old window returns, and the next try comes
//      after eight times as long.
//   5. The window of rule 2 is up to eight times as large while round trips take less than half of that time:
//      then bytes wait for processors, not in queues, and a larger window brings more of them. If
//      round trips take over three quarters of that time, the window shrinks towards that of rule 2.
//   6. Each sender has at least two packets: Linux acknowledges every second packet at once, but a single
//      packet only when the process reads it or after up to 40 ms. Only if two packets per sender are too
//      much does each have between one and two.
// Otherwise only losses make a window smaller. A bound that followed the rate would shrink forever: a window
// that is too small lowers the rate, and the lower rate would lower the bound.
#pragma once

#include <cstdint>

namespace nuice::flow {

/// The traffic that came to a port since the previous report.
struct Report {
  double timed_s = 0;               // time since the previous report; 0 after a pause without traffic
  std::int64_t timed_segments = 0;  // segments that came in timed_s
  std::int64_t segments = 0;
  std::int64_t lost_segments = 0;  // segments out of order, because earlier segments were lost
  std::int64_t segment_bytes = 0;  // data of a full segment; a queue's room is a number of packets
  double round_trip_s = 0;         // the smallest of all connections; 0: not known
  double sum_round_trips_s = 0;    // present round trips of the connections on which data were sent
  int num_round_trips = 0;         // number of these connections
  int num_senders = 0;             // number of active senders

  double rate() const {
    return timed_s > 0 ? static_cast<double>(timed_segments * segment_bytes) / timed_s : 0;
  }
  Report& operator+=(const Report& later);
};

class Window {
 public:
  static constexpr std::int64_t unlimited = INT64_MAX;

  void add(const Report& report);

  /// Returns false if each sender may have more bytes in flight than any buffer holds.
  bool is_limited() const;
  /// Returns the number of bytes that may be in flight to the port.
  std::int64_t bytes() const;
  /// Returns the share of one sender, in whole packets unless it is less than two.
  std::int64_t share_bytes(int num_senders, std::int64_t segment_bytes) const;

 private:
  static constexpr std::int64_t segments_without_a_timer =
      2;                                      // RFC 9293: every second segment is acknowledged at once
  static constexpr double most_bytes = 1e12;  // fits an int64
  static constexpr int first_patience = 1;
  enum class State { opening, steady, trying };

  void note_rate(const Report& report);
  double longest_round_trip_s() const;
  double enough(double rate) const;
  bool loses() const;
  double out_of_order_per_loss() const;
  bool open();
  bool judge();
  void look_for_a_crowd();
  void shrink();
  bool is_crowd() const { return least_segments_ < segments_without_a_timer; }
  bool may_be_too_small() const;
  void follow_round_trips();
  void look_for_more();
  void give_up_try();

  State state_ = State::opening;
  double window_ = 0;  // if it is less than least_, each sender has its minimum
  double least_ = 0;   // least_segments_ packets of each active sender
  std::int64_t least_segments_ = segments_without_a_timer;
  int num_senders_ = 1;
  double round_trip_s_ = 0;
  double slack_ = 1;          // the factor of rule 5
  Report sum_;                // reports since the last judgement
  bool is_settling_ = false;  // the next losses were in flight before the window changed

  Report stretch_;         // reports since the last pause
  double first_rate_ = 0;  // the fastest single report while the window opens
  double fastest_ = 0;     // the fastest rate of this and the last period
  double fastest_of_period_ = 0;
  int rates_of_period_ = 0;

  Report at_least_;  // reports while senders have their minimum
  int times_much_is_lost_ = 0;

  double window_before_try_ = 0;
  std::int64_t least_before_try_ = segments_without_a_timer;
  int calm_ = 0;                   // number of judgements without losses in this state
  int patience_ = first_patience;  // number of calm judgements before a larger window is tried
};

/// The largest number of senders that were active at once, in this and the last period. A window is divided
/// by it, so that shares change rarely. A share that shrinks delays acknowledgements until the process reads,
/// because Linux acknowledges at once only while the window does not shrink.
class MostSenders {
 public:
  static constexpr int looks_of_a_period = 64;  // about a quarter of a second of traffic

  /// Adds the number of active senders at one look. Returns value().
  int add(int num_senders);
  /// Returns the largest number so far, at least 1.
  int value() const;

 private:
  int of_this_period_ = 0;
  int of_last_period_ = 0;
  int looks_ = 0;
};

}  // namespace nuice::flow

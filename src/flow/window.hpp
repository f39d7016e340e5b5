// SPDX-License-Identifier: BSD-3-Clause
// How many bytes may be in flight to a port, and each sender's part of that: pure arithmetic, without clocks and sockets.
//
// Why a bound pays. TCP's congestion control adapts each connection for itself. Where many senders converge on one port, the smallest
// window that a sender keeps (4 packets with BBR, 2 with Reno, 10 at the start) times the number of senders exceeds the queue in front
// of the port, and packets are lost for as long as the transfer lasts. The receiver sees all of its senders, so it can divide one
// window among them (ICTCP: Wu et al., CoNEXT 2010).
//
// The rule.
//   1. As long as hardly anything is lost there is no bound. (A receiver sees a loss as packets that come out of order; packets that
//      overtake each other look the same.)
//   2. At the first losses the window becomes twice rate x least round trip (BBR's bound: Cardwell et al., 2016).
//   3. More losses shrink it, to 0.7 of it each time (CUBIC's factor, RFC 9438).
//   4. After a while without losses a window half as large again is tried. It is kept if the port's rate grows; otherwise the next try
//      comes after twice as long. So the window rises where the least round trip hides what a busy host takes to answer.
//   5. No sender has less than two packets: Linux acknowledges every second packet at once, a single one when the process reads it or
//      after up to 40 ms. Only where so many senders converge that two packets of each are too much, each has one.
#pragma once

#include <cstdint>

namespace nuice::flow {

/// What came to a port since the report before.
struct Report {
  double busy_s = 0;  // in which data came
  std::int64_t bytes = 0;
  std::int64_t segments = 0;
  std::int64_t lost_segments = 0;  // that came out of order: others before them were lost
  double round_trip_s = 0;         // the longest of the connections' least ones; 0: not known
  int num_senders = 0;             // active ones

  Report& operator+=(const Report& later);
};

class Window {
 public:
  static constexpr std::int64_t unlimited = INT64_MAX;

  void add(const Report& report);

  bool is_limited() const { return state_ != State::unlimited; }
  /// Bytes in flight to the port.
  std::int64_t bytes() const;
  /// Of one of the active senders, in whole packets.
  std::int64_t share_bytes(int num_senders, std::int64_t segment_bytes) const;
  /// Of one that is idle: what its first packets may be.
  std::int64_t least_share_bytes(std::int64_t segment_bytes) const;

 private:
  static constexpr std::int64_t segments_without_a_timer = 2;
  enum class State { unlimited, steady, trying };

  void judge(const Report& sum);
  bool loses(const Report& sum) const;
  void limit();
  void shrink(const Report& sum);
  void look_for_more(double rate);
  void give_up_try();
  void note_rate(double rate);

  State state_ = State::unlimited;
  Report sum_;
  double window_ = 0;
  double least_ = 0;  // two packets of each active sender
  std::int64_t least_segments_ = segments_without_a_timer;
  int losses_in_a_row_ = 0;   // with the least window
  bool is_settling_ = false;  // what is lost next was in flight before the window changed
  double round_trip_s_ = 0;
  double fastest_ = 0;  // of this and the last period of reports
  double fastest_of_period_ = 0;
  int reports_of_period_ = 0;
  bool may_follow_rate_ = true;  // no losses since the rate last grew
  double window_before_try_ = 0;
  std::int64_t least_before_try_ = segments_without_a_timer;
  double rate_before_try_ = 0;
  int calm_ = 0;      // reports without losses in this state
  int patience_ = 0;  // calm reports before more is tried
};

}  // namespace nuice::flow

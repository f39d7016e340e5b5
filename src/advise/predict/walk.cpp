// SPDX-License-Identifier: BSD-3-Clause
// A rank enters a phase when its messages of the previous phase are complete. A short message leaves at once.
// A long message leaves when its receiver has entered the phase too. So each transfer follows from the times
// at which its two ranks enter:
//
//   begin = enter(src) + overhead of all its messages so far             short
//           max(enter(src) + overhead, enter(dst)) + handshake           long
//   end   = begin + beta * bytes, but at both ranks at least the first begin + beta * all bytes of the phase
//   enter(src) >= end,  enter(dst) >= end + latency + overhead           of the next phase
//
// These times ignore that messages of different phases share a port, because ranks drift apart and a receiver
// has few messages at a time. But if a receiver may get more than its queue holds, all messages in flight to
// it share its port evenly, and the messages that find the queue full are counted. If there are any, another
// walk begins, in which each message takes as long as in its receiver's port in the one before. Ranks then
// wait longer for such a receiver, and may reach it one after the other.
#include "advise/predict/walk.hpp"

#include <algorithm>
#include <compare>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "nuice/core/interrupt.hpp"

namespace nuice::advice {
namespace {

struct Arrival {
  double begin_s;
  double wire;
  std::size_t transfer;  // its place in the walk
};

/// The part of a queue that is full to a walk, since its times are not exact. With 0.95 instead of 1, walks
/// miss 4 of 932 exchanges with timeouts instead of 7, and find timeouts in 5 of 1,792 others instead of 1.
constexpr double full = 0.95;

/// A receiver's port and its short queue.
class FullQueue {
 public:
  /// ends_s: by transfer, becomes the time at which the message has left the queue.
  FullQueue(const Machine& machine, std::vector<double>& ends_s) : machine_(machine), ends_s_(ends_s) {}

  /// Returns how many messages find the queue full. They are retransmitted when all other messages have left.
  double turned_away(std::vector<Arrival>& arrivals) {
    if (senders(arrivals.size()) < nearly_full) return 0;
    std::ranges::stable_sort(arrivals, {}, &Arrival::begin_s);
    double turned_away = 0;
    for (const Arrival& arrival : arrivals) {
      move_on(arrival.begin_s);
      const double bytes = (wire_ + arrival.wire) / static_cast<double>(machine_.queue);
      fullness_ = std::max(fullness_, std::min(bytes, senders(in_flight_.size() + 1)));
      if (in_flight_.size() >= static_cast<std::size_t>(machine_.queue_senders) && bytes > full) {
        ++turned_away;
      } else {
        in_flight_.push({moved_ + arrival.wire, arrival.wire, arrival.transfer});
        wire_ += arrival.wire;
      }
    }
    move_on(std::numeric_limits<double>::infinity());
    return turned_away;
  }

  /// Returns how full the queue was at most. At 1 it overflows: it has one message more than queue_senders,
  /// and more than `queue` bytes.
  double fullness() const { return fullness_; }

 private:
  double senders(std::size_t messages) const {
    return static_cast<double>(messages) / (machine_.queue_senders + 1);
  }

  /// Advances the messages in flight to the time until_s, at equal rates. Removes the messages that complete.
  void move_on(double until_s) {
    while (!in_flight_.empty()) {
      const double each_s = machine_.byte_s * static_cast<double>(in_flight_.size());
      const auto [end, wire, transfer] = in_flight_.top();
      const double ends_s = now_s_ + (end - moved_) * each_s;
      if (ends_s > until_s) {
        moved_ += (until_s - now_s_) / each_s;
        break;
      }
      now_s_ = ends_s;
      moved_ = end;
      ends_s_[transfer] = ends_s;
      wire_ -= wire;
      in_flight_.pop();
    }
    now_s_ = until_s;
  }

  struct Flight {
    double end;  // the value of moved_ at which the message is complete
    double wire;
    std::size_t transfer;
    auto operator<=>(const Flight&) const = default;
  };
  const Machine& machine_;
  std::vector<double>& ends_s_;
  std::priority_queue<Flight, std::vector<Flight>, std::greater<>> in_flight_;
  double now_s_ = 0;
  double moved_ = 0;  // the bytes that each message in flight has sent since the beginning
  double wire_ = 0;   // the bytes of all messages in flight
  double fullness_ = 0;
};

class Walk {
 public:
  /// in_port_s: by transfer, the least time that it takes; empty if it is not known.
  Walk(const Machine& machine, const Traits& traits, double send_s, std::vector<double> in_port_s)
      : machine_(machine),
        send_s_(send_s),
        ranks_(traits.ports.size()),
        on_the_way_s_(machine.latency_s + traits.hops * machine.hop_s),
        arrivals_(machine.queue_senders > 0 ? traits.ports.size() : 0),
        in_port_s_(std::move(in_port_s)) {}

  /// Begins the next phase. Ranks enter it with their first message.
  void next_phase() {
    for (const Move& move : moves_) end(move);
    for (const Move& move : moves_)
      for (const Rank rank : {move.src, move.dst}) ranks_[at(rank)].enter_s = ranks_[at(rank)].next_s;
    moves_.clear();
    ++phase_;
  }

  void begin(const Transfer& transfer) {
    RankState& src = entered(transfer.src);
    RankState& dst = entered(transfer.dst);
    const Bytes bytes = transfer.bytes();
    const auto wire = static_cast<double>(wire_bytes(machine_, bytes));
    src.busy_s += send_s_;
    const bool is_long = bytes > machine_.eager_limit;
    const double ready_s = is_long ? std::max(src.busy_s, posted_s(dst)) + machine_.handshake_s : src.busy_s;
    const double begin_s = ready_s + machine_.start_up_s;
    src.out.add(begin_s, wire);
    dst.in.add(begin_s, wire);
    if (!arrivals_.empty()) arrivals_[at(transfer.dst)].push_back({begin_s, wire, transfers_});
    const double in_port_s = in_port_s_.empty() ? 0 : in_port_s_[transfers_];
    ++transfers_;
    const double moving_s = std::max(wire * machine_.byte_s, in_port_s);
    moves_.push_back({transfer.src, transfer.dst, bytes, begin_s, moving_s});
  }

  double seconds() const { return std::ranges::max(ranks_, {}, &RankState::enter_s).enter_s; }

  double timeouts_s() {
    if (arrivals_.empty()) return 0;
    double most = 0;
    in_port_s_.assign(transfers_, 0);
    for (std::vector<Arrival>& arrivals : arrivals_) {
      FullQueue queue(machine_, in_port_s_);
      most = std::max(most, queue.turned_away(arrivals));
      fullness_ = std::max(fullness_, queue.fullness());
      for (const Arrival& arrival : arrivals) {
        double& in_port_s = in_port_s_[arrival.transfer];  // so far the end
        in_port_s = std::max(0.0, in_port_s - arrival.begin_s);
      }
    }
    return most > 0 ? machine_.timeout_s * std::max(1.0, most / machine_.queue_senders) : 0;
  }

  /// Returns how full the fullest queue was. Call timeouts_s() first.
  double fullness() const { return fullness_; }

  /// Takes the times of messages in their receivers' ports, by transfer. Call timeouts_s() first.
  std::vector<double> take_in_port_s() { return std::move(in_port_s_); }

 private:
  /// The bytes that a rank sends or receives in a phase.
  struct Port {
    double first_s = 0;
    double wire = 0;

    void add(double begin_s, double more) {
      first_s = wire > 0 ? std::min(first_s, begin_s) : begin_s;
      wire += more;
    }
  };

  struct RankState {
    std::size_t phase = 0;
    double enter_s = 0;  // when it enters the present phase
    double next_s = 0;   // when it enters the next phase
    double busy_s = 0;   // until then its processor works
    Port out;
    Port in;
  };

  struct Move {
    Rank src;
    Rank dst;
    Bytes bytes;
    double begin_s;
    double moving_s;
  };

  static std::size_t at(Rank rank) { return static_cast<std::size_t>(rank); }

  double posted_s(const RankState& place) const {
    return place.enter_s + machine_.phase_s + machine_.post_receive_s;
  }

  RankState& entered(Rank rank) {
    RankState& place = ranks_[at(rank)];
    if (std::exchange(place.phase, phase_) != phase_) {
      place.busy_s = posted_s(place);
      place.out = place.in = {};
    }
    return place;
  }

  void end(const Move& move) {
    RankState& src = ranks_[at(move.src)];
    RankState& dst = ranks_[at(move.dst)];
    const auto end_s = [&](const Port& port) {
      return std::max(move.begin_s + move.moving_s, port.first_s + port.wire * machine_.byte_s);
    };
    const double arrives_s = end_s(dst.in) + on_the_way_s_;
    const double copy_s =
        arrives_s < posted_s(dst) ? machine_.copy_byte_s * static_cast<double>(move.bytes) : 0;
    dst.busy_s += machine_.receive_overhead_s + copy_s;  // the processor sends first
    src.next_s = std::max(src.next_s, end_s(src.out));
    const double taken_s = std::max(arrives_s, posted_s(dst)) + machine_.receive_overhead_s + copy_s;
    dst.next_s = std::max({dst.next_s, taken_s, dst.busy_s});
  }

  const Machine& machine_;
  std::size_t phase_ = 0;
  double send_s_;
  std::vector<RankState> ranks_;
  std::vector<Move> moves_;  // of the present phase
  double on_the_way_s_;
  std::vector<std::vector<Arrival>> arrivals_;  // by receiver, if queues may overflow
  std::vector<double> in_port_s_;               // by transfer
  std::size_t transfers_ = 0;
  double fullness_ = 0;
};

}  // namespace

Estimate rule_of_phases(const Schedule& schedule, bool at_once, const Traits& t, const Machine& m) {
  Estimate estimate{.phases = static_cast<double>(schedule.num_phases())};
  estimate.phase_bytes = static_cast<double>(phase_bytes(schedule));
  std::vector<double> in_port_s;
  do {
    Walk walk(m, t, m.send_overhead_s + (at_once ? m.async_send_s : 0), std::move(in_port_s));
    for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
      check_interrupt();
      if (phase == 0 || !at_once) walk.next_phase();
      for (const Transfer& transfer : schedule.transfers(phase)) walk.begin(transfer);
    }
    walk.next_phase();
    ++estimate.walks;
    estimate.possible_s = walk.timeouts_s();
    estimate.fullness = walk.fullness();
    estimate.exchange_s = walk.seconds() + estimate.possible_s;
    in_port_s = walk.take_in_port_s();
  } while (estimate.possible_s > 0 && !at_once && estimate.walks < most_walks);
  return estimate;
}

}  // namespace nuice::advice

// SPDX-License-Identifier: BSD-3-Clause
// A rank enters a phase when its messages of the previous phase are complete. A short message leaves at once.
// A long message leaves when its receiver has entered the phase too. So each transfer follows from the times
// at which its two ranks enter:
//
//   begin = enter(src) + overhead                                        short
//           max(enter(src) + overhead, enter(dst)) + handshake           long
//   end   = begin + beta * bytes
//   enter(src) >= end,  enter(dst) >= end + latency + overhead           of the next phase
//
// These times ignore that messages share a port, because ranks drift apart and a receiver has few messages at
// a time. But if a receiver may get more than its queue holds, all messages in flight to it share its port
// evenly, and the messages that find the queue full are counted.
#include "advise/predict/walk.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "nuice/core/interrupt.hpp"

namespace nuice::advice {
namespace {

struct Arrival {
  double begin_s;
  double wire;
};

/// A receiver's port and its short queue.
class FullQueue {
 public:
  explicit FullQueue(const Machine& machine) : machine_(machine) {}

  /// Returns how many messages find the queue full. They are retransmitted when all other messages have left.
  double turned_away(std::vector<Arrival>& arrivals) {
    std::ranges::stable_sort(arrivals, {}, &Arrival::begin_s);
    double turned_away = 0;
    for (const Arrival& arrival : arrivals) {
      move_on(arrival.begin_s);
      const bool is_full = in_flight_.size() >= static_cast<std::size_t>(machine_.queue_senders) &&
                           wire_ + arrival.wire > static_cast<double>(machine_.queue);
      if (is_full) {
        ++turned_away;
      } else {
        in_flight_.emplace(moved_ + arrival.wire, arrival.wire);
        wire_ += arrival.wire;
      }
    }
    return turned_away;
  }

 private:
  /// Advances the messages in flight to the time until_s, at equal rates. Removes the messages that complete.
  void move_on(double until_s) {
    while (!in_flight_.empty()) {
      const double each_s = machine_.byte_s * static_cast<double>(in_flight_.size());
      const auto [end, wire] = in_flight_.top();
      const double ends_s = now_s_ + (end - moved_) * each_s;
      if (ends_s > until_s) {
        moved_ += (until_s - now_s_) / each_s;
        break;
      }
      now_s_ = ends_s;
      moved_ = end;
      wire_ -= wire;
      in_flight_.pop();
    }
    now_s_ = until_s;
  }

  // first: the value of moved_ at which the message is complete; second: its bytes
  using Flight = std::pair<double, double>;
  const Machine& machine_;
  std::priority_queue<Flight, std::vector<Flight>, std::greater<>> in_flight_;
  double now_s_ = 0;
  double moved_ = 0;  // the bytes that each message in flight has sent since the beginning
  double wire_ = 0;   // the bytes of all messages in flight
};

class Walk {
 public:
  Walk(const Machine& machine, const Traits& traits)
      : machine_(machine),
        enter_s_(traits.ports.size(), 0),
        next_s_(traits.ports.size(), 0),
        launch_s_(traits.ports.size(), 0),
        on_the_way_s_(machine.latency_s + traits.hops * machine.hop_s),
        may_overflow_(traits.ports.size()),
        arrivals_(traits.ports.size()) {
    for (std::size_t rank = 0; rank < traits.ports.size(); ++rank) {
      const Load& in = traits.ports[rank].in;
      may_overflow_[rank] = machine.queue_senders > 0 && in.messages > machine.queue_senders &&
                            in.wire > static_cast<double>(machine.queue);
    }
  }

  void phase(const auto& transfers) {
    const double entering_s = machine_.phase_s + machine_.post_receive_s;
    for (const Transfer& transfer : transfers) {
      const auto src = static_cast<std::size_t>(transfer.src);
      launch_s_[src] = enter_s_[src] + entering_s + machine_.send_overhead_s;
    }
    for (const Transfer& transfer : transfers) move(transfer, entering_s);
    for (const Transfer& transfer : transfers)
      for (const Rank rank : {transfer.src, transfer.dst})
        enter_s_[static_cast<std::size_t>(rank)] = next_s_[static_cast<std::size_t>(rank)];
  }

  double seconds() const { return std::ranges::max(enter_s_); }

  double timeouts_s() {
    double most = 0;
    for (std::vector<Arrival>& arrivals : arrivals_)
      most = std::max(most, FullQueue(machine_).turned_away(arrivals));
    return most > 0 ? machine_.timeout_s * std::max(1.0, most / machine_.queue_senders) : 0;
  }

 private:
  void move(const Transfer& transfer, double entering_s) {
    const auto src = static_cast<std::size_t>(transfer.src);
    const auto dst = static_cast<std::size_t>(transfer.dst);
    const Bytes bytes = transfer.bytes();
    const auto wire = static_cast<double>(wire_bytes(machine_, bytes));
    const double posted_s = enter_s_[dst] + entering_s;
    const bool is_long = bytes > machine_.eager_limit;
    const double ready_s =
        is_long ? std::max(launch_s_[src], posted_s) + machine_.handshake_s : launch_s_[src];
    const double begin_s = ready_s + machine_.start_up_s;
    const double end_s = begin_s + wire * machine_.byte_s;
    const double arrives_s = end_s + on_the_way_s_;
    const double copy_s = arrives_s < posted_s ? machine_.copy_byte_s * static_cast<double>(bytes) : 0;
    const double taken_s =  // the processor sends first
        std::max({arrives_s, posted_s, launch_s_[dst]}) + machine_.receive_overhead_s + copy_s;
    next_s_[src] = std::max(next_s_[src], end_s);
    next_s_[dst] = std::max(next_s_[dst], taken_s);
    if (may_overflow_[dst]) arrivals_[dst].push_back({begin_s, wire});
  }

  const Machine& machine_;
  std::vector<double> enter_s_;   // by rank: when it enters the present phase
  std::vector<double> next_s_;    // by rank: when it enters the next phase
  std::vector<double> launch_s_;  // by rank: when its latest message is started
  double on_the_way_s_;
  std::vector<bool> may_overflow_;
  std::vector<std::vector<Arrival>> arrivals_;  // by receiver whose queue may overflow
};

}  // namespace

Estimate rule_of_phases(const Schedule& schedule, const Traits& t, const Machine& m) {
  Walk walk(m, t);
  Estimate estimate{.phases = static_cast<double>(schedule.num_phases())};
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    check_interrupt();
    walk.phase(schedule.transfers(phase));
  }
  estimate.phase_bytes = static_cast<double>(phase_bytes(schedule));
  estimate.possible_s = walk.timeouts_s();
  estimate.exchange_s = walk.seconds() + estimate.possible_s;
  return estimate;
}

}  // namespace nuice::advice

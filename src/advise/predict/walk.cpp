// SPDX-License-Identifier: BSD-3-Clause
// A rank enters a phase when what it sent and received in the one before is complete. A short message leaves at once,
// a long one when its receiver is in the phase too. So each transfer is predicted from when its two ranks enter:
//
//   begin = enter(src) + overhead                                        short
//           max(enter(src) + overhead, enter(dst)) + handshake           long
//   end   = begin + beta * bytes
//   enter(src) >= end,  enter(dst) >= end + latency + overhead           of the next phase
//
// Ports are not shared in this: ranks drift apart, but a receiver has few messages at a time. Where one may have more
// than its queue holds, its messages pass a port that those in flight share evenly, and those that find it full are counted.
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

  /// How many of them are turned away. Those come again when all others have gone.
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
  /// Those in flight move on evenly until then; some come to their end.
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

  using Flight = std::pair<double, double>;  // how far all have moved when it ends, and its bytes
  const Machine& machine_;
  std::priority_queue<Flight, std::vector<Flight>, std::greater<>> in_flight_;
  double now_s_ = 0;
  double moved_ = 0;  // bytes of each
  double wire_ = 0;   // of all in flight
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
  std::vector<double> enter_s_;  // by rank: the present phase; next_s_ the next one
  std::vector<double> next_s_;
  std::vector<double> launch_s_;  // by rank: its latest message
  double on_the_way_s_;
  std::vector<bool> may_overflow_;
  std::vector<std::vector<Arrival>> arrivals_;  // by receiver, of those that may overflow
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

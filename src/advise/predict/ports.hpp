// SPDX-License-Identifier: BSD-3-Clause
// Ports and links of a machine, as the model sees them: numbers that say when each is free again. A transfer moves them on
// by its own time there, from when it begins:
//
//   free = max(free, begin) + time            end = the largest `free` of its ports and links
//
// which is what fair sharing comes to if those that share end together.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "nuice/core/comm_matrix.hpp"
#include "nuice/plan/machine.hpp"

namespace nuice::advice {

inline std::size_t at(Rank rank) { return static_cast<std::size_t>(rank); }

struct Flight {
  double leaves;
  double arrives;
};

struct Ends {
  Rank src;
  Rank dst;
  Bytes bytes;
};

class Ports {
 public:
  /// all_at_once: executor async.
  Ports(const CommMatrix& matrix, const Machine& machine, bool all_at_once)
      : machine_(machine),
        out_(at(matrix.num_ranks())),
        in_(out_.size()),
        whole_(out_.size()),
        before_(out_.size()),
        sending_until_(out_.size()),
        busy_(out_.size()),
        slow_(out_.size(), 1),
        link_(static_cast<std::size_t>(machine.topology->num_links())) {
    if (machine.memory_slowdown > 1) find_slow_ranks(matrix, all_at_once);
  }

  double wire_s(Bytes bytes) const {
    return static_cast<double>(wire_bytes(machine_, bytes)) * machine_.byte_s;
  }
  bool timeouts() const { return timeouts_; }
  /// Remembers when the port is free at the beginning of a phase of its rank.
  void begin_phase(Rank rank) { before_[at(rank)] = whole_[at(rank)]; }

  /// Whether some link is free later than all ports.
  bool links_are_last() const {
    if (link_.empty()) return false;
    return std::ranges::max(link_) > std::max(std::ranges::max(out_), std::ranges::max(in_));
  }

  /// When the ports and links of a transfer are all free.
  double free_at(const Ends& ends) {
    find_route(ends);
    double free = std::max(out_[at(ends.src)], in_[at(ends.dst)]);
    for (const LinkId id : route_) free = std::max(free, link_[static_cast<std::size_t>(id)]);
    return free;
  }

  /// A transfer that is ready to go at `begin`. `together`: with one the other way (pairwise). `beside_s`: the time on the
  /// wire of what the two ends move in addition in this phase, on half-duplex ports.
  Flight fly(const Ends& ends, double begin, bool together, double beside_src_s, double beside_dst_s) {
    const double wire = wire_s(ends.bytes);
    find_route(ends);
    const bool own_ways = machine_.duplex == Duplex::full || (machine_.duplex == Duplex::paired && together);
    if (machine_.sends_at_once == 1) begin = std::max(begin, sending_until_[at(ends.src)]);
    begin = after_timeouts(ends, begin + machine_.start_up_s);
    const double in_s = wire * slow_[at(ends.dst)] * (1 + loss(ends.dst, begin));
    const double out_s = wire * slow_[at(ends.src)];
    double end = begin;
    if (own_ways) {
      end = std::max(take(out_[at(ends.src)], begin, out_s), take(in_[at(ends.dst)], begin, in_s));
    } else {
      end = std::max(share(ends.src, begin, out_s, beside_src_s), share(ends.dst, begin, in_s, beside_dst_s));
    }
    end = take_links(begin, end, wire);
    note_incoming(ends.dst, begin, end);
    sending_until_[at(ends.src)] = end;
    const auto hops = static_cast<double>(route_.size());
    return {end, end + machine_.latency_s + hops * machine_.hop_s};
  }

 private:
  static double take(double& free, double begin, double seconds) {
    return free = std::max(free, begin) + seconds;
  }

  void find_slow_ranks(const CommMatrix& matrix, bool all_at_once) {
    std::vector<double> bytes(slow_.size());
    for (MessageId id = 0; id < matrix.num_messages(); ++id) {
      bytes[at(matrix.src(id))] += static_cast<double>(matrix.bytes(id));
      bytes[at(matrix.dst(id))] += static_cast<double>(matrix.bytes(id));
    }
    for (std::size_t rank = 0; rank < slow_.size(); ++rank) {
      const double held = bytes[rank] * (all_at_once && machine_.async_copies ? 2 : 1);
      const auto limit = static_cast<double>(machine_.memory_limit);
      if (held > limit) slow_[rank] = 1 + (machine_.memory_slowdown - 1) * (1 - limit / held);
    }
  }

  void find_route(const Ends& ends) {
    route_.clear();
    if (!link_.empty() && machine_.routing == Routing::table)
      machine_.topology->append_route(ends.src, ends.dst, route_);
  }

  /// On a port for both ways: what else it moves in this phase goes on meanwhile, until the shorter one has finished.
  double share(Rank rank, double begin, double seconds, double beside_s) {
    const double all = take(whole_[at(rank)], begin, seconds);
    if (beside_s < 0) return all;
    return std::max(begin, before_[at(rank)]) + seconds + std::min(seconds, beside_s);
  }

  /// Messages that are still coming in, from a time without any on.
  struct Busy {
    double since = 0;
    double until = 0;
    double messages = 0;
    double turned_away = 0;
  };

  void note_incoming(Rank dst, double begin, double end) {
    Busy& busy = busy_[at(dst)];
    if (busy.until <= begin) busy = {.since = begin};
    busy.until = std::max(busy.until, end);
    ++busy.messages;
  }

  double others_coming(Rank dst, double begin) const {
    const Busy& busy = busy_[at(dst)];
    if (busy.until <= begin) return 0;
    return busy.messages * (busy.until - std::max(begin, busy.since)) / (busy.until - busy.since);
  }

  double loss(Rank dst, double begin) const {
    if (machine_.loss_most_sending == 0 && machine_.loss_most == 0) return 0;
    const double others = others_coming(dst, begin);
    const bool sending = out_[at(dst)] > begin || whole_[at(dst)] > begin;
    return sending ? std::min(machine_.loss_per_sender_sending * others, machine_.loss_most_sending)
                   : std::min(machine_.loss_per_sender * others, machine_.loss_most);
  }

  /// A short queue lets queue_senders in at a time; the others come again, and again that many at a time.
  double after_timeouts(const Ends& ends, double begin) {
    if (machine_.queue_senders == 0) return begin;
    Busy& busy = busy_[at(ends.dst)];
    const double others = others_coming(ends.dst, begin);
    const double bytes =
        static_cast<double>(wire_bytes(machine_, ends.bytes)) + (busy.until - begin) / machine_.byte_s;
    if (others + 0.5 < machine_.queue_senders || bytes <= static_cast<double>(machine_.queue)) return begin;
    timeouts_ = true;
    const double round = 1 + std::floor(busy.turned_away++ / machine_.queue_senders);
    return std::max(begin + round * machine_.timeout_s, busy.until);
  }

  double take_links(double begin, double end, double wire) {
    for (const LinkId id : route_) {
      const Link link = machine_.topology->link(id);
      const double capacity =
          machine_.switching == Switching::packet ? link.capacity : static_cast<double>(link.slots());
      end = std::max(end, take(link_[static_cast<std::size_t>(id)], begin, wire / capacity));
    }
    return end;
  }

  const Machine& machine_;
  std::vector<double> out_;  // by rank: when the port is free again
  std::vector<double> in_;
  std::vector<double> whole_;
  std::vector<double> before_;  // whole_, at the beginning of the rank's phase
  std::vector<double> sending_until_;
  std::vector<Busy> busy_;
  bool timeouts_ = false;
  std::vector<double> slow_;
  std::vector<double> link_;
  std::vector<LinkId> route_;
};

}  // namespace nuice::advice

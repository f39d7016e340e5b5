// SPDX-License-Identifier: BSD-3-Clause
// The rule. With D the largest degree, B the busiest port's bytes, n ranks, and f what a message costs in addition to its bytes:
//
//   phases        as the scheduler's row expects
//   phase bytes   between B and phases * largest message
//   at once       the processor's work or the port's bytes, whichever is more, and what contention adds
//   in phases     D * f + beta * (B + a share of phase bytes - B); f without latency where partners
//                 have fewer messages
//   forwarded     as in phases, counted from the schedule where there is time to make it
#include "advise/predict/rule.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "nuice/core/interrupt.hpp"
#include "nuice/core/topology.hpp"

namespace nuice::advice {
namespace {

/// Where packets wait for each other, over what all orders take on average: 1.11 and 1.09 times the best (58
/// matrices).
constexpr double without_order = 1.03;

double handshake_s(const Machine& m, double bytes) {
  return bytes > static_cast<double>(m.eager_limit) ? m.handshake_s : 0;
}

/// Without latency and handshake: what it takes of a rank.
double overhead_s(const Machine& m) { return m.send_overhead_s + m.start_up_s + m.receive_overhead_s; }

/// Where nothing is lost each link, and the receiver's port, takes a packet after the one before (plan/packets.hpp).
double route_s(const Machine& m, const Traits& t) {
  const auto packet = static_cast<double>(m.packet_payload + m.packet_header);
  return m.lossless ? (t.hops + 1) * packet * m.byte_s : t.hops * m.hop_s;
}

double message_s(const Machine& m, const Traits& t, double bytes) {
  return overhead_s(m) + handshake_s(m, bytes) + m.latency_s + route_s(m, t);
}

double message_s(const Machine& m, const Traits& t) { return message_s(m, t, t.mean_bytes()); }

double header_share(const Machine& m) {
  return m.packet_payload > 0 ? static_cast<double>(m.packet_header) / static_cast<double>(m.packet_payload)
                              : 0;
}

/// How much more than their bytes messages are on the wire, beyond full packets.
double padding(const Traits& t, const Machine& m) {
  return m.packet_payload > 0 ? t.wire / (t.bytes * (1 + header_share(m))) : 1;
}

/// What full queues cost where that many senders at once send a rank that many bytes on the wire.
double timeouts_s(const Machine& m, double senders, double wire) {
  const bool overflows =
      m.queue_senders > 0 && senders > m.queue_senders && wire > static_cast<double>(m.queue);
  return overflows ? m.timeout_s * (senders / m.queue_senders) : 0;
}

/// That send to the same rank. In phases ranks skip those in which they have no message, and short messages wait for
/// no other rank: all ranks send within as many messages as a rank has on average, and a rank that receives many more
/// has that number of senders at once.
double senders_at_once(const Entry& candidate, const Traits& t) {
  if (candidate.runner->pace == Pace::at_once) return t.in_degree;
  if (!candidate.forwards()) return t.in_degree / std::max(1.0, t.messages / t.ranks);
  const bool one_message = (candidate.planner->guarantees & one_port) != 0;
  return one_message ? 1 : std::min(t.degree, std::sqrt(t.ranks));
}

double at_once_s(const Traits& t, const Machine& m, double link_s) {
  const double work = t.out_degree * (m.send_overhead_s + m.async_send_s) +
                      t.in_degree * (m.receive_overhead_s + m.post_receive_s);
  const double others = std::max(0.0, t.in_degree - 1);
  const double loss = std::min(m.loss_per_sender_sending * others, m.loss_most_sending);
  const double wire = m.duplex == Duplex::full ? t.wire_port : t.wire_both;
  double seconds = wire * m.byte_s * (1 + loss);
  seconds = m.processor_moves_bytes ? seconds + work : std::max(seconds, work);
  seconds = std::max(seconds, link_s);
  if (m.receives_at_once == 1 || m.switching == Switching::circuit) seconds *= 1.6;  // ports wait for ports
  return seconds + message_s(m, t);
}

/// Bytes on the wire that ranks in phases wait for: those of the busiest port, and more where sizes differ in a phase.
double waited_for(double unevenness, const Traits& t, double phases) {
  const double longest = std::min(phases, t.degree) * t.wire_largest;
  return t.wire_port + unevenness * std::clamp(longest - t.wire_port, 0.0, 1.5 * t.wire_port);
}

double in_phases_s(const Traits& t, const Machine& m, double phases, double wire, double link_s) {
  const double active = std::min(phases, t.degree + 2);
  const double halves = m.duplex == Duplex::full ? 1 : 2;
  // Behind partners with fewer messages a rank does not wait: what is eager has come.
  const bool waits = m.duplex == Duplex::paired || handshake_s(m, t.mean_bytes()) > 0;
  const double waiting = waits ? active : std::min(active, t.messages / t.ranks + 2);
  const double fixed = waiting * message_s(m, t) + (active - waiting) * overhead_s(m) + active * m.phase_s +
                       (phases - active) * m.idle_phase_s;
  const bool is_linear = phases > 2 * t.degree;
  const double wait =
      is_linear ? 1.4 : 1.0;  // ranks wait for partners that are in other phases (C_1 of 003 s.5.1)
  return std::max((fixed + halves * wire * m.byte_s) * wait, link_s);
}

double inquiries_s(const Traits& t, const Machine& m) {
  const double inquiry_s = 4 * (m.am_send_s + m.am_latency_s + m.am_handler_s);
  const double halves = m.duplex == Duplex::full ? 1 : 2;
  return 1.4 * (t.degree * (message_s(m, t) + inquiry_s) + halves * t.wire_port * m.byte_s);
}

/// Ports and links hardly stand idle, but for messages too short for notices. A notice replaces a handshake. Where
/// notices keep no links free, messages wait for longer ones in vain: then wire is that of phases.
double noticed_s(const Traits& t, const Machine& m, double wire, double link_s) {
  const double moving_s = at_once_s(t, m, 0) - message_s(m, t);
  return std::max(1.03 * std::max(wire * m.byte_s, link_s), moving_s) +
         2 * (message_s(m, t) - handshake_s(m, t.mean_bytes()));
}

/// On the wire of the busiest port. Half of all bytes leave each rank in each step, and all those of the busiest
/// port pass it; or it has all it sends or receives in both phases, but for what has the right digit already: one
/// of sqrt(n).
double forwarded_bytes(const Traits& t, const Machine& m, double phases, bool one_message) {
  if (one_message) return std::max(phases * std::max(t.bytes / t.ranks * 0.75, t.wire_largest), t.wire_port);
  const double radix = std::sqrt(t.ranks);
  const double packet = m.packet_payload > 0 ? static_cast<double>(m.packet_payload + m.packet_header) : 0;
  const double together =
      t.port * (1 - 1 / radix) * (1 + header_share(m)) + std::min(t.degree, radix) * packet;
  return phases * std::min(t.wire_port, together);
}

/// one_message: a rank sends one in a phase. Otherwise the square root of all ranks, as in two phases
/// (bruck_kport), or as many as it has.
double forwarded_s(const Traits& t, const Machine& m, double phases, double wire, double link_bytes_s,
                   bool one_message) {
  const double halves = m.duplex == Duplex::full ? 1 : 2;
  // A message crosses half of the steps, and links each time.
  const double seconds = std::max(halves * wire * m.byte_s, link_bytes_s * phases / 2);
  const double others = one_message ? 0 : std::min(t.degree, std::sqrt(t.ranks)) - 1;
  return phases * (message_s(m, t) + m.phase_s + others * (m.send_overhead_s + m.receive_overhead_s)) +
         seconds;
}

/// What the ranks and links do in a step of a schedule that forwards.
class Step {
 public:
  Step(const Machine& machine, Rank ranks)
      : machine_(machine),
        out_(static_cast<std::size_t>(ranks)),
        in_(static_cast<std::size_t>(ranks)),
        links_(static_cast<std::size_t>(machine.topology->num_links())) {}

  void add(const Transfer& transfer, Bytes bytes) {
    const auto wire = static_cast<double>(wire_bytes(machine_, bytes));
    for (Port* port :
         {&out_[static_cast<std::size_t>(transfer.src)], &in_[static_cast<std::size_t>(transfer.dst)]}) {
      ++port->transfers;
      port->wire += wire;
    }
    bytes_ += static_cast<double>(bytes);
    ++transfers_;
    if (!links_.empty()) load_links(transfer.src, transfer.dst, wire);
  }

  /// On the wire of the busiest port.
  double wire() const { return most(&Port::wire); }

  double seconds(const Traits& t) const {
    const Machine& m = machine_;
    const double halves = m.duplex == Duplex::full ? 1 : 2;
    const double others = most(&Port::transfers) - 1;
    const double work = others * (m.send_overhead_s + m.receive_overhead_s);
    const double moving = std::max(halves * wire(), link_wire()) * m.byte_s;
    return message_s(m, t, bytes_ / transfers_) + m.phase_s +
           (m.processor_moves_bytes ? work + moving : std::max(work, moving));
  }

  double timeouts_s() const {
    double most = 0;
    for (const Port& port : in_)
      most = std::max(most, advice::timeouts_s(machine_, port.transfers, port.wire));
    return most;
  }

 private:
  struct Port {
    double transfers = 0;
    double wire = 0;
  };

  /// Where it is not known which way a message takes, evenly over a few of them.
  void load_links(Rank src, Rank dst, double wire) {
    constexpr std::int64_t most_ways = 16;
    const Topology& topology = *machine_.topology;
    const std::int64_t paths = machine_.routing == Routing::table ? 1 : topology.num_paths(src, dst);
    const std::int64_t ways = std::min(paths, most_ways);
    route_.clear();
    for (std::int64_t way = 0; way < ways; ++way)
      topology.append_way(src, dst, paths == 1 ? no_path : way * paths / ways, route_);
    for (const LinkId link : route_)
      links_[static_cast<std::size_t>(link)] += wire / static_cast<double>(ways);
  }

  /// On the wire of the busiest link, as a port of full speed would have it.
  double link_wire() const {
    double most = 0;
    for (std::size_t id = 0; id < links_.size(); ++id) {
      const double capacity = machine_.topology->link(static_cast<LinkId>(id)).capacity;
      const bool circuit = machine_.switching == Switching::circuit;  // has a port's speed
      most = std::max(most, links_[id] / (circuit ? std::max(1.0, capacity) : capacity));
    }
    return most;
  }

  double most(double Port::* what) const {
    return std::max(std::ranges::max(out_, {}, what).*what, std::ranges::max(in_, {}, what).*what);
  }

  const Machine& machine_;
  std::vector<Port> out_;  // by rank
  std::vector<Port> in_;
  std::vector<double> links_;  // on the wire
  std::vector<LinkId> route_;
  double bytes_ = 0;
  double transfers_ = 0;
};

}  // namespace

Estimate rule(const Entry& candidate, const Traits& t, const Machine& m, double link_bytes_s) {
  if (t.messages == 0) return {};
  if (candidate.planner == nullptr) return {.exchange_s = inquiries_s(t, m)};
  const Scheduler& row = *candidate.planner;
  const Pace pace = candidate.runner->pace;
  const double phases = std::max(1.0, (*row.expected_phases)(t));
  double wire = waited_for(row.expected_unevenness, t, phases);
  const bool one_message = (row.guarantees & one_port) != 0;
  if (candidate.forwards()) wire = forwarded_bytes(t, m, phases, one_message);
  const double link_s = link_bytes_s * padding(t, m);
  Estimate estimate{.phases = phases, .phase_bytes = phases == 1 ? t.largest : wire};
  if (pace == Pace::at_once) {
    estimate.exchange_s = at_once_s(t, m, link_s);
    if (m.lossless && (row.guarantees & one_port) == 0) estimate.exchange_s *= without_order;
  } else if (pace == Pace::notices) {
    estimate.exchange_s = noticed_s(t, m, m.routing == Routing::table ? t.wire_port : wire, link_s);
  } else if (candidate.forwards()) {
    estimate.exchange_s = forwarded_s(t, m, phases, wire, link_bytes_s, one_message);
  } else {
    estimate.exchange_s = in_phases_s(t, m, phases, wire, link_s);
  }
  const double full_s = timeouts_s(m, senders_at_once(candidate, t), t.wire_in);
  const double timeouts_s = (candidate.forwards() ? phases : 1) * full_s;
  estimate.exchange_s += timeouts_s;
  // What is sent at once surely overflows a queue. In phases that depends on how far ranks are apart.
  estimate.possible_s = pace == Pace::at_once ? timeouts_s - std::min(timeouts_s, m.timeout_s) : timeouts_s;
  return estimate;
}

/// What goes straight leaves in the last phase, where ports wait for what is forwarded.
Estimate rule_of_parts(const Entry& candidate, const Traits& forwarded, const Traits& straight,
                       const Machine& m, double link_bytes_s) {
  const double share = straight.bytes / (forwarded.bytes + straight.bytes);
  Estimate estimate = rule(candidate, forwarded, m, link_bytes_s * (1 - share));
  if (straight.messages == 0) return estimate;
  const double full_s = timeouts_s(m, straight.in_degree, straight.wire_in);
  const double straight_s = at_once_s(straight, m, link_bytes_s * share * padding(straight, m));
  const double last_s = estimate.exchange_s / std::max(1.0, estimate.phases);
  estimate.phases = std::max(1.0, estimate.phases);
  estimate.phase_bytes += straight.wire_largest;
  estimate.exchange_s += std::max(0.0, straight_s - last_s) + full_s;
  estimate.possible_s += full_s;
  return estimate;
}

/// Ranks wait for the busiest port or link of each step.
Estimate rule_of_steps(const Schedule& schedule, const Traits& t, const Machine& m) {
  Estimate estimate{.phases = static_cast<double>(schedule.num_phases())};
  double timeouts_s = 0;
  for (PhaseId phase = 0; phase < schedule.num_phases(); ++phase) {
    check_interrupt();
    Step step(m, schedule.num_ranks());
    for (const Transfer& transfer : schedule.transfers(phase)) step.add(transfer, transfer.bytes());
    estimate.phase_bytes += step.wire();
    estimate.exchange_s += step.seconds(t);
    timeouts_s += step.timeouts_s();
  }
  estimate.exchange_s += timeouts_s;
  estimate.possible_s = timeouts_s;
  return estimate;
}

}  // namespace nuice::advice

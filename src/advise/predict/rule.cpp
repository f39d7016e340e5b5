// SPDX-License-Identifier: BSD-3-Clause
// The rule. Let d be the number of a rank's messages, b their bytes, beta the time of a byte, and f the cost
// of a message in addition to its bytes:
//
//   phases        as the scheduler's row expects
//   phase bytes   between b and phases * largest message
//   at once       the processor's work or the port's bytes, whichever is more, plus the cost of contention
//   in phases     d * f + beta * (b + a share of (phase bytes - b)); f is without latency if the partners
//                 have fewer messages
//   forwarded     as in phases, counted from the schedule if there is time to make it. The phases of shifts
//                 are counted with a sample of messages
//
// The maximum over all ranks is taken. The rank with the most messages may have short ones, so it need not be
// the rank with the most bytes.
#include "advise/predict/rule.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "advise/predict/shifts.hpp"
#include "nuice/core/interrupt.hpp"
#include "nuice/core/topology.hpp"

namespace nuice::advice {
namespace {

/// The factor by which schedules without an order are slower on machines whose packets wait for each other.
/// On 58 matrices, schedules without an order took 1.11 times the best candidate's time on average, and
/// schedules with an order 1.09 times.
constexpr double without_order = 1.03;

double handshake_s(const Machine& m, double bytes) {
  return bytes > static_cast<double>(m.eager_limit) ? m.handshake_s : 0;
}

/// Returns the time that a message costs a rank, without latency and handshake.
double overhead_s(const Machine& m) { return m.send_overhead_s + m.start_up_s + m.receive_overhead_s; }

/// Returns the time on the links of a route. On lossless machines each link, and the receiver's port,
/// forwards a packet only after the previous one (plan/packets.hpp).
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

/// Returns the messages' bytes on the wire, divided by the bytes that they would be in full packets.
double padding(const Traits& t, const Machine& m) {
  return m.packet_payload > 0 ? t.wire / (t.bytes * (1 + header_share(m))) : 1;
}

/// Returns the cost of full queues if `senders` senders at a time send a rank `wire` bytes on the wire.
double timeouts_s(const Machine& m, double senders, double wire) {
  const bool overflows =
      m.queue_senders > 0 && senders > m.queue_senders && wire > static_cast<double>(m.queue);
  return overflows ? m.timeout_s * (senders / m.queue_senders) : 0;
}

/// Returns the maximum of of_port over all ranks.
double most_of_ports(const Traits& t, const auto& of_port) {
  double most = 0;
  for (const Port& port : t.ports) most = std::max(most, of_port(port));
  return most;
}

double eager(const Load& load) { return load.messages - load.late; }

/// Considers a step that sends short messages first. Returns the time from the first rank that has sent its
/// short messages to the last.
double spread_s(const Machine& m, const std::vector<Load>& out) {
  const auto [least, most] = std::ranges::minmax(out, {}, eager);
  return (eager(most) - eager(least)) * m.send_overhead_s;
}

/// Returns the cost of timeouts for a rank in a step that sends short messages first. If spread_s is at most
/// a handshake, all short messages arrive before the long messages. Otherwise one short message arrives per
/// send overhead. It stays in the queue until the port, which also sends long messages, has sent it. Messages
/// come in bursts, so two standard deviations are added to their mean number.
double timeouts_in_step_s(const Machine& m, const Load& in, double spread_s) {
  if (in.late == 0 || m.send_overhead_s == 0) return timeouts_s(m, in.messages, in.wire);
  const double eager_wire = in.wire - in.late_wire;
  if (spread_s <= m.handshake_s)
    return std::max(timeouts_s(m, eager(in), eager_wire), timeouts_s(m, in.late, in.late_wire));
  const double stays_s = eager(in) > 0 ? (in.late + 1) * eager_wire / eager(in) * m.byte_s : 0;
  const double mean = stays_s / m.send_overhead_s;
  return timeouts_s(m, in.late + std::min(eager(in), mean + 2 * std::sqrt(mean)), in.wire);
}

/// Returns the cost of timeouts for executors that send all messages at once.
double timeouts_at_once_s(const Traits& t, const Machine& m) {
  return most_of_ports(t, [&](const Port& p) { return timeouts_s(m, p.in.messages, p.in.wire); });
}

/// Returns the cost of timeouts for executors with phases. Ranks skip phases in which they have no message,
/// and short messages wait for no other rank. So all ranks send their messages in the time that an average
/// rank takes. A rank that receives k times as many messages as the average then has k senders at a time.
double timeouts_in_phases_s(const Traits& t, const Machine& m) {
  const double mean = std::max(1.0, t.messages / t.ranks);
  return most_of_ports(t, [&](const Port& p) { return timeouts_s(m, p.in.messages / mean, p.in.wire); });
}

double at_once_s(const Traits& t, const Machine& m, double link_s) {
  double seconds = most_of_ports(t, [&](const Port& p) {
    const double work = p.out.messages * (m.send_overhead_s + m.async_send_s) +
                        p.in.messages * (m.receive_overhead_s + m.post_receive_s);
    const double others = std::max(0.0, p.in.messages - 1);
    const double loss = std::min(m.loss_per_sender_sending * others, m.loss_most_sending);
    const double wire = m.duplex == Duplex::full ? std::max(p.out.wire, p.in.wire) : p.out.wire + p.in.wire;
    const double moving = wire * m.byte_s * (1 + loss);
    return m.processor_moves_bytes ? moving + work : std::max(moving, work);
  });
  seconds = std::max(seconds, link_s);
  if (m.receives_at_once == 1 || m.switching == Switching::circuit) seconds *= 1.6;  // ports wait for ports
  return seconds + message_s(m, t);
}

/// Returns the bytes on the wire for which a rank with `wire` bytes of its own waits in phases. They are more
/// than `wire` if sizes differ within a phase, because the rank also waits for others.
double waited_for(double unevenness, double wire, double longest) {
  return wire + unevenness * std::clamp(longest - wire, 0.0, 1.5 * wire);
}

double in_phases_s(const Traits& t, const Machine& m, double phases, double unevenness, double link_s) {
  const double halves = m.duplex == Duplex::full ? 1 : 2;
  // In this number of phases, which is about the number of messages of other ranks, partners are in the same
  // phase.
  const double prompt = t.messages / t.ranks + 2;
  const double slowest = most_of_ports(t, [&](const Port& p) {
    const double degree = std::max(p.out.messages, p.in.messages);
    const double active = std::min(phases, degree + 2);
    const double late = std::min(active, std::max(p.out.late, p.in.late));
    // A rank does not wait for partners with fewer messages, because their eager messages have already
    // arrived.
    const double waiting = m.duplex == Duplex::paired ? active : std::min(active, std::max(late, prompt));
    const double longest = std::min(phases, degree) * t.wire_largest;
    const double wire = waited_for(unevenness, std::max(p.out.wire, p.in.wire), longest);
    return waiting * message_s(m, t, 0) + late * m.handshake_s + (active - waiting) * overhead_s(m) +
           active * m.phase_s + (phases - active) * m.idle_phase_s + halves * wire * m.byte_s;
  });
  const bool is_linear = phases > 2 * t.degree;
  const double wait = is_linear ? 1.4 : 1.0;  // for partners in other phases (C_1 of 003 s.5.1)
  return std::max(slowest * wait, link_s);
}

double inquiries_s(const Traits& t, const Machine& m) {
  const double inquiry_s = 4 * (m.am_send_s + m.am_latency_s + m.am_handler_s);
  const double halves = m.duplex == Duplex::full ? 1 : 2;
  return 1.4 * (t.degree * (message_s(m, t) + inquiry_s) + halves * t.wire_port * m.byte_s);
}

/// Returns the exchange time with notifications. Ports and links are almost never idle, unless messages are
/// too short for notifications. A notification replaces a handshake. wire: the bytes of the busiest port. If
/// notifications keep no links free, messages wait in vain for longer messages; wire is then the bytes for
/// which ranks wait in phases.
double noticed_s(const Traits& t, const Machine& m, double wire, double link_s) {
  const double moving_s = at_once_s(t, m, 0) - message_s(m, t);
  return std::max(1.03 * std::max(wire * m.byte_s, link_s), moving_s) +
         2 * (message_s(m, t) - handshake_s(m, t.mean_bytes()));
}

/// Returns the bytes on the wire of the busiest port. With one message per phase, an average rank sends half
/// of its bytes in each step. Which messages meet at a rank is as good as random, so the busiest of n ranks
/// has sqrt(2 ln n) standard deviations more. Otherwise a rank sends or receives all bytes in both phases,
/// except one in sqrt(n) messages, whose digit is right already (n ranks).
double forwarded_bytes(const Traits& t, const Machine& m, double phases, bool one_message) {
  if (one_message) {
    const double mean = t.bytes / t.ranks / 2;
    const double busiest = mean + std::sqrt(2 * std::log(std::max(1.0, t.ranks)) * mean * t.typical);
    return std::max(phases * std::max(busiest, t.wire_largest), t.wire_port);
  }
  const double radix = std::sqrt(t.ranks);
  const double packet = m.packet_payload > 0 ? static_cast<double>(m.packet_payload + m.packet_header) : 0;
  const double together =
      t.port * (1 - 1 / radix) * (1 + header_share(m)) + std::min(t.degree, radix) * packet;
  return phases * std::min(t.wire_port, together);
}

/// Estimates a scheduler that forwards by digits of the distance. It chooses a radix as if every phase cost
/// the same, but ranks without messages skip a phase.
Estimate rule_of_shifts(const Scheduler& row, const Traits& t, const Machine& m, double link_bytes_s) {
  const double phase_s = message_s(m, t) + m.phase_s;
  const double byte_s = (m.duplex == Duplex::full ? 1 : 2) * (1 + header_share(m)) * m.byte_s;
  Shifts best;
  double least_s = std::numeric_limits<double>::infinity();
  for (const std::int64_t radix : (*row.radices)(static_cast<Rank>(t.ranks))) {
    const Shifts shifts = shifts_of(t, radix);
    const double seconds = shifts.phases * phase_s + shifts.bytes * byte_s;
    if (seconds < least_s) best = shifts;
    least_s = std::min(least_s, seconds);
  }
  const double idle_s = (best.phases - best.transfers) * m.idle_phase_s;
  const double moving_s = std::max(best.bytes * byte_s, best.hops * link_bytes_s);
  return {.phases = best.phases,
          .phase_bytes = best.bytes,
          .exchange_s = best.transfers * phase_s + idle_s + moving_s};
}

/// Returns the time of an exchange that forwards messages. one_message: whether a rank sends one message per
/// phase. If not, it sends sqrt(ranks) messages, as in the two phases of bruck_kport, or all its messages if
/// these are fewer.
double forwarded_s(const Traits& t, const Machine& m, double phases, double wire, double link_bytes_s,
                   bool one_message) {
  const double halves = m.duplex == Duplex::full ? 1 : 2;
  // A message is sent in half of the steps, and crosses links in each of them.
  const double seconds = std::max(halves * wire * m.byte_s, link_bytes_s * phases / 2);
  const double others = one_message ? 0 : std::min(t.degree, std::sqrt(t.ranks)) - 1;
  return phases * (message_s(m, t) + m.phase_s + others * (m.send_overhead_s + m.receive_overhead_s)) +
         seconds;
}

/// The load of the ranks and links in one step of a schedule that forwards.
class Step {
 public:
  Step(const Machine& machine, Rank ranks)
      : machine_(machine),
        out_(static_cast<std::size_t>(ranks)),
        in_(static_cast<std::size_t>(ranks)),
        links_(static_cast<std::size_t>(machine.topology->num_links())) {}

  void add(const Transfer& transfer, Bytes bytes) {
    const auto wire = static_cast<double>(wire_bytes(machine_, bytes));
    out_[static_cast<std::size_t>(transfer.src)].add(1, bytes, machine_);
    in_[static_cast<std::size_t>(transfer.dst)].add(1, bytes, machine_);
    bytes_ += static_cast<double>(bytes);
    ++transfers_;
    if (!links_.empty()) load_links(transfer.src, transfer.dst, wire);
  }

  /// Returns the bytes on the wire of the busiest port.
  double wire() const { return most(&Load::wire); }

  double seconds(const Traits& t) const {
    const Machine& m = machine_;
    const double halves = m.duplex == Duplex::full ? 1 : 2;
    const double others = most(&Load::messages) - 1;
    const double work = others * (m.send_overhead_s + m.receive_overhead_s);
    const double moving = std::max(halves * wire(), link_wire()) * m.byte_s;
    return message_s(m, t, bytes_ / transfers_) + m.phase_s +
           (m.processor_moves_bytes ? work + moving : std::max(work, moving));
  }

  double timeouts_s() const {
    double most = 0;
    const double apart_s = spread_s(machine_, out_);
    for (const Load& in : in_) most = std::max(most, timeouts_in_step_s(machine_, in, apart_s));
    return most;
  }

 private:
  /// Adds a message to the links of its route. If its path is unknown, its bytes are spread evenly over a few
  /// paths.
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

  /// Returns the bytes on the wire of the busiest link, scaled to the speed of a port.
  double link_wire() const {
    double most = 0;
    for (std::size_t id = 0; id < links_.size(); ++id) {
      const double capacity = machine_.topology->link(static_cast<LinkId>(id)).capacity;
      const bool circuit = machine_.switching == Switching::circuit;  // has a port's speed
      most = std::max(most, links_[id] / (circuit ? std::max(1.0, capacity) : capacity));
    }
    return most;
  }

  double most(double Load::* what) const {
    return std::max(std::ranges::max(out_, {}, what).*what, std::ranges::max(in_, {}, what).*what);
  }

  const Machine& machine_;
  std::vector<Load> out_;  // by rank
  std::vector<Load> in_;
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
  if (row.radices != nullptr) return rule_of_shifts(row, t, m, link_bytes_s);
  const Pace pace = candidate.runner->pace;
  const double phases = std::max(1.0, (*row.expected_phases)(t));
  double wire = waited_for(row.expected_unevenness, t.wire_port, std::min(phases, t.degree) * t.wire_largest);
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
    estimate.exchange_s = in_phases_s(t, m, phases, row.expected_unevenness, link_s);
  }
  double full_s = 0;
  if (!candidate.forwards()) {
    full_s = pace == Pace::at_once ? timeouts_at_once_s(t, m) : timeouts_in_phases_s(t, m);
  } else if (!one_message) {
    full_s = phases * timeouts_s(m, std::min(t.degree, std::sqrt(t.ranks)), wire / phases);
  }
  estimate.exchange_s += full_s;
  estimate.possible_s = full_s;
  return estimate;
}

/// Direct messages are sent in the last phase. Ports wait for forwarded messages in this phase too.
Estimate rule_of_parts(const Entry& candidate, const Traits& forwarded, const Traits& straight,
                       const Machine& m, double link_bytes_s) {
  const double share = straight.bytes / (forwarded.bytes + straight.bytes);
  Estimate estimate = rule(candidate, forwarded, m, link_bytes_s * (1 - share));
  if (straight.messages == 0) return estimate;
  const auto last_step = [&](Load Port::* side) {
    std::vector<Load> loads;
    for (std::size_t rank = 0; rank < straight.ports.size(); ++rank) {
      loads.push_back(straight.ports[rank].*side);
      const Load& small = forwarded.ports[rank].*side;
      const double transfers = std::min(small.messages, std::sqrt(straight.ranks));
      if (transfers > 0) loads.back().add(transfers, static_cast<Bytes>(small.bytes / transfers), m);
    }
    return loads;
  };
  const double apart_s = spread_s(m, last_step(&Port::out));
  double full_s = 0;
  for (const Load& in : last_step(&Port::in)) full_s = std::max(full_s, timeouts_in_step_s(m, in, apart_s));
  const double straight_s = at_once_s(straight, m, link_bytes_s * share * padding(straight, m));
  const double last_s = estimate.exchange_s / std::max(1.0, estimate.phases);
  estimate.phases = std::max(1.0, estimate.phases);
  estimate.phase_bytes += straight.wire_largest;
  estimate.exchange_s += std::max(0.0, straight_s - last_s) + full_s;
  estimate.possible_s += full_s;
  return estimate;
}

/// In each step ranks wait for the busiest port or link.
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

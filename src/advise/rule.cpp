// SPDX-License-Identifier: BSD-3-Clause
// The rule. With D the largest degree, B the busiest port's bytes, n ranks, and f what a message costs besides its bytes:
//
//   phases        AC 1, LP n - 1, RS_N D + log2 D (003 s.4), colourings D
//   phase bytes   between B and phases * largest message
//   async         the processor's work or the port's bytes, whichever is more, and what contention adds
//   phased        D * f + beta * (B + a share of phase bytes - B)
#include "advise/rule.hpp"

#include <algorithm>

#include "advise/candidates.hpp"

namespace nuice::advice {
namespace {

double log2_up(double value) {
  double levels = 0;
  double reach = 1;
  while (reach < value) {
    reach *= 2;
    ++levels;
  }
  return levels;
}

double power_up(double value) {
  double reach = 1;
  while (reach < value) reach *= 2;
  return reach;
}

bool forwards(std::string_view scheduler) { return scheduler == "rex" || scheduler == "bruck"; }

double phases_of(std::string_view scheduler, const Traits& t) {
  const double d = t.degree;
  if (scheduler == "ac") return 1;
  if (forwards(scheduler)) return log2_up(t.ranks);
  if (scheduler == "lp" || scheduler == "pex" || scheduler == "ps" || scheduler == "bex" || scheduler == "bs")
    return std::min(power_up(t.ranks) - 1, d * t.ranks);
  if (scheduler == "lex" || scheduler == "ls") return t.ranks;
  if (scheduler == "rs_n" || scheduler == "cgm" || scheduler == "gm" || scheduler == "gs" ||
      scheduler == "rs_nh")
    return d + log2_up(d);
  if (scheduler == "birkhoff" || scheduler == "slices") return t.equal_sizes() ? d : d * 6;
  if (scheduler == "rs_nl" || scheduler == "rs_nlh") return d * 1.3;
  return d;
}

/// Where between all phases as long as the largest message (1) and the busiest port's bytes (0).
double unevenness(std::string_view scheduler) {
  if (scheduler == "birkhoff" || scheduler == "slices") return 0;
  if (scheduler == "coloring_by_size" || scheduler == "kpbs" || scheduler == "lpt") return 0.1;
  if (scheduler == "rs_nh" || scheduler == "rs_nlh") return 0.2;
  return 0.7;
}

double message_s(const Machine& m, const Traits& t) {
  const double handshake = t.mean_bytes() > static_cast<double>(m.eager_limit) ? m.handshake_s : 0;
  return m.send_overhead_s + m.start_up_s + handshake + m.latency_s + t.hops * m.hop_s + m.receive_overhead_s;
}

/// How much more than their bytes messages are on the wire, beyond full packets.
double padding(const Traits& t, const Machine& m) {
  if (m.packet_payload == 0) return 1;
  const double header = static_cast<double>(m.packet_header) / static_cast<double>(m.packet_payload);
  return t.wire / (t.bytes * (1 + header));
}

bool overflows(const Traits& t, const Machine& m) {
  return m.queue_senders > 0 && t.in_degree > m.queue_senders && t.wire_in > static_cast<double>(m.queue);
}

double async_s(const Traits& t, const Machine& m, double link_s) {
  const double work = t.out_degree * (m.send_overhead_s + m.async_send_s) +
                      t.in_degree * (m.receive_overhead_s + m.post_receive_s);
  const double others = std::max(0.0, t.in_degree - 1);
  const double loss = std::min(m.loss_per_sender_sending * others, m.loss_most_sending);
  const double wire = m.duplex == Duplex::full ? t.wire_port : t.wire_both;
  double seconds = wire * m.byte_s * (1 + loss);
  seconds = m.processor_moves_bytes ? seconds + work : std::max(seconds, work);
  seconds = std::max(seconds, link_s);
  if (m.receives_at_once == 1 || m.switching == Switching::circuit) seconds *= 1.6;  // ports wait for ports
  if (overflows(t, m)) seconds += m.timeout_s * (t.in_degree / m.queue_senders);
  return seconds + message_s(m, t);
}

/// Bytes on the wire that ranks in phases wait for: those of the busiest port, and more where sizes differ in a phase.
double waited_for(std::string_view scheduler, const Traits& t, double phases) {
  const double longest = std::min(phases, t.degree) * t.wire_largest;
  return t.wire_port + unevenness(scheduler) * std::clamp(longest - t.wire_port, 0.0, 1.5 * t.wire_port);
}

double phased_s(const Traits& t, const Machine& m, double phases, double wire, double link_s) {
  const double active = std::min(phases, t.degree + 2);
  const double halves = m.duplex == Duplex::full ? 1 : 2;
  const double fixed = active * (message_s(m, t) + m.phase_s) + (phases - active) * m.idle_phase_s;
  const bool is_linear = phases > 2 * t.degree;
  const double wait =
      is_linear ? 1.4 : 1.0;  // ranks wait for partners that are in other phases (C_1 of 003 s.5.1)
  return std::max((fixed + halves * wire * m.byte_s) * wait, link_s);
}

double handshakes_s(const Traits& t, const Machine& m) {
  const double inquiry_s = 4 * (m.am_send_s + m.am_latency_s + m.am_handler_s);
  const double halves = m.duplex == Duplex::full ? 1 : 2;
  return 1.4 * (t.degree * (message_s(m, t) + inquiry_s) + halves * t.wire_port * m.byte_s);
}

double credit_s(const Traits& t, const Machine& m, double link_s) {
  const double chunks = t.port_bytes / 3584 + t.degree;
  const double work = 2 * chunks * (m.send_overhead_s + m.receive_overhead_s);
  return std::max(1.2 * std::max(t.wire_port * m.byte_s, link_s), work) + 2 * message_s(m, t);
}

double forwarded_s(const Traits& t, const Machine& m, double phases, double wire, double link_bytes_s) {
  const double halves = m.duplex == Duplex::full ? 1 : 2;
  // A message crosses half of the steps, and links each time.
  const double seconds = std::max(halves * wire * m.byte_s, link_bytes_s * phases / 2);
  return phases * (message_s(m, t) + m.phase_s) + seconds;
}

}  // namespace

Estimate rule(const Candidate& candidate, const Traits& t, const Machine& m, double link_bytes_s) {
  if (t.messages == 0) return {};
  const std::string_view scheduler = candidate.scheduler;
  if (scheduler == drs_n) return {.exchange_s = handshakes_s(t, m)};
  const double phases = std::max(1.0, phases_of(scheduler, t));
  double wire = waited_for(scheduler, t, phases);
  // Half of all bytes leave each rank in each step, in one message.
  if (forwards(scheduler)) wire = phases * std::max(t.bytes / t.ranks * 0.75, t.wire_largest);
  const double link_s = link_bytes_s * padding(t, m);
  Estimate estimate{.phases = phases, .phase_bytes = scheduler == "ac" ? t.largest : wire};
  if (candidate.executor == "async") {
    estimate.exchange_s = async_s(t, m, link_s);
    estimate.timeouts = overflows(t, m);
  } else if (candidate.executor == credit) {
    estimate.exchange_s = credit_s(t, m, link_s);
  } else if (forwards(scheduler)) {
    estimate.exchange_s = forwarded_s(t, m, phases, wire, link_bytes_s);
  } else {
    estimate.exchange_s = phased_s(t, m, phases, wire, link_s);
  }
  if (candidate.executor == "barrier") {
    estimate.exchange_s +=
        phases * (m.barrier_s + log2_up(t.ranks) * m.barrier_level_s) + wire * 0.1 * m.byte_s;
  }
  return estimate;
}

}  // namespace nuice::advice

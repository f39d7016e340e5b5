// SPDX-License-Identifier: BSD-3-Clause
// The rule. With D the largest degree, B the busiest port's bytes, n ranks, and f what a message costs in addition to its bytes:
//
//   phases        as the scheduler's row expects
//   phase bytes   between B and phases * largest message
//   at once       the processor's work or the port's bytes, whichever is more, and what contention adds
//   in phases     D * f + beta * (B + a share of phase bytes - B)
#include "advise/predict/rule.hpp"

#include <algorithm>
#include <cmath>

namespace nuice::advice {
namespace {

/// Where packets wait for each other, over what all orders take on average: 1.11 and 1.09 times the best (58 matrices).
constexpr double without_order = 1.03;

double handshake_s(const Machine& m, const Traits& t) {
  return t.mean_bytes() > static_cast<double>(m.eager_limit) ? m.handshake_s : 0;
}

double message_s(const Machine& m, const Traits& t) {
  const double handshake = handshake_s(m, t);
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
  if (overflows(t, m)) seconds += m.timeout_s * (t.in_degree / m.queue_senders);
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
  const double fixed = active * (message_s(m, t) + m.phase_s) + (phases - active) * m.idle_phase_s;
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

/// Ports and links hardly stand idle, but for messages too short for notices. A notice takes the place of a handshake.
double noticed_s(const Traits& t, const Machine& m, double link_s) {
  const double moving_s = at_once_s(t, m, 0) - message_s(m, t);
  return std::max(1.03 * std::max(t.wire_port * m.byte_s, link_s), moving_s) +
         2 * (message_s(m, t) - handshake_s(m, t));
}

/// one_message: a rank sends one in a phase. Otherwise the square root of all ranks, as in two phases (bruck_kport).
double forwarded_s(const Traits& t, const Machine& m, double phases, double wire, double link_bytes_s,
                   bool one_message) {
  const double halves = m.duplex == Duplex::full ? 1 : 2;
  // A message crosses half of the steps, and links each time.
  const double seconds = std::max(halves * wire * m.byte_s, link_bytes_s * phases / 2);
  const double others = one_message ? 0 : std::sqrt(t.ranks) - 1;
  return phases * (message_s(m, t) + m.phase_s + others * (m.send_overhead_s + m.receive_overhead_s)) +
         seconds;
}

}  // namespace

Estimate rule(const Entry& candidate, const Traits& t, const Machine& m, double link_bytes_s) {
  if (t.messages == 0) return {};
  if (candidate.planner == nullptr) return {.exchange_s = inquiries_s(t, m)};
  const Scheduler& row = *candidate.planner;
  const Pace pace = candidate.runner->pace;
  const double phases = std::max(1.0, (*row.expected_phases)(t));
  double wire = waited_for(row.expected_unevenness, t, phases);
  // Half of all bytes leave each rank in each step, and all those of the busiest port pass it.
  if (candidate.forwards())
    wire = std::max(phases * std::max(t.bytes / t.ranks * 0.75, t.wire_largest), t.wire_port);
  const double link_s = link_bytes_s * padding(t, m);
  Estimate estimate{.phases = phases, .phase_bytes = phases == 1 ? t.largest : wire};
  if (pace == Pace::at_once) {
    estimate.exchange_s = at_once_s(t, m, link_s);
    if (m.lossless && (row.guarantees & one_port) == 0) estimate.exchange_s *= without_order;
    estimate.timeouts = overflows(t, m);
  } else if (pace == Pace::notices) {
    estimate.exchange_s = noticed_s(t, m, link_s);
  } else if (candidate.forwards()) {
    estimate.exchange_s = forwarded_s(t, m, phases, wire, link_bytes_s, (row.guarantees & one_port) != 0);
  } else {
    estimate.exchange_s = in_phases_s(t, m, phases, wire, link_s);
  }
  return estimate;
}

}  // namespace nuice::advice

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
  for (double reach = 1; reach < value; reach *= 2) ++levels;
  return levels;
}

double power_up(double value) {
  double reach = 1;
  while (reach < value) reach *= 2;
  return reach;
}

double phases_of(std::string_view scheduler, const Traits& t) {
  const double d = t.degree;
  if (scheduler == "ac") return 1;
  if (scheduler == "rex") return log2_up(t.ranks);
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

double wire_s(const Machine& m, double bytes) {
  const double header =
      m.packet_payload > 0 ? static_cast<double>(m.packet_header) / static_cast<double>(m.packet_payload) : 0;
  return bytes * (1 + header) * m.byte_s;
}

double async_s(const Traits& t, const Machine& m, double bound_s) {
  const double work = t.out_degree * (m.send_overhead_s + m.async_send_s) +
                      t.in_degree * (m.receive_overhead_s + m.post_receive_s);
  const double others = std::max(0.0, t.in_degree - 1);
  const double loss = std::min(m.loss_per_sender_sending * others, m.loss_most_sending);
  const double bytes = m.duplex == Duplex::full ? t.port_bytes : t.both_bytes;
  double seconds = wire_s(m, bytes) * (1 + loss);
  seconds = m.processor_moves_bytes ? seconds + work : std::max(seconds, work);
  seconds = std::max(seconds, bound_s);
  if (m.receives_at_once == 1 || m.switching == Switching::circuit) seconds *= 1.6;  // ports wait for ports
  const bool overflows =
      m.queue_senders > 0 && t.in_degree > m.queue_senders && t.in_bytes > static_cast<double>(m.queue);
  if (overflows) seconds += m.timeout_s * (t.in_degree / m.queue_senders);
  return std::max(seconds + message_s(m, t), bound_s);
}

double phased_s(std::string_view scheduler, const Traits& t, const Machine& m, const Estimate& estimate,
                double bound_s) {
  const double active = std::min(estimate.phases, t.degree + 2);
  const double halves = m.duplex == Duplex::full ? 1 : 2;
  const double fixed = active * (message_s(m, t) + m.phase_s) + (estimate.phases - active) * m.idle_phase_s;
  const bool is_linear = estimate.phases > 2 * t.degree;
  const double wait =
      is_linear ? 1.4 : 1.0;  // ranks wait for partners that are in other phases (C_1 of 003 s.5.1)
  (void)scheduler;
  return std::max(fixed * wait + halves * wire_s(m, estimate.phase_bytes) * wait, bound_s);
}

}  // namespace

Estimate rule(const Candidate& candidate, const Traits& t, const Machine& m, double bound_s) {
  Estimate estimate;
  if (t.messages == 0) return estimate;
  const std::string_view scheduler = candidate.scheduler;
  if (scheduler == drs_n) {
    estimate.exchange_s =
        1.4 * (t.degree * (message_s(m, t) + 4 * (m.am_send_s + m.am_latency_s + m.am_handler_s)) +
               (m.duplex == Duplex::full ? 1 : 2) * wire_s(m, t.port_bytes));
    return estimate;
  }
  estimate.phases = std::max(1.0, phases_of(scheduler, t));
  const double longest = std::min(estimate.phases, t.degree) * t.largest;
  const double more = std::clamp(longest - t.port_bytes, 0.0, 1.5 * t.port_bytes);
  const double most = t.port_bytes + unevenness(scheduler) * more;
  estimate.phase_bytes = scheduler == "ac" ? t.largest : most;
  if (scheduler == "rex") estimate.phase_bytes = estimate.phases * t.bytes / t.ranks / 2 * 1.5;
  if (candidate.executor == "async") {
    estimate.exchange_s = async_s(t, m, bound_s);
  } else if (candidate.executor == credit) {
    const double chunks = t.port_bytes / 8192 + t.degree;
    const double work = 2 * chunks * (m.send_overhead_s + m.receive_overhead_s);
    estimate.exchange_s = std::max(bound_s * 1.2, work) + 2 * message_s(m, t);
  } else {
    estimate.exchange_s = phased_s(scheduler, t, m, estimate, bound_s);
    if (candidate.executor == "barrier") {
      estimate.exchange_s +=
          estimate.phases * (m.barrier_s + log2_up(t.ranks) * m.barrier_level_s) + wire_s(m, most) * 0.1;
    }
  }
  return estimate;
}

}  // namespace nuice::advice

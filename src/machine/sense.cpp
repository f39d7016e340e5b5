// SPDX-License-Identifier: BSD-3-Clause
#include "machine/sense.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "nuice/core/error.hpp"

namespace nuice {
namespace machine {
namespace {

bool possible(double value) { return value >= 0 && std::isfinite(value); }

bool all_possible(const Machine& m) {
  const auto values = {m.start_up_s,     m.latency_s,         m.hop_s,
                       m.handshake_s,    m.send_overhead_s,   m.receive_overhead_s,
                       m.post_receive_s, m.async_send_s,      m.phase_s,
                       m.idle_phase_s,   m.barrier_s,         m.barrier_level_s,
                       m.byte_s,         m.loss_per_sender,   m.loss_most,
                       m.timeout_s,      m.copy_byte_s,       m.memory_slowdown,
                       m.am_send_s,      m.am_latency_s,      m.am_handler_s,
                       m.am_retry_s,     m.loss_most_sending, m.loss_per_sender_sending};
  return std::ranges::all_of(values, possible) && m.eager_limit >= 0 && m.packet_payload >= 0 &&
         m.packet_header >= 0 && m.buffer_limit >= 0 && m.memory_limit >= 0 && m.sends_at_once >= 0 &&
         m.receives_at_once >= 0 && m.queue_senders >= 0 && m.queue >= 0;
}

}  // namespace

Senseless find_senseless(const Machine& m) {
  if (!m.topology) return {"", "topology", "a machine needs a topology"};
  if (!all_possible(m)) return {"", "", "a time, size or count is negative or not finite"};
  if (m.byte_s <= 0) return {"port", "bandwidth", "a byte must take some time"};
  if (m.packet_header > 0 && m.packet_payload == 0) {
    return {"network", "packet_header", "packet_header without packet_payload: there are no packets"};
  }
  if (m.loss_per_sender > 0 && m.loss_most == 0) {
    return {"receiver", "loss_per_sender", "loss_per_sender needs loss_most above 0"};
  }
  if (m.loss_per_sender_sending > 0 && m.loss_most_sending == 0) {
    return {"receiver", "loss_per_sender_sending", "loss_per_sender_sending needs loss_most_sending above 0"};
  }
  if (m.queue_senders > 0 && m.timeout_s <= 0) {
    return {"receiver", "queue_senders", "queue_senders needs a timeout above 0"};
  }
  if (m.memory_slowdown < 1) return {"memory", "slowdown", "slowdown is below 1"};
  if (m.memory_slowdown > 1 && m.memory_limit == max_bytes)
    return {"memory", "slowdown", "slowdown needs a limit"};
  return {};
}

}  // namespace machine

void require_sense(const Machine& machine) {
  const std::string why = machine::find_senseless(machine).why;
  if (!why.empty()) throw Error(ErrorCode::invalid_argument, "machine " + machine.name + ": " + why);
}

Bytes wire_bytes(const Machine& machine, Bytes bytes) {
  if (machine.packet_payload == 0) return bytes;
  const Bytes packets = bytes / machine.packet_payload + (bytes % machine.packet_payload == 0 ? 0 : 1);
  return packets * (machine.packet_payload + machine.packet_header);
}

}  // namespace nuice

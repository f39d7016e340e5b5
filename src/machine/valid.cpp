// SPDX-License-Identifier: BSD-3-Clause
#include "machine/valid.hpp"

#include <cmath>

#include "core/support/table.hpp"
#include "machine/keys.hpp"
#include "nuice/core/error.hpp"

namespace nuice {
namespace machine {
namespace {

bool is_possible(const Machine& machine, const Key& key) {
  return std::visit(
      [&](const auto& what) {
        if constexpr (!requires { what.member; })
          return true;  // the value is a name
        else {
          const auto value = static_cast<double>(machine.*what.member);
          return value >= 0 && std::isfinite(value);
        }
      },
      key.what);
}

/// Thirty years. Simulations add nanoseconds to elapsed time, and advice compares times. With a longer time,
/// the nanoseconds would be lost by rounding.
constexpr double longest_s = 1e9;

bool is_too_long(const Machine& machine, const Key& key) {
  const auto* const time = std::get_if<key_kinds::Seconds>(&key.what);
  const auto* const time_each = std::get_if<key_kinds::PerByte>(&key.what);
  return (time != nullptr && machine.*time->member > longest_s) ||
         (time_each != nullptr && machine.*time_each->member > longest_s);
}

constexpr core::Named<Duplex> duplexes[] = {
    {"full", Duplex::full}, {"paired", Duplex::paired}, {"half", Duplex::half}};
constexpr core::Named<Switching> switchings[] = {{"packet", Switching::packet},
                                                 {"circuit", Switching::circuit}};
constexpr core::Named<Routing> routings[] = {
    {"table", Routing::table}, {"random", Routing::random}, {"spray", Routing::spray}};

}  // namespace

Fault find_fault(const Machine& m) {
  if (!m.topology) return {"", "topology", "a machine needs a topology"};
  for (const Key& key : keys)
    if (!is_possible(m, key))
      return {key.section, key.name, std::string(key.name) + " is negative or not finite"};
  for (const Key& key : keys)
    if (is_too_long(m, key))
      return {key.section, key.name, std::string(key.name) + " makes for more than 1e9 s, thirty years"};
  if (m.byte_s <= 0) return {"port", "bandwidth", "a byte must take some time"};
  if (m.lossless && (m.switching != Switching::packet || m.duplex != Duplex::full)) {
    return {"network", "lossless",
            "lossless networks have packets, and ports that send and receive at the same time"};
  }
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
  if (m.exchange_saves_s > m.send_overhead_s) {
    return {"processor", "exchange_saves", "exchange_saves is above send_overhead, of which it is a part"};
  }
  if (m.memory_slowdown < 1) return {"memory", "slowdown", "slowdown is below 1"};
  if (m.memory_slowdown > 1 && m.memory_limit == max_bytes)
    return {"memory", "slowdown", "slowdown needs a limit"};
  return {};
}

}  // namespace machine

void require_valid(const Machine& machine) {
  const std::string why = machine::find_fault(machine).why;
  if (!why.empty()) throw Error(ErrorCode::invalid_argument, "machine " + machine.name + ": " + why);
}

std::string_view duplex_name(Duplex duplex) { return core::name_of(machine::duplexes, duplex); }
Duplex find_duplex(std::string_view name) {
  return core::require_row(machine::duplexes, "duplex", name).value;
}
std::string_view switching_name(Switching switching) { return core::name_of(machine::switchings, switching); }
Switching find_switching(std::string_view name) {
  return core::require_row(machine::switchings, "switching", name).value;
}

std::string_view routing_name(Routing routing) { return core::name_of(machine::routings, routing); }
Routing find_routing(std::string_view name) {
  return core::require_row(machine::routings, "routing", name).value;
}

Bytes wire_bytes(const Machine& machine, Bytes bytes) {
  if (machine.packet_payload == 0) return bytes;
  const Bytes packets = bytes / machine.packet_payload + (bytes % machine.packet_payload == 0 ? 0 : 1);
  __extension__ using Wide = __int128;  // because a header may have any size
  const Wide wire = Wide{packets} * (Wide{machine.packet_payload} + machine.packet_header);
  return wire > max_bytes ? max_bytes : static_cast<Bytes>(wire);
}

}  // namespace nuice

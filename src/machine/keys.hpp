// SPDX-License-Identifier: BSD-3-Clause
// All keys of a machine file, in the order in which they are written. The reader (machine_file.cpp) and the
// writer (write_machine.cpp) both use this table, so they always know the same keys.
#pragma once

#include <string_view>
#include <variant>

#include "nuice/plan/machine.hpp"

namespace nuice::machine {

/// The kinds of values. Each kind says which member of Machine holds the value.
namespace key_kinds {

struct Seconds {
  double Machine::* member;
};
struct PerByte {
  double Machine::* member;
  bool above_zero;
};
struct Size {
  Bytes Machine::* member;
};
struct Count {
  int Machine::* member;
};
struct Number {
  double Machine::* member;
  double least;
};
struct Flag {
  bool Machine::* member;
};
/// One of several names. set() throws Error `invalid_argument`, which lists the names.
struct Name {
  std::string_view (*get)(const Machine&);
  void (*set)(Machine&, std::string_view);
};

using Any = std::variant<Seconds, PerByte, Size, Count, Number, Flag, Name>;

}  // namespace key_kinds

struct Key {
  std::string_view section;
  std::string_view name;
  key_kinds::Any what;
};

inline constexpr Key keys[] = {
    {"message", "start_up", key_kinds::Seconds{&Machine::start_up_s}},
    {"message", "latency", key_kinds::Seconds{&Machine::latency_s}},
    {"message", "hop", key_kinds::Seconds{&Machine::hop_s}},
    {"message", "handshake", key_kinds::Seconds{&Machine::handshake_s}},
    {"message", "eager_limit", key_kinds::Size{&Machine::eager_limit}},
    {"processor", "send_overhead", key_kinds::Seconds{&Machine::send_overhead_s}},
    {"processor", "receive_overhead", key_kinds::Seconds{&Machine::receive_overhead_s}},
    {"processor", "post_receive", key_kinds::Seconds{&Machine::post_receive_s}},
    {"processor", "async_send", key_kinds::Seconds{&Machine::async_send_s}},
    {"processor", "phase", key_kinds::Seconds{&Machine::phase_s}},
    {"processor", "idle_phase", key_kinds::Seconds{&Machine::idle_phase_s}},
    {"processor", "exchange_saves", key_kinds::Seconds{&Machine::exchange_saves_s}},
    {"processor", "barrier", key_kinds::Seconds{&Machine::barrier_s}},
    {"processor", "barrier_level", key_kinds::Seconds{&Machine::barrier_level_s}},
    {"port", "bandwidth", key_kinds::PerByte{&Machine::byte_s, true}},
    {"port", "sends_at_once", key_kinds::Count{&Machine::sends_at_once}},
    {"port", "receives_at_once", key_kinds::Count{&Machine::receives_at_once}},
    {"port", "duplex",
     key_kinds::Name{[](const Machine& m) { return duplex_name(m.duplex); },
                     [](Machine& m, std::string_view name) { m.duplex = find_duplex(name); }}},
    {"port", "processor_moves_bytes", key_kinds::Flag{&Machine::processor_moves_bytes}},
    {"network", "switching",
     key_kinds::Name{[](const Machine& m) { return switching_name(m.switching); },
                     [](Machine& m, std::string_view name) { m.switching = find_switching(name); }}},
    {"network", "routing",
     key_kinds::Name{[](const Machine& m) { return routing_name(m.routing); },
                     [](Machine& m, std::string_view name) { m.routing = find_routing(name); }}},
    {"network", "lossless", key_kinds::Flag{&Machine::lossless}},
    {"network", "holds_while_waiting", key_kinds::Flag{&Machine::holds_while_waiting}},
    {"network", "packet_payload", key_kinds::Size{&Machine::packet_payload}},
    {"network", "packet_header", key_kinds::Size{&Machine::packet_header}},
    {"receiver", "loss_per_sender", key_kinds::Number{&Machine::loss_per_sender, 0}},
    {"receiver", "loss_most", key_kinds::Number{&Machine::loss_most, 0}},
    {"receiver", "loss_per_sender_sending", key_kinds::Number{&Machine::loss_per_sender_sending, 0}},
    {"receiver", "loss_most_sending", key_kinds::Number{&Machine::loss_most_sending, 0}},
    {"receiver", "queue_senders", key_kinds::Count{&Machine::queue_senders}},
    {"receiver", "queue", key_kinds::Size{&Machine::queue}},
    {"receiver", "timeout", key_kinds::Seconds{&Machine::timeout_s}},
    {"memory", "copy", key_kinds::PerByte{&Machine::copy_byte_s, false}},
    {"memory", "copies_parts", key_kinds::Flag{&Machine::copies_parts}},
    {"memory", "buffer_limit", key_kinds::Size{&Machine::buffer_limit}},
    {"memory", "limit", key_kinds::Size{&Machine::memory_limit}},
    {"memory", "slowdown", key_kinds::Number{&Machine::memory_slowdown, 1}},
    {"memory", "async_copies", key_kinds::Flag{&Machine::async_copies}},
    {"active_message", "send", key_kinds::Seconds{&Machine::am_send_s}},
    {"active_message", "latency", key_kinds::Seconds{&Machine::am_latency_s}},
    {"active_message", "handler", key_kinds::Seconds{&Machine::am_handler_s}},
    {"active_message", "retry", key_kinds::Seconds{&Machine::am_retry_s}},
    {"active_message", "entry", key_kinds::Seconds{&Machine::am_entry_s}},
    {"control", "word", key_kinds::Seconds{&Machine::control_word_s}},
    {"control", "sum", key_kinds::Seconds{&Machine::control_sum_s}},
    {"calibration", "worst_check", key_kinds::Number{&Machine::worst_check, 0}},
    {"planning", "slowdown", key_kinds::Number{&Machine::planning_slowdown, 0}},
};

}  // namespace nuice::machine

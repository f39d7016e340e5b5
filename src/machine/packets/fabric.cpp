// SPDX-License-Identifier: BSD-3-Clause
#include "machine/packets/fabric.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "nuice/core/error.hpp"

namespace nuice::machine {
namespace {

constexpr double most_buffered = 2147483648.0;
constexpr double most_queues = 268435456.0;

}  // namespace

Fabric::Fabric(const Routes& routes, Queueing queueing, int buffer_packets)
    : queueing_(queueing),
      hops_(routes.hops()),
      lane_bits_(std::bit_width(static_cast<unsigned>(routes.virtual_lanes() - 1))) {
  lay_cables(routes);
  lay_outputs(routes);
  const std::size_t places = switch_of_.size() << lane_bits_;
  const double buffered = static_cast<double>(places) * buffer_packets;
  if (buffered > most_buffered) throw Error(ErrorCode::limit, "more than 2^31 packets in buffers");
  room_.assign(places, static_cast<std::uint32_t>(buffer_packets));
  packets_.resize(static_cast<std::size_t>(buffered));
  for (std::size_t i = 0; i < packets_.size(); ++i)
    packets_[i].next = i + 1 < packets_.size() ? static_cast<std::uint32_t>(i + 1) : none;
  free_packet_ = packets_.empty() ? none : 0;
  free_at_.assign(switch_of_.size(), 0);
  taken_in_.assign(switch_of_.size(), 0);
  moves_.reserve(outputs_.size() + switch_of_.size() + cable_of_port_.size());
}

/// Makes the cables. Cables that lead to the same switch have consecutive numbers, in the order of their
/// wires.
void Fabric::lay_cables(const Routes& routes) {
  const auto wires = routes.wires();
  switches_.resize(static_cast<std::size_t>(routes.num_vertices()));
  first_cable_.assign(wires.size(), none);
  num_cables_.assign(wires.size(), 1);
  for (WireId id = 0; id < wires.size(); ++id) {
    num_cables_[id] =
        static_cast<std::uint32_t>(std::max(1.0, std::ceil(std::min(wires[id].capacity, 65536.0))));
    if (wires[id].to != no_rank)
      switches_[static_cast<std::size_t>(wires[id].to)].num_cables += num_cables_[id];
  }
  std::uint32_t next = 0;
  for (Switch& at : switches_) {
    at.first_cable = next;
    next += at.num_cables;
    at.num_words = ((at.num_cables << lane_bits_) + 63) / 64;
  }
  switch_of_.resize(next);
  std::vector<std::uint32_t> used(switches_.size(), 0);
  for (WireId id = 0; id < wires.size(); ++id) {
    if (wires[id].to == no_rank) continue;
    const auto to = static_cast<std::size_t>(wires[id].to);
    first_cable_[id] = switches_[to].first_cable + used[to];
    used[to] += num_cables_[id];
    for (std::uint32_t i = 0; i < num_cables_[id]; ++i)
      switch_of_[first_cable_[id] + i] = static_cast<std::uint32_t>(to);
    if (wires[id].from == no_rank) cable_of_port_.push_back(first_cable_[id]);
  }
}

void Fabric::lay_outputs(const Routes& routes) {
  const auto wires = routes.wires();
  output_of_.assign(wires.size(), none);
  for (const Wire& wire : wires)
    if (wire.from != no_rank) ++switches_[static_cast<std::size_t>(wire.from)].num_outputs;
  std::uint32_t next = 0;
  for (Switch& at : switches_) {
    at.first_output = next;
    next += at.num_outputs;
  }
  outputs_.resize(next);
  std::vector<std::uint32_t> used(switches_.size(), 0);
  std::size_t words = 0;
  double queues = queueing_ == Queueing::fifo ? static_cast<double>(switch_of_.size() << lane_bits_) : 0;
  for (WireId id = 0; id < wires.size(); ++id) {
    if (wires[id].from == no_rank) continue;
    const auto from = static_cast<std::size_t>(wires[id].from);
    const Switch& at = switches_[from];
    output_of_[id] = at.first_output + used[from]++;
    Output& output = outputs_[output_of_[id]];
    output.wire = id;
    output.first_cable = first_cable_[id];
    output.num_cables = num_cables_[id];
    output.interval = num_cables_[id] / wires[id].capacity;
    output.first_word = words;
    words += at.num_words;
    if (queueing_ == Queueing::fifo) continue;
    output.first_queue = static_cast<std::uint32_t>(queues);
    queues += static_cast<double>(at.num_cables << lane_bits_);
    if (queues > most_queues) throw Error(ErrorCode::limit, "voq: more than 2^28 queues");
  }
  wanted_.assign(words, 0);
  queues_.resize(static_cast<std::size_t>(queues));
}

std::uint32_t Fabric::make_packet(std::uint32_t transfer, std::uint32_t hop) {
  if (free_packet_ == none) {  // the constructor made packets for all buffers; notices need more
    free_packet_ = static_cast<std::uint32_t>(packets_.size());
    packets_.push_back({0, 0, none});
  }
  const std::uint32_t packet = free_packet_;
  free_packet_ = packets_[packet].next;
  packets_[packet] = {transfer, hop, none};
  ++num_packets_;
  return packet;
}

void Fabric::inject(Rank rank, std::uint32_t transfer, std::uint32_t first_hop) {
  const std::uint32_t packet = make_packet(transfer, first_hop);
  moves_.push_back({packet, none, none, none, cable_of_port(rank)});
}

void Fabric::inject_notice(Rank rank, std::uint32_t notice, std::uint32_t first_hop) {
  const std::uint32_t packet = make_packet(notice | notice_bit, first_hop + 1);
  append(packet, (cable_of_port(rank) << lane_bits_) + hops_[first_hop].lane);
}

std::uint32_t Fabric::take_notice(First first) {
  Queue& queue = queues_[first.queue];
  const std::uint32_t notice = queue.first;
  queue.first = packets_[notice].next;
  if (queue.first == none)
    queue.last = none;
  else
    show_first(first.queue, first.from);
  return notice;
}

/// Moves a notice to its next place. Returns true if it has arrived.
bool Fabric::goes_out(std::uint32_t notice) {
  const Hop hop = hops_[packets_[notice].hop];
  const std::uint32_t cable = first_cable_[hop.wire];
  if (cable == none) {
    forget(notice);
    return true;
  }
  ++packets_[notice].hop;
  append(notice, (cable << lane_bits_) + hop.lane);
  return false;
}

void Fabric::arbitrate() {
  for (const Switch& at : switches_) {
    if (at.num_packets == 0) continue;
    // The first output rotates. Otherwise an input that several outputs want would always go to the same
    // output.
    const auto turn = static_cast<std::uint32_t>(slot_ % at.num_outputs);
    for (std::uint32_t i = turn; i < at.num_outputs; ++i) serve(at, at.first_output + i);
    for (std::uint32_t i = 0; i < turn; ++i) serve(at, at.first_output + i);
  }
}

void Fabric::serve(const Switch& at, std::uint32_t id) {
  const Output& output = outputs_[id];
  const std::uint64_t* const words = wanted_.data() + output.first_word;
  bool any = false;
  for (std::uint32_t i = 0; i < at.num_words && !any; ++i) any = words[i] != 0;
  if (!any) return;
  if (output.first_cable == none) {
    take_next(at, id, none);
    return;
  }
  const auto now = static_cast<double>(slot_);
  for (std::uint32_t i = 0; i < output.num_cables; ++i) {
    const std::uint32_t cable = output.first_cable + i;
    double& free_at = free_at_[cable];
    if (free_at > now) continue;
    if (!take_next(at, id, cable)) return;
    free_at = (free_at > now - 1 ? free_at : now) + output.interval;
  }
}

/// Takes a packet that can move. Begins the search at the output's turn.
bool Fabric::take_next(const Switch& at, std::uint32_t id, std::uint32_t cable) {
  Output& output = outputs_[id];
  const std::uint64_t* const words = wanted_.data() + output.first_word;
  std::uint32_t word = output.turn / 64;
  std::uint64_t bits = words[word] & (~std::uint64_t{0} << (output.turn % 64));
  for (std::uint32_t seen = 0;; ++seen) {
    while (bits != 0) {
      const std::uint32_t place = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
      bits &= bits - 1;
      const std::uint32_t from = at.first_cable + (place >> lane_bits_);
      if (taken_in_[from] == slot_ + 1) continue;
      const std::uint32_t queue = queue_of(output, at, place);
      const std::uint32_t packet = queues_[queue].first;
      if (cable != none && room_[(cable << lane_bits_) + hops_[packets_[packet].hop].lane] == 0) continue;
      taken_in_[from] = slot_ + 1;
      output.turn = place + 1 < at.num_words * 64 ? place + 1 : 0;
      moves_.push_back({packet, (at.first_cable << lane_bits_) + place, queue, id, cable});
      return true;
    }
    if (seen == at.num_words) return false;
    word = word + 1 < at.num_words ? word + 1 : 0;
    bits = words[word];
    if (seen + 1 == at.num_words) bits &= ~(~std::uint64_t{0} << (output.turn % 64));
  }
}

void Fabric::want(std::uint32_t output, std::uint32_t place, bool wanted) {
  std::uint64_t& word = wanted_[outputs_[output].first_word + place / 64];
  const std::uint64_t bit = std::uint64_t{1} << (place % 64);
  word = wanted ? word | bit : word & ~bit;
}

void Fabric::leave(const Move& move) {
  if (move.from == none) return;
  const std::uint32_t cable = move.from >> lane_bits_;
  Switch& at = switches_[switch_of_[cable]];
  const std::uint32_t place = move.from - (at.first_cable << lane_bits_);
  Queue& queue = queues_[move.queue];
  queue.first = packets_[move.packet].next;
  --at.num_packets;
  ++room_[move.from];
  if (queueing_ == Queueing::voq && queue.first != none && !is_notice(queue.first)) return;
  want(move.output, place, false);
  if (queue.first == none)
    queue.last = none;
  else
    show_first(move.queue, move.from);
}

/// Registers the first packet of a queue with its output. A notice is registered with the notices instead,
/// which need no output.
void Fabric::show_first(std::uint32_t queue, std::uint32_t from) {
  const std::uint32_t first = queues_[queue].first;
  if (is_notice(first)) {
    notices_.push_back({queue, from});
    return;
  }
  const Switch& at = switches_[switch_of_[from >> lane_bits_]];
  want(output_of_[hops_[packets_[first].hop].wire], from - (at.first_cable << lane_bits_), true);
}

/// Appends a packet to the queue for its next output at place `to`.
void Fabric::append(std::uint32_t packet, std::uint32_t to) {
  const Switch& at = switches_[switch_of_[to >> lane_bits_]];
  const Output& next = outputs_[output_of_[hops_[packets_[packet].hop].wire]];
  const std::uint32_t id = queue_of(next, at, to - (at.first_cable << lane_bits_));
  Queue& queue = queues_[id];
  packets_[packet].next = none;
  if (queue.last == none) {
    queue.first = queue.last = packet;
    show_first(id, to);
    return;
  }
  packets_[queue.last].next = packet;
  queue.last = packet;
}

void Fabric::forget(std::uint32_t packet) {
  packets_[packet].next = free_packet_;
  free_packet_ = packet;
  --num_packets_;
}

/// Moves a packet into the next buffer. Returns true if it has arrived.
bool Fabric::enter(const Move& move) {
  ++packet_hops_;
  Packet& packet = packets_[move.packet];
  if (move.cable == none) {
    forget(move.packet);
    return true;
  }
  const std::uint32_t to = (move.cable << lane_bits_) + hops_[packet.hop].lane;
  --room_[to];
  ++packet.hop;
  ++switches_[switch_of_[move.cable]].num_packets;
  append(move.packet, to);
  return false;
}

}  // namespace nuice::machine

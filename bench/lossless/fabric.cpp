// SPDX-License-Identifier: BSD-3-Clause
#include "lossless/fabric.hpp"

#include <algorithm>
#include <cmath>

namespace nuice::lossless {

Fabric::Fabric(const Cabling& cabling, const Rules& rules)
    : cabling_(cabling),
      rules_(rules),
      num_lanes_(cabling.num_lanes()),
      switches_(cabling.num_switches()),
      cards_(static_cast<std::size_t>(cabling.num_hosts())) {
  for (const Wire& wire : cabling.wires()) {
    const auto id = static_cast<std::uint32_t>(lines_.size());
    Line line{wire.from, wire.to, 8e9 / (rules.bits_per_s * wire.speed), no_rank, 0};
    if (wire.from == outside) line.host = static_cast<Rank>(id - cabling.port_of(0));
    if (wire.to != outside) switches_[static_cast<std::size_t>(wire.to)].inputs.push_back(id);
    if (wire.from != outside) {
      auto& outputs = switches_[static_cast<std::size_t>(wire.from)].outputs;
      line.number = static_cast<std::uint32_t>(outputs.size());
      outputs.push_back(id);
      most_outputs_ = std::max(most_outputs_, outputs.size());
    }
    lines_.push_back(line);
  }
  places_.resize(lines_.size() * num_lanes_);
  queues_.resize(places_.size() * (rules.voq ? most_outputs_ : 1));
}

Fabric::FlowId Fabric::add_flow(Rank src, Rank dst, std::int64_t path) {
  flows_.push_back({src, dst, cabling_.way(src, dst, path)});
  return static_cast<FlowId>(flows_.size() - 1);
}

void Fabric::take_path(FlowId id, std::int64_t path) {
  SendingFlow& flow = flows_[id];
  const auto load = [&](std::int64_t of) {
    std::uint32_t sum = 0;
    for (const Hop& hop : cabling_.way(flow.src, flow.dst, of)) {
      sum += places_[place(hop.wire, hop.lane)].used + (lines_[hop.wire].busy ? 1 : 0);
    }
    return sum;
  };
  if (path == no_path)
    for (std::int64_t other = 0; other < cabling_.num_paths(flow.src, flow.dst); ++other)
      if (load(other) < load(path)) path = other;
  flow.way = cabling_.way(flow.src, flow.dst, path);
}

void Fabric::send(FlowId id, std::uint32_t bytes, std::uint32_t tag, Time now) {
  if (free_packet_ == none) {
    free_packet_ = static_cast<std::uint32_t>(packets_.size());
    packets_.push_back({0, 0, 0, nullptr, none});
  }
  const std::uint32_t packet = free_packet_;
  free_packet_ = packets_[packet].next;
  SendingFlow& flow = flows_[id];
  packets_[packet] = {id, tag, bytes, flow.way.data(), none};
  Card& card = cards_[static_cast<std::size_t>(flow.src)];
  if (flow.queue.first == none) card.active.push_back(id);
  push(flow.queue, packet);
  ++card.waiting;
  ++flow.inside;
  ++sent_;
  now_ = std::max(now_, now);
  due(cabling_.port_of(flow.src));
  serve_all();
}

std::uint64_t Fabric::inside() const {
  std::uint64_t count = 0;
  for (const Card& card : cards_) count += card.waiting;
  for (const Place& at : places_) count += at.used;
  for (const Line& line : lines_) count += line.to == outside && line.busy ? 1 : 0;
  // With cut-through, a packet occupies two places while its tail follows its head.
  std::uint64_t twice = 0;
  auto events = events_;
  for (; !events.empty(); events.pop())
    if (events.top().packet != none && events.top().from != none) ++twice;
  return count - twice;
}

Time Fabric::takes(std::uint32_t wire, std::uint32_t bytes) const {
  return std::llround(bytes * lines_[wire].ns_per_byte);
}

void Fabric::push(Queue& queue, std::uint32_t packet) {
  packets_[packet].next = none;
  (queue.last == none ? queue.first : packets_[queue.last].next) = packet;
  queue.last = packet;
}

std::uint32_t Fabric::pop(Queue& queue) {
  const std::uint32_t packet = queue.first;
  queue.first = packets_[packet].next;
  if (queue.first == none) queue.last = none;
  return packet;
}

void Fabric::happens(const Event& event) {
  if (event.frees_input) {
    const auto input = static_cast<std::uint32_t>(event.from / num_lanes_);
    lines_[input].reading = false;
    if (!rules_.voq) offer(input);
  }
  if (event.packet == none) return;
  lines_[event.over].busy = false;
  due(event.over);
  if (event.from != none) leave(event.from);
  if (event.enters) enter(event.packet, event.over);
}

/// Serves all ports until no further transmission can begin now.
void Fabric::serve_all() {
  for (std::size_t i = 0; i < due_.size(); ++i) {  // NOLINT(modernize-loop-convert): serve() adds some
    const std::uint32_t output = due_[i];
    lines_[output].is_due = false;
    serve(output);
  }
  due_.clear();
}

void Fabric::serve(std::uint32_t output) {
  Line& line = lines_[output];
  if (line.busy) return;
  if (line.from == outside) return serve_card(output);
  const auto& inputs = switches_[static_cast<std::size_t>(line.from)].inputs;
  const auto count = static_cast<std::uint32_t>(inputs.size() * num_lanes_);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t at = line.turn + i < count ? line.turn + i : line.turn + i - count;
    if (!try_input(output, inputs[at / num_lanes_], at % num_lanes_)) continue;
    line.turn = at + 1 < count ? at + 1 : 0;
    return;
  }
}

bool Fabric::try_input(std::uint32_t output, std::uint32_t input, std::uint32_t lane) {
  if (lines_[input].reading && !rules_.voq) return false;
  Queue& queue = queues_[queue_of(input, lane, output)];
  if (queue.first == none) return false;
  const Packet& packet = packets_[queue.first];
  if (packet.hop->wire != output || !may_enter(*packet.hop)) return false;
  start(pop(queue), static_cast<std::uint32_t>(place(input, lane)), input);
  return true;
}

/// Sends a packet of the next flow whose lane has room.
void Fabric::serve_card(std::uint32_t port) {
  Card& card = cards_[static_cast<std::size_t>(lines_[port].host)];
  for (std::size_t i = 0; i < card.active.size(); ++i) {
    if (card.turn >= card.active.size()) card.turn = 0;
    Queue& queue = flows_[card.active[card.turn]].queue;
    if (!may_enter(*packets_[queue.first].hop)) {
      ++card.turn;
      continue;
    }
    const std::uint32_t packet = pop(queue);
    --card.waiting;
    if (queue.first == none)
      card.active.erase(card.active.begin() + static_cast<std::ptrdiff_t>(card.turn));
    else
      ++card.turn;
    start(packet, none, none);
    return;
  }
}

bool Fabric::may_enter(const Hop& hop) const {
  if (lines_[hop.wire].to == outside) return true;
  const Place& at = places_[place(hop.wire, hop.lane)];
  return rules_.flow == Flow::pfc ? !at.paused : at.used < rules_.buffer;
}

void Fabric::start(std::uint32_t id, std::uint32_t from, std::uint32_t input) {
  const Packet& packet = packets_[id];
  const Hop hop = *packet.hop;
  Line& line = lines_[hop.wire];
  line.busy = true;
  const Time tail = now_ + takes(hop.wire, packet.bytes);
  bool frees_input = false;
  if (from != none) {
    lines_[input].reading = true;
    const Time read = now_ + takes(input, packet.bytes);
    frees_input = read >= tail;  // bytes that the output has not taken are still in the input
    if (!frees_input) events_.push({read, order_++, none, from, hop.wire, true, false, false});
  }
  const bool arrives = line.to == outside;
  bool enters = !arrives;
  if (!arrives) {
    Place& at = places_[place(hop.wire, hop.lane)];
    ++at.used;
    most_buffered_ = std::max(most_buffered_, at.used);
    if (at.used >= rules_.buffer / 2) at.paused = true;
    const double next = lines_[packet.hop[1].wire].ns_per_byte;
    if (rules_.cut_through && next >= line.ns_per_byte) {
      enter(id, hop.wire);
      enters = false;
    }
  }
  events_.push({tail, order_++, id, from, hop.wire, frees_input, enters, arrives});
}

void Fabric::enter(std::uint32_t id, std::uint32_t wire) {
  Packet& packet = packets_[id];
  const std::uint32_t lane = packet.hop->lane;
  ++packet.hop;
  const std::uint32_t output = packet.hop->wire;
  push(queues_[queue_of(wire, lane, output)], id);
  due(output);
}

void Fabric::leave(std::uint32_t from) {
  Place& at = places_[from];
  --at.used;
  if (at.used <= rules_.buffer / 4) at.paused = false;
  due(from / num_lanes_);
}

/// Offers the first packets of the input's lanes to the outputs that they need.
void Fabric::offer(std::uint32_t input) {
  for (std::uint32_t lane = 0; lane < num_lanes_; ++lane) {
    const std::uint32_t first = queues_[place(input, lane)].first;
    if (first != none) due(packets_[first].hop->wire);
  }
}

void Fabric::due(std::uint32_t wire) {
  if (lines_[wire].is_due) return;
  lines_[wire].is_due = true;
  due_.push_back(wire);
}

void Fabric::forget(std::uint32_t id) {
  ++delivered_;
  --flows_[packets_[id].flow].inside;
  packets_[id].next = free_packet_;
  free_packet_ = id;
}

}  // namespace nuice::lossless

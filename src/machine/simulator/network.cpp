// SPDX-License-Identifier: BSD-3-Clause
#include "machine/simulator/network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "machine/simulator/program.hpp"
#include "nuice/core/error.hpp"

namespace nuice::machine {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

bool has_room(int limit, int in_use) { return limit == 0 || in_use < limit; }

}  // namespace

void require_few(std::uint64_t repeats, const char* what) {
  constexpr std::uint64_t most = std::uint64_t{1} << 22;
  if (repeats > most)
    throw Error(ErrorCode::limit, "the simulation has seen " + std::to_string(most) + " " + what);
}

Network::Network(const Machine& machine, std::vector<double> slowdown, Events& events, Watcher& watcher)
    : machine_(machine),
      num_ranks_(static_cast<Rank>(slowdown.size())),
      speed_(1 / machine.byte_s),
      slowdown_(std::move(slowdown)),
      events_(events),
      watcher_(watcher),
      rates_(capacities()),
      ports_(slowdown_.size()),
      incoming_(slowdown_.size()) {
  if (!circuits()) return;
  wires_.resize(at(machine.topology->num_links()));
  for (LinkId id = 0; id < machine.topology->num_links(); ++id) {
    wires_[at(id)].free = std::max(1, static_cast<int>(std::min(1e9, machine.topology->link(id).capacity)));
  }
}

/// Returns the capacities of receive ports, send ports, whole ports (both directions together), and links.
std::vector<double> Network::capacities() const {
  std::vector<double> result;
  for (int kind = 0; kind < 3; ++kind) {
    for (const double slowdown : slowdown_) result.push_back(speed_ / slowdown);
  }
  if (circuits()) return result;
  for (LinkId id = 0; id < machine_.topology->num_links(); ++id) {
    result.push_back(speed_ * machine_.topology->link(id).capacity);
  }
  return result;
}

void Network::submit(TransferId id, const Move& move, double wire, double now) {
  if (id >= journeys_.size()) {
    journeys_.resize(id + std::size_t{1});
    routes_of_.resize(id + std::size_t{1});
  }
  Journey& journey = journeys_[id];
  journey.src = move.src;
  journey.dst = move.dst;
  journey.wire = wire;
  journey.together = move.together;
  machine_.topology->append_way(move.src, move.dst, move.path, routes_of_[id]);
  if (has_room(machine_.sends_at_once, ports_[at(move.src)].sending)) {
    take_port(id, now);
  } else {
    ports_[at(move.src)].to_send.push_back(id);
  }
}

void Network::take_port(TransferId id, double now) {
  ++ports_[at(journeys_[id].src)].sending;
  watcher_.port_taken(id, now);
  events_.push(now + machine_.start_up_s, EventKind::port_ready, id);
}

void Network::port_ready(TransferId id, double now) {
  if (!turned_away(id, now)) enter(id, now);
}

bool Network::turned_away(TransferId id, double now) {
  Journey& journey = journeys_[id];
  const Port& receiver = ports_[at(journey.dst)];
  if (has_room(machine_.queue_senders, receiver.receiving)) return false;
  if (receiver.wire_in + journey.wire <= static_cast<double>(machine_.queue)) return false;
  require_few(++counts_.timeouts, "timeouts of a full queue");
  if (!std::exchange(journey.counted_node, true)) ++counts_.node_contention;
  if (!std::exchange(journey.blocked, true)) watcher_.blocked(id, now);
  const double again = snap(now + machine_.timeout_s);
  if (again <= now) {
    throw Error(ErrorCode::limit,
                "after " + std::to_string(now) + " s a timeout of " + std::to_string(machine_.timeout_s) +
                    " s is too short to be represented: the machine's times differ too much");
  }
  events_.push(again, EventKind::port_ready, id);
  return true;
}

void Network::enter(TransferId id, double now) {
  if (may_enter(id, now)) begin(id, now);
}

bool Network::may_enter(TransferId id, double now) {
  if (holds_while_waiting()) return takes_links(id, now) && receiver_has_room(id, now);
  if (!receiver_has_room(id, now)) return false;
  if (!circuits()) return true;
  for (const LinkId link : routes_of_[id]) {
    if (wires_[at(link)].free > 0) continue;
    wait_for_link(id, link, now);
    return false;
  }
  return true;
}

bool Network::receiver_has_room(TransferId id, double now) {
  Journey& journey = journeys_[id];
  Port& receiver = ports_[at(journey.dst)];
  if (has_room(machine_.receives_at_once, receiver.receiving)) return true;
  if (!std::exchange(journey.counted_node, true)) ++counts_.node_contention;
  block(id, receiver.to_receive, now);
  return false;
}

/// Takes the links of a route one after the other. A transfer keeps the links that it has taken while it
/// waits for the next link.
bool Network::takes_links(TransferId id, double now) {
  for (std::size_t& held = journeys_[id].held; held < routes_of_[id].size(); ++held) {
    const LinkId link = routes_of_[id][held];
    if (wires_[at(link)].free == 0) {
      wait_for_link(id, link, now);
      return false;
    }
    --wires_[at(link)].free;
  }
  return true;
}

void Network::wait_for_link(TransferId id, LinkId link, double now) {
  if (!std::exchange(journeys_[id].counted_link, true)) ++counts_.link_contention;
  block(id, wires_[at(link)].waiting, now);
}

void Network::block(TransferId id, std::deque<TransferId>& waiting, double now) {
  waiting.push_back(id);
  if (!std::exchange(journeys_[id].blocked, true)) watcher_.blocked(id, now);
}

void Network::begin(TransferId id, double now) {
  Journey& journey = journeys_[id];
  note_contention(id);
  if (circuits() && !holds_while_waiting()) {
    for (const LinkId link : routes_of_[id]) --wires_[at(link)].free;
  }
  ++ports_[at(journey.dst)].receiving;
  ports_[at(journey.dst)].wire_in += journey.wire;
  ++ports_[at(journey.src)].moving_out;
  incoming_[at(journey.dst)].push_back(id);
  set_port_speed(journey.dst);
  set_port_speed(journey.src);
  if (free_flows_.empty()) {
    free_flows_.push_back(static_cast<FlowId>(transfer_of_flow_.size()));
    transfer_of_flow_.push_back(0);
  }
  journey.flow = free_flows_.back();
  free_flows_.pop_back();
  transfer_of_flow_[at(journey.flow)] = id;
  journey.left = journey.wire;
  journey.updated = now;
  journey.rate = 0;
  journey.ends = journey.queued = never;
  list_resources(id);
  rates_.add(journey.flow, speed_ / slowdown_[at(journey.src)], resources_);
  watcher_.bytes_begin(id, now);
}

void Network::list_resources(TransferId id) {
  const Journey& journey = journeys_[id];
  const bool own_ways =
      machine_.duplex == Duplex::full || (machine_.duplex == Duplex::paired && journey.together);
  resources_.clear();
  if (own_ways) {
    resources_.push_back(receive_port(journey.dst));
    if (machine_.sends_at_once != 1 || machine_.processor_moves_bytes)
      resources_.push_back(send_port(journey.src));
  } else {
    resources_.push_back(whole_port(journey.src));
    resources_.push_back(whole_port(journey.dst));
  }
  if (circuits()) return;
  for (const LinkId link : routes_of_[id]) resources_.push_back(link_resource(link));
}

void Network::note_contention(TransferId id) {
  Journey& journey = journeys_[id];
  if (ports_[at(journey.dst)].receiving > 0 && !std::exchange(journey.counted_node, true)) {
    ++counts_.node_contention;
  }
  if (circuits() || journey.counted_link) return;
  const auto is_full = [this](LinkId link) {
    const auto flows = static_cast<double>(rates_.num_flows(link_resource(link)) + 1);
    return flows * speed_ > rates_.capacity(link_resource(link)) * (1 + 1e-9);
  };
  if (!std::ranges::any_of(routes_of_[id], is_full)) return;
  journey.counted_link = true;
  ++counts_.link_contention;
}

void Network::processor_works(Rank rank, bool works) {
  if (!machine_.processor_moves_bytes) return;
  ports_[at(rank)].paused = works;
  set_port_speed(rank);
}

void Network::set_port_speed(Rank rank) {
  const Port& port = ports_[at(rank)];
  const int others = std::max(0, port.receiving - 1);
  const double loss = port.moving_out == 0
                          ? std::min(machine_.loss_per_sender * others, machine_.loss_most)
                          : std::min(machine_.loss_per_sender_sending * others, machine_.loss_most_sending);
  const double speed = port.paused ? 0 : speed_ / slowdown_[at(rank)];
  rates_.set_capacity(receive_port(rank), speed / (1 + loss));
  rates_.set_capacity(whole_port(rank), speed / (1 + loss));
  rates_.set_capacity(send_port(rank), speed);
}

void Network::flow_ends(TransferId id, std::uint32_t version, double now) {
  Journey& journey = journeys_[id];
  if (version != journey.version || journey.flow < 0) return;
  if (snap(journey.ends) <= now) {
    finish(id, now);
    return;
  }
  journey.queued = never;  // the transfer was slowed down after the event was queued
  reschedule(id);
}

void Network::finish(TransferId id, double now) {
  const Rank src = journeys_[id].src;
  const Rank dst = journeys_[id].dst;
  leave_flow(id);
  watcher_.left(id, now);
  Port& sender = ports_[at(src)];
  --sender.sending;
  if (!sender.to_send.empty() && has_room(machine_.sends_at_once, sender.sending)) {
    const TransferId next = sender.to_send.front();
    sender.to_send.pop_front();
    take_port(next, now);
  }
  wake_receivers(dst, now);
  if (circuits()) {
    for (const LinkId link : routes_of_[id]) wake_link(link, now);
  }
  std::vector<LinkId>().swap(routes_of_[id]);
}

void Network::leave_flow(TransferId id) {
  Journey& journey = journeys_[id];
  rates_.remove(journey.flow);
  free_flows_.push_back(std::exchange(journey.flow, -1));
  --ports_[at(journey.dst)].receiving;
  ports_[at(journey.dst)].wire_in -= journey.wire;  // exact, because these are whole numbers
  --ports_[at(journey.src)].moving_out;
  std::erase(incoming_[at(journey.dst)], id);
  set_port_speed(journey.dst);
  set_port_speed(journey.src);
  if (!circuits()) return;
  for (const LinkId link : routes_of_[id]) ++wires_[at(link)].free;
}

void Network::wake_receivers(Rank rank, double now) {
  Port& port = ports_[at(rank)];
  while (!port.to_receive.empty() && has_room(machine_.receives_at_once, port.receiving)) {
    const TransferId next = port.to_receive.front();
    port.to_receive.pop_front();
    enter(next, now);  // it may now wait for a link
  }
}

void Network::wake_link(LinkId link, double now) {
  Wire& wire = wires_[at(link)];
  while (wire.free > 0 && !wire.waiting.empty()) {
    const TransferId next = wire.waiting.front();
    wire.waiting.pop_front();
    enter(next, now);
  }
}

void Network::interrupt(Rank rank, double seconds, double now) {
  for (const TransferId id : incoming_[at(rank)]) {
    Journey& journey = journeys_[id];
    move_bytes(journey, now);
    journey.left += seconds * journey.rate;
    reschedule(id);
  }
}

void Network::settle(double now) {
  for (const FlowId flow : rates_.settle()) {
    const TransferId id = transfer_of_flow_[at(flow)];
    move_bytes(journeys_[id], now);
    journeys_[id].rate = rates_.rate(flow);
    reschedule(id);
  }
}

void Network::move_bytes(Journey& journey, double now) {
  journey.left = std::max(0.0, journey.left - journey.rate * (now - journey.updated));
  journey.updated = now;
}

/// Updates the end of a transfer. If the end is later than before, the event in the queue is left there, and
/// postponed when it is due.
void Network::reschedule(TransferId id) {
  Journey& journey = journeys_[id];
  journey.ends = journey.rate > 0 ? journey.updated + journey.left / journey.rate : never;
  if (journey.ends >= journey.queued) return;
  journey.queued = journey.ends;
  events_.push(journey.ends, EventKind::flow_ends, id, ++journey.version);
}

}  // namespace nuice::machine

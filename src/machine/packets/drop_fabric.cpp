// SPDX-License-Identifier: BSD-3-Clause
#include "machine/packets/drop_fabric.hpp"

#include <algorithm>

namespace nuice::machine {

DropFabric::DropFabric(const Routes& routes, int buffer_packets)
    : routes_(routes),
      queues_(routes.wires().size()),
      room_(static_cast<std::size_t>(routes.num_vertices()), 0) {
  for (WireId id = 0; id < routes.wires().size(); ++id) {
    const Wire& wire = routes.wires()[id];
    queues_[id].interval = 1 / wire.capacity;
    if (wire.from != no_rank)
      room_[static_cast<std::size_t>(wire.from)] += static_cast<std::uint32_t>(buffer_packets);
  }
}

void DropFabric::inject(Rank rank, std::uint32_t transfer, std::uint32_t first_hop) {
  ++num_packets_;
  moving_.push_back({transfer, first_hop, routes_.port_of(rank)});
}

void DropFabric::send() {
  // Not always the same wires first: a packet that comes late to a full buffer is dropped.
  if (!active_.empty())
    std::ranges::rotate(active_, active_.begin() + static_cast<std::ptrdiff_t>(slot_ % active_.size()));
  const auto now = static_cast<double>(slot_);
  std::erase_if(active_, [&](std::uint32_t wire) {
    Queue& queue = queues_[wire];
    while (queue.first != none && queue.free_at < now + 1) {
      const std::uint32_t id = queue.first;
      const Packet packet = packets_[id];
      queue.free_at = std::max(queue.free_at, now) + queue.interval;
      queue.first = packet.next;
      --queue.length;
      ++room_[static_cast<std::size_t>(routes_.wires()[wire].from)];
      moving_.push_back({packet.transfer, packet.hop, wire});
      packets_[id].next = free_packet_;
      free_packet_ = id;
    }
    if (queue.first == none) queue.last = none;
    return queue.first == none;
  });
}

/// False if it is dropped.
bool DropFabric::enter(std::size_t vertex, const Moving& moving) {
  const WireId wire = routes_.hops()[moving.hop + 1].wire;
  Queue& queue = queues_[wire];
  if (queue.length >= room_[vertex]) return false;
  if (free_packet_ == none) {
    free_packet_ = static_cast<std::uint32_t>(packets_.size());
    packets_.push_back({0, 0, none});
  }
  const std::uint32_t id = free_packet_;
  free_packet_ = packets_[id].next;
  packets_[id] = {moving.transfer, moving.hop + 1, none};
  if (queue.first == none) {
    queue.first = id;
    active_.push_back(wire);
  } else {
    packets_[queue.last].next = id;
  }
  queue.last = id;
  ++queue.length;
  --room_[vertex];
  return true;
}

}  // namespace nuice::machine

// SPDX-License-Identifier: BSD-3-Clause
// Packets on their way through switches that drop, slot by slot: a queue at every output, all of a switch in one buffer.
//
//   each wire carries as many packets as its capacity allows
//   what they come to takes them into the queue of their next wire, if that is shorter than what is left of the switch's
//   buffer (dynamic threshold, alpha 1: Choudhury and Hahne 1998); others are dropped
//
// A switch of k wires outwards has room for k * buffer_packets. Hosts take all, and drop nothing of their own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "machine/packets/routes.hpp"

namespace nuice::machine {

class DropFabric {
 public:
  DropFabric(const Routes& routes, int buffer_packets);

  /// A packet of `transfer` sets out over the route that begins with hops()[first_hop]. Once a slot and rank.
  void inject(Rank rank, std::uint32_t transfer, std::uint32_t first_hop);

  /// One slot. arrive(transfer) or drop(transfer) is called for each packet that ends in it.
  template <typename Arrive, typename Drop>
  void step(Arrive arrive, Drop drop) {
    send();
    for (const Moving& moving : moving_) {
      ++packet_hops_;
      const std::int32_t to = routes_.wires()[moving.wire].to;
      if (to == no_rank) {
        --num_packets_;
        arrive(moving.transfer);
      } else if (!enter(static_cast<std::size_t>(to), moving)) {
        --num_packets_;
        drop(moving.transfer);
      }
    }
    moving_.clear();
    ++slot_;
  }

  void skip(std::uint64_t slots) { slot_ += slots; }
  bool is_empty() const { return num_packets_ == 0; }
  std::uint64_t packet_hops() const { return packet_hops_; }

 private:
  static constexpr std::uint32_t none = ~0U;

  struct Packet {
    std::uint32_t transfer;
    std::uint32_t hop;   // over which it waits to go
    std::uint32_t next;  // behind it, or free
  };
  struct Queue {  // of a wire, at its beginning
    std::uint32_t first = none;
    std::uint32_t last = none;
    std::uint32_t length = 0;
    double free_at = 0;   // the slot of its next packet
    double interval = 1;  // slots between packets
  };
  struct Moving {
    std::uint32_t transfer;
    std::uint32_t hop;  // that it takes now
    WireId wire;
  };

  void send();
  bool enter(std::size_t vertex, const Moving& moving);

  const Routes& routes_;
  std::vector<Queue> queues_;          // by wire
  std::vector<std::uint32_t> room_;    // by vertex: what is left of its buffer
  std::vector<std::uint32_t> active_;  // wires whose queue holds packets
  std::vector<Packet> packets_;
  std::uint32_t free_packet_ = none;
  std::vector<Moving> moving_;
  std::uint64_t slot_ = 0;
  std::uint64_t num_packets_ = 0;
  std::uint64_t packet_hops_ = 0;
};

}  // namespace nuice::machine

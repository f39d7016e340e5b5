// SPDX-License-Identifier: BSD-3-Clause
// The wires of an emulated fabric, and every route through it as a sequence of hops.
//
// A wire is a link of the topology, or a host's port into or out of the fabric. Virtual lanes prevent routes
// that close a cycle (tori, dragonflies) from waiting for each other forever: wires are ordered, and a packet
// takes the next lane when its route steps back in this order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nuice/core/topology.hpp"

namespace nuice::lossless {

inline constexpr std::int32_t outside = -1;  // marks a host, at the end of its port

struct Wire {
  std::int32_t from;  // switch, or outside
  std::int32_t to;    // switch, or outside
  double speed;       // relative to a port
};

struct Hop {
  std::uint32_t wire;
  std::uint32_t lane;
};

class Cabling {
 public:
  /// Builds the wires and routes of a topology's first `hosts` ranks. Throws Error limit for more than 2^24
  /// routes.
  Cabling(const Topology& topology, Rank hosts);

  Rank num_hosts() const { return num_hosts_; }
  std::span<const Wire> wires() const { return wires_; }
  std::uint32_t num_switches() const { return num_switches_; }
  std::uint32_t num_lanes() const { return num_lanes_; }
  std::uint32_t port_of(Rank host) const { return num_links_ + static_cast<std::uint32_t>(host); }
  /// Returns the number of paths that a sender can choose, at least 1.
  std::uint32_t num_paths(Rank src, Rank dst) const;
  /// Returns the hops of path 0 .. num_paths() - 1, or of the network's own choice for no_path.
  std::span<const Hop> way(Rank src, Rank dst, std::int64_t path) const;

 private:
  std::size_t pair(Rank src, Rank dst) const {
    return static_cast<std::size_t>(src) * static_cast<std::size_t>(num_hosts_) +
           static_cast<std::size_t>(dst);
  }
  void add_ways(const Topology& topology, Rank src, Rank dst);
  std::vector<std::uint32_t> order_of_wires() const;
  void assign_lanes();

  Rank num_hosts_;
  std::uint32_t num_links_;
  std::uint32_t num_switches_ = 0;
  std::uint32_t num_lanes_ = 1;
  std::vector<Wire> wires_;
  std::vector<Hop> hops_;
  std::vector<std::size_t> first_hop_;       // by route, plus one element for the end
  std::vector<std::uint32_t> ways_of_pair_;  // first route of each pair (the network's own), plus the end
};

}  // namespace nuice::lossless

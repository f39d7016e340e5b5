// SPDX-License-Identifier: BSD-3-Clause
// The network for the packet simulator: wires between vertices, and every route as a sequence of hops.
//
// A wire is a link of the topology, or the port of a rank into the network or out of it. Topologies do not
// name the vertex of a port. NUICE takes the vertex at which the rank's routes begin.
//
// Virtual lanes: with credits, packets can deadlock if routes close a cycle (tori, dragonflies). Therefore
// wires get an order in which routes rarely step back, and a packet changes to the next lane whenever it
// steps back. So along every route the pair (lane, position in the order) grows, and waiting packets cannot
// form a cycle. If no routes close a cycle, one lane suffices.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nuice/core/random.hpp"
#include "nuice/core/topology.hpp"
#include "nuice/plan/packets.hpp"

namespace nuice::machine {

using WireId = std::uint32_t;

struct Wire {
  std::int32_t from;  // a vertex; no_rank for the port of a rank into the network
  std::int32_t to;    // a vertex; no_rank for the port to a rank
  double capacity;
};

struct Hop {
  WireId wire;
  std::uint32_t lane;  // the virtual lane
};

/// A route: its two ranks and the number of its path.
struct Way {
  Rank src;
  Rank dst;
  std::int64_t path;
};

class Routes {
 public:
  /// Makes the hops of all routes. Requires ranks of the topology.
  Routes(const Topology& topology, Rank num_ranks, std::span<const Way> ways);

  std::span<const Wire> wires() const { return wires_; }
  std::int32_t num_vertices() const { return num_vertices_; }
  WireId port_of(Rank rank) const { return num_links_ + static_cast<WireId>(rank); }
  int virtual_lanes() const { return virtual_lanes_; }
  /// Returns the hops of all routes, back to back. The first hop of a route is the port of its source, and
  /// the last hop is the port of its destination.
  std::span<const Hop> hops() const { return hops_; }
  std::span<const std::uint32_t> first_hop() const { return first_; }  // by route; the last entry is the end

 private:
  std::int32_t home_of(const Topology& topology, Rank rank, Rank num_ranks) const;
  void assign_lanes();
  std::vector<std::uint32_t> order_of_wires() const;

  std::vector<Wire> wires_;
  WireId num_links_;
  std::int32_t num_vertices_;
  std::vector<Hop> hops_;
  std::vector<std::uint32_t> first_;
  int virtual_lanes_ = 1;
};

}  // namespace nuice::machine

// SPDX-License-Identifier: BSD-3-Clause
// The network as the packet simulator sees it: wires between vertices, and every route as a row of hops.
//
// A wire is a link of the topology, or a rank's port: in, from the rank to the vertex where it hangs, or out. Topologies
// do not name that vertex; it is where routes of the rank begin.
//
// Virtual lanes: credits deadlock where routes close a cycle (tori, dragonflies). Wires are put in an order in which as
// few routes as can be found step back; a packet changes to the next lane whenever it steps back. Lane and order never
// go down together on any way, so no cycle of waiting packets can close. Routes without a cycle get one lane.
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
  std::int32_t from;  // vertex; no_rank for the port of a rank into the network
  std::int32_t to;    // vertex; no_rank for the port to a rank
  double capacity;
};

struct Hop {
  WireId wire;
  std::uint32_t lane;  // virtual
};

/// Which rank sends to which, over which path.
struct Way {
  Rank src;
  Rank dst;
  std::int64_t path;
};

class Routes {
 public:
  /// Routes first_way[t] .. first_way[t + 1] - 1 are those of transfer t.
  Routes(const Topology& topology, Rank num_ranks, std::span<const Way> ways);

  std::span<const Wire> wires() const { return wires_; }
  std::int32_t num_vertices() const { return num_vertices_; }
  WireId port_of(Rank rank) const { return num_links_ + static_cast<WireId>(rank); }
  int virtual_lanes() const { return virtual_lanes_; }
  /// All routes back to back; the first hop of one is a rank's port, the last another's.
  std::span<const Hop> hops() const { return hops_; }
  std::span<const std::uint32_t> first_hop() const { return first_; }  // by way, and one more

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

// SPDX-License-Identifier: BSD-3-Clause
// A network with static routing: which directed links a transfer from one rank to another crosses.
//
// This is the interface that the checker, the schedulers and the simulator read; networks.hpp makes the networks.
// A route is a function of (src, dst), computed when asked for: nothing grows with the square of the ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nuice/types.hpp"

namespace nuice {

using LinkId = std::int32_t;  ///< 0 .. num_links - 1. A cable that carries both ways is two links.

/// One direction of a cable. Vertices below num_ranks are ranks, the others are switches.
struct Link {
  std::int32_t from;
  std::int32_t to;
  double
      capacity;  ///< Transfers that it carries at the same time at the full speed of a rank's port; above 0.
};

/// Immutable; all functions may be called by several threads at once.
class Topology {
 public:
  Topology() = default;
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;
  virtual ~Topology() = default;

  /// As it is written on the command line, "hypercube:6".
  virtual std::string name() const = 0;
  virtual Rank num_ranks() const = 0;
  virtual LinkId num_links() const = 0;
  virtual Link link(LinkId id) const = 0;

  /// Appends the links that a transfer crosses, in order. Ports are not links: where a rank hangs on one switch by a
  /// cable as fast as its port, that cable is in no route, so routes of a crossbar are empty. Empty for src == dst.
  /// Requires 0 <= src, dst < num_ranks(). O(length of the route).
  virtual void append_route(Rank src, Rank dst, std::vector<LinkId>& route) const = 0;
};

}  // namespace nuice

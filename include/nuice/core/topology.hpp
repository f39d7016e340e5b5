// SPDX-License-Identifier: BSD-3-Clause
// A network with static routing: it gives the directed links that a transfer from one rank to another
// crosses.
//
// The checker, the schedulers and the simulator use this interface; networks.hpp makes the networks.
// A route is a function of (src, dst), computed when needed, so no memory grows with the square of the ranks.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "nuice/core/types.hpp"

namespace nuice {

using LinkId =
    std::int32_t;  ///< The id of a link, 0 .. num_links - 1. A cable is two links, one for each direction.

inline constexpr LinkId no_link = -1;

/// One direction of a cable. Vertices below num_ranks are ranks; the other vertices are switches.
struct Link {
  std::int32_t from;
  std::int32_t to;
  /// The speed of the link divided by the speed of a rank's port: the number of transfers that the link
  /// carries at the same time at full speed. Above 0.
  double capacity;

  /// Returns how many transfers may cross the link in one phase without link contention: the capacity,
  /// rounded down, but at least one, because a link that is slower than a port still carries one message at a
  /// time.
  std::int64_t slots() const {
    constexpr double most = std::numeric_limits<Rank>::max();
    return capacity < 2 ? 1 : static_cast<std::int64_t>(capacity < most ? capacity : most);
  }
};

/// A level of a tree of switches.
struct TreeLevel {
  /// The number of ranks in a subtree of this level; rank r is in subtree r / ranks, rounded down.
  Rank ranks;
  Rank cables;  ///< The number of upward cables of each switch; 0 at the top level.
};

/// A network. It is immutable, so several threads may call all functions at once.
class Topology {
 public:
  Topology() = default;
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;
  virtual ~Topology() = default;

  /// Returns the name, as on the command line: "hypercube:6".
  virtual std::string name() const = 0;
  virtual Rank num_ranks() const = 0;
  virtual LinkId num_links() const = 0;
  /// Returns a link. Requires 0 <= id < num_links(). O(1), or O(levels) in trees.
  virtual Link link(LinkId id) const = 0;

  /// Appends the links that a transfer crosses, in order. Ports are not links: if a rank's only cable leads
  /// to a switch and is as fast as the rank's port, the cable is not part of any route. Therefore all routes
  /// of a crossbar are empty. The route is also empty if src == dst. Requires 0 <= src, dst < num_ranks().
  /// O(length of the route).
  virtual void append_route(Rank src, Rank dst, std::vector<LinkId>& route) const = 0;

  /// Returns the number of paths from src to dst among which path_coloring, random routing and adaptive
  /// routing choose; at least 1. O(levels).
  virtual std::int64_t num_paths(Rank /*src*/, Rank /*dst*/) const { return 1; }
  /// Appends the links of path number `path`, which is in 0 .. num_paths(src, dst) - 1. The route of
  /// append_route() is one of these paths.
  virtual void append_path(Rank src, Rank dst, std::int64_t /*path*/, std::vector<LinkId>& route) const {
    append_route(src, dst, route);
  }
  /// Calls append_path(), or append_route() if `path` is no_path. Throws Error with code `mismatch` for a
  /// path that does not exist.
  void append_way(Rank src, Rank dst, std::int64_t path, std::vector<LinkId>& route) const;

  /// Returns the levels of a tree, the lowest level first; empty for networks that are not trees. Every
  /// switch below the top has TreeLevel::cables upward cables, each to a different switch. A path number is a
  /// number in mixed radix: its digits, lowest first, say which upward cable the path takes at each level.
  virtual std::vector<TreeLevel> levels() const { return {}; }

  /// Returns a name of a vertex for texts: "rank 5", "switch 2" (the third switch), or the name in a network
  /// file.
  virtual std::string vertex_name(std::int32_t vertex) const;
};

}  // namespace nuice

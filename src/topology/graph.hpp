// SPDX-License-Identifier: BSD-3-Clause
// Networks of any shape, for kinds that read files.
//
// Routing: shortest ways, counted in links. Where several links begin a shortest way to dst, c of them, the way takes
// the (q mod c)-th in the order in which they were added, and goes on with q = q / c; it begins with q = dst. So a route
// is a function of (src, dst), ways to different ranks are spread, and in a fat tree this is d-mod-k. Hosts are ends of ways only.
//
// Memory: 2 bytes per vertex and place where ranks hang. Building it costs a breadth-first search per such place.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "topology/spec.hpp"

namespace nuice::topo {

/// Collects ranks, switches and links; any of them may be named before it is connected.
class GraphBuilder {
 public:
  using Vertex = std::int32_t;

  /// Ranks are numbered in this order.
  Vertex add_rank(const std::string& name);
  Vertex add_switch(const std::string& name);
  /// What several ranks share, or a rank with several cables: no route leads over it.
  Vertex add_host(const std::string& name);
  /// One direction.
  void add_link(Vertex from, Vertex to, double capacity) { links_.push_back({from, to, capacity}); }
  void add_cable(Vertex a, Vertex b, double capacity) {
    add_link(a, b, capacity);
    add_link(b, a, capacity);
  }
  std::size_t num_vertices() const { return kinds_.size(); }
  std::size_t num_links() const { return links_.size(); }

  /// Throws Error parse that begins with `origin` if a rank cannot reach another, limit if it is too large.
  std::unique_ptr<const Topology> build(const Spec& spec, const std::string& origin) const;

 private:
  enum class Kind : std::uint8_t { rank, host, device };
  Vertex add(Kind kind, const std::string& name);

  std::vector<Kind> kinds_;         // by vertex as added
  std::vector<std::string> names_;  // by vertex as added
  std::vector<Link> links_;         // ends are vertices as added
};

}  // namespace nuice::topo

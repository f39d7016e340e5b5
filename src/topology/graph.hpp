// SPDX-License-Identifier: BSD-3-Clause
// Networks of any shape, for networks from files (graph_file.cpp).
//
// Routing: shortest routes, counted in links. A number q, at first dst, chooses among them. At each vertex, c
// links continue a shortest route to dst. The route takes number (q mod c) of these links, in the order in
// which they were added, and q becomes q / c. So a route is a function of (src, dst), routes to different
// ranks are spread, and in a fat tree the result is d-mod-k. Hosts are only ends of routes.
//
// Memory: 2 bytes for each pair of a vertex and a home. Building the network takes a breadth-first search per
// home.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "topology/spec.hpp"

namespace nuice::topo {

/// A builder that collects ranks, switches and links in any order.
class GraphBuilder {
 public:
  using Vertex = std::int32_t;

  /// Adds a rank or a switch. Ranks are numbered in the order of these calls.
  Vertex add(bool is_rank, const std::string& name);
  /// Adds one direction of a cable.
  void add_link(Vertex from, Vertex to, double capacity) { links_.push_back({from, to, capacity}); }
  void add_cable(Vertex a, Vertex b, double capacity) {
    add_link(a, b, capacity);
    add_link(b, a, capacity);
  }
  std::size_t num_vertices() const { return is_rank_.size(); }
  std::size_t num_links() const { return links_.size(); }

  /// Makes the network. Throws Error `parse`, with a text that begins with `origin`, if a rank cannot reach
  /// another rank, and `limit` if the network is too large.
  std::unique_ptr<const Topology> build(const Spec& spec, const std::string& origin) const;

 private:
  std::vector<bool> is_rank_;       // by vertex, in the order of adding
  std::vector<std::string> names_;  // by vertex, in the order of adding
  std::vector<Link> links_;         // between vertices in the order of adding
};

}  // namespace nuice::topo

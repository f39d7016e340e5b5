// SPDX-License-Identifier: BSD-3-Clause
// Routes as tests look at them.
#pragma once

#include <vector>

#include "nuice/core/topology.hpp"

namespace nuice::test {

using Route = std::vector<LinkId>;

inline Route route_of(const Topology& net, Rank src, Rank dst) {
  Route route;
  net.append_route(src, dst, route);
  return route;
}

/// Vertices along a route, from the first link's beginning.
inline std::vector<std::int32_t> stops_of(const Topology& net, const Route& route) {
  std::vector<std::int32_t> stops;
  for (const LinkId id : route) {
    if (stops.empty()) stops.push_back(net.link(id).from);
    stops.push_back(net.link(id).to);
  }
  return stops;
}

}  // namespace nuice::test

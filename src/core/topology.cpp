// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/core/topology.hpp"

namespace nuice {

void Topology::append_way(Rank src, Rank dst, std::int64_t path, std::vector<LinkId>& route) const {
  if (path == no_path) return append_route(src, dst, route);
  append_path(src, dst, path, route);
}

std::string Topology::vertex_name(std::int32_t vertex) const {
  if (vertex < num_ranks()) return "rank " + std::to_string(vertex);
  return "switch " + std::to_string(vertex - num_ranks());
}

}  // namespace nuice

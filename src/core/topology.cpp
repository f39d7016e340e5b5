// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/core/topology.hpp"

#include "nuice/core/error.hpp"

namespace nuice {

void Topology::append_way(Rank src, Rank dst, std::int64_t path, std::vector<LinkId>& route) const {
  if (path == no_path) return append_route(src, dst, route);
  if (const std::int64_t paths = num_paths(src, dst); path < 0 || path >= paths)
    throw Error(ErrorCode::mismatch, "path " + std::to_string(path) + " from rank " + std::to_string(src) +
                                         " to rank " + std::to_string(dst) + ": " + name() + " has " +
                                         std::to_string(paths));
  append_path(src, dst, path, route);
}

std::string Topology::vertex_name(std::int32_t vertex) const {
  if (vertex < num_ranks()) return "rank " + std::to_string(vertex);
  return "switch " + std::to_string(vertex - num_ranks());
}

}  // namespace nuice

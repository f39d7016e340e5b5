// SPDX-License-Identifier: BSD-3-Clause
#include "nuice/core/topology.hpp"

namespace nuice {

std::string Topology::vertex_name(std::int32_t vertex) const {
  if (vertex < num_ranks()) return "rank " + std::to_string(vertex);
  return "switch " + std::to_string(vertex - num_ranks());
}

}  // namespace nuice

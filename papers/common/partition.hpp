// SPDX-License-Identifier: BSD-3-Clause
// Partitions of graphs, by METIS.
#pragma once

#include <fmt/format.h>
#include <metis.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kit/errors.hpp"
#include "nuice/core/types.hpp"

namespace nuice::apps {

struct Graph {
  std::vector<idx_t> begin{0};
  std::vector<idx_t> neighbours;
};

/// Converts a graph to METIS's integers, and removes loops.
inline Graph to_metis(std::span<const std::int64_t> begin, std::span<const std::int64_t> neighbours) {
  if (std::cmp_greater(neighbours.size(), std::numeric_limits<idx_t>::max()))
    kit::fail(ErrorCode::limit, "METIS cannot count {} edges", neighbours.size());
  Graph graph;
  for (std::size_t v = 0; v + 1 < begin.size(); ++v) {
    for (std::int64_t e = begin[v]; e < begin[v + 1]; ++e) {
      const std::int64_t to = neighbours[static_cast<std::size_t>(e)];
      if (std::cmp_not_equal(to, v)) graph.neighbours.push_back(static_cast<idx_t>(to));
    }
    graph.begin.push_back(static_cast<idx_t>(graph.neighbours.size()));
  }
  return graph;
}

inline std::vector<Rank> ranges(std::size_t num_vertices, Rank num_parts) {
  std::vector<Rank> part(num_vertices);
  for (std::size_t v = 0; v < num_vertices; ++v)
    part[v] = static_cast<Rank>(v * static_cast<std::size_t>(num_parts) / num_vertices);
  return part;
}

inline bool has_empty_part(const std::vector<Rank>& part, Rank num_parts) {
  std::vector<bool> used(static_cast<std::size_t>(num_parts), false);
  for (const Rank p : part) used[static_cast<std::size_t>(p)] = true;
  return std::ranges::find(used, false) != used.end();
}

/// Divides vertices into parts of about equal size with few edges between parts. Returns the part of each
/// vertex, the same in every call. The neighbours of v are neighbours[begin[v] .. begin[v + 1]). If v itself
/// is among them, it is ignored. If METIS leaves a part empty (few vertices per part), parts are ranges of
/// vertices instead. Throws Error `invalid_argument`, which names `what`, for fewer vertices than parts;
/// `limit` for more vertices or edges than METIS can count.
inline std::vector<Rank> partition(std::span<const std::int64_t> begin,
                                   std::span<const std::int64_t> neighbours, Rank num_parts,
                                   const std::string& what) {
  const std::size_t num_vertices = begin.size() - 1;
  if (std::cmp_less(num_vertices, num_parts))
    kit::refuse("{} {} cannot be spread over {} ranks", num_vertices, what, num_parts);
  if (num_parts == 1) return std::vector<Rank>(num_vertices, 0);
  Graph graph = to_metis(begin, neighbours);
  auto count = static_cast<idx_t>(num_vertices);
  idx_t constraints = 1;
  idx_t parts = num_parts;
  idx_t cut = 0;
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  std::vector<idx_t> found(num_vertices);
  const int status =
      METIS_PartGraphKway(&count, &constraints, graph.begin.data(), graph.neighbours.data(), nullptr, nullptr,
                          nullptr, &parts, nullptr, nullptr, options, &cut, found.data());
  if (status != METIS_OK) kit::fail(ErrorCode::limit, "METIS fails with status {}", status);
  const std::vector<Rank> part(found.begin(), found.end());
  return has_empty_part(part, num_parts) ? ranges(num_vertices, num_parts) : part;
}

}  // namespace nuice::apps

// SPDX-License-Identifier: BSD-3-Clause
// Partitions of graphs, by METIS.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nuice/core/types.hpp"

namespace nuice::apps {

/// The part of each vertex: about equally many in each part, few edges between parts, the same on every call.
/// The neighbours of v are neighbours[begin[v] .. begin[v + 1]); v itself among them is ignored. Where METIS
/// leaves a part empty (few vertices per part), parts are ranges of vertices instead.
/// Throws Error: invalid_argument for fewer vertices than parts, named `what`; limit for more than METIS counts.
std::vector<Rank> partition(std::span<const std::int64_t> begin, std::span<const std::int64_t> neighbours,
                            Rank num_parts, const std::string& what);

}  // namespace nuice::apps

// SPDX-License-Identifier: BSD-3-Clause
// Makes the networks of topology.hpp from a string, as given on the command line.
//
//   const auto net = make_topology("torus:8x8");
//   if (std::string reason = why_too_small(*net, matrix.num_ranks()); reason.empty()) ...
//
// docs/reference/networks.md describes every kind, its routes and the formats of the files.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "nuice/core/topology.hpp"

namespace nuice {

/// A registry entry: a kind of network.
struct TopologyKind {
  std::string_view name;     ///< The name, such as "hypercube".
  std::string_view syntax;   ///< The form of the string, such as "hypercube:D".
  std::string_view summary;  ///< A one-line description.
  std::string_view source;   ///< The publication that describes it.
};

/// Returns all kinds, in a fixed order.
std::span<const TopologyKind> topology_kinds();

/// Makes the network that `spec` ("hypercube:6", "file:NAME") describes; its name() is `spec`. Throws Error
/// with code `invalid_argument` for an unknown kind or bad parameters; `parse` (the text names file and line)
/// or `io` for a file; `limit` for a network of more than 2^24 vertices or 2^31 - 1 links. Cost: O(1) memory
/// for the regular kinds; for files see docs/reference/networks.md.
std::unique_ptr<const Topology> make_topology(std::string_view spec);

/// Returns in one sentence why `topology` has too few ranks for an exchange of `num_ranks` ranks; empty if it
/// has enough. If the network has more ranks, these stay idle.
std::string why_too_small(const Topology& topology, Rank num_ranks);

}  // namespace nuice

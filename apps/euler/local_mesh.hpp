// SPDX-License-Identifier: BSD-3-Clause
// One rank's part of the dual: its points and all edges that touch them. An edge between two ranks' points is on both
// ranks, which compute the same flux and keep their own end's share of it; so nothing needs to be sent back.
#pragma once

#include <vector>

#include "common/halos.hpp"
#include "euler/dual.hpp"

namespace nuice::euler {

struct LocalMesh {
  std::vector<DualEdge> edges;       // local indices; those between owned points come first
  std::size_t num_interior = 0;      // how many those are
  std::vector<std::int32_t> points;  // of the whole mesh, by owned local index
  std::vector<double> area;
  std::vector<Vector> wall;
  std::vector<Vector> far;
  /// Inverse of the least-squares matrix, sum of along along' / |along|^2: xx, xy, yy.
  std::vector<std::array<double, 3>> inverse;

  std::size_t num_owned() const { return area.size(); }
};

/// What this rank owns and works with: both ends of every edge that touches one of its points. For updates of the four flow
/// variables. owners must live as long as what is made of it.
apps::Entries entries_of(const Dual& dual, const std::vector<Rank>& owners, Rank rank);

LocalMesh make_local(const Dual& dual, const std::vector<Rank>& owners, Rank rank, const apps::Halos& halos);

}  // namespace nuice::euler

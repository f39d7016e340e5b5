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

inline int owned_ends(const DualEdge& edge, const std::vector<Rank>& owners, Rank rank) {
  return (owners[at(edge.a)] == rank ? 1 : 0) + (owners[at(edge.b)] == rank ? 1 : 0);
}

inline std::vector<std::array<double, 3>> invert_least_squares(const LocalMesh& mesh) {
  std::vector<std::array<double, 3>> sums(mesh.num_owned(), {0, 0, 0});
  for (const DualEdge& edge : mesh.edges) {
    const Vector& d = edge.along;
    const double weight = 1 / dot(d, d);
    for (const std::int32_t end : {edge.a, edge.b}) {
      if (at(end) >= mesh.num_owned()) continue;
      auto& [xx, xy, yy] = sums[at(end)];
      xx += weight * d.x * d.x;
      xy += weight * d.x * d.y;
      yy += weight * d.y * d.y;
    }
  }
  for (auto& [xx, xy, yy] : sums) {
    const double determinant = xx * yy - xy * xy;
    const double old_xx = xx;
    xx = yy / determinant;
    xy = -xy / determinant;
    yy = old_xx / determinant;
  }
  return sums;
}

/// What this rank owns and works with: both ends of every edge that touches one of its points. For updates of the four flow
/// variables. owners must live as long as what is made of it.
inline apps::Entries entries_of(const Dual& dual, const std::vector<Rank>& owners, Rank rank) {
  apps::Entries entries{
      .owned = {},
      .owner = [&owners](std::int64_t point) { return owners[static_cast<std::size_t>(point)]; },
      .needed = {},
      .components = 4};
  for (std::size_t point = 0; point < owners.size(); ++point)
    if (owners[point] == rank) entries.owned.push_back(static_cast<std::int64_t>(point));
  for (const DualEdge& edge : dual.edges)
    if (owned_ends(edge, owners, rank) > 0) entries.needed.insert(entries.needed.end(), {edge.a, edge.b});
  return entries;
}

inline LocalMesh make_local(const Dual& dual, const std::vector<Rank>& owners, Rank rank,
                            const apps::Halos& halos) {
  LocalMesh mesh;
  for (const int ends : {2, 1}) {
    for (const DualEdge& edge : dual.edges)
      if (owned_ends(edge, owners, rank) == ends)
        mesh.edges.push_back({halos.local_index(edge.a), halos.local_index(edge.b), edge.along, edge.normal});
    if (ends == 2) mesh.num_interior = mesh.edges.size();
  }
  for (std::size_t point = 0; point < owners.size(); ++point) {
    if (owners[point] != rank) continue;
    mesh.points.push_back(static_cast<std::int32_t>(point));
    mesh.area.push_back(dual.area[point]);
    mesh.wall.push_back(dual.wall[point]);
    mesh.far.push_back(dual.far[point]);
  }
  mesh.inverse = invert_least_squares(mesh);
  return mesh;
}

}  // namespace nuice::euler

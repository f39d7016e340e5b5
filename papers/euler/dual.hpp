// SPDX-License-Identifier: BSD-3-Clause
// The median dual of a mesh: a polygon around every point. The polygons of an edge's two ends share a face,
// which connects the centroids of the edge's triangles through the middle of the edge. The edges of this
// graph are those over which figure 10 of paper 000 sweeps.
//
// One rank's part consists of its points and all edges that touch them. If an edge joins points of two ranks,
// both ranks have the edge. They compute the same flux, and each adds it at its own end, so nothing is sent
// back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "common/halos.hpp"
#include "common/partition.hpp"
#include "euler/mesh.hpp"
#include "nuice/core/types.hpp"

namespace nuice::euler {

struct DualEdge {
  std::int32_t a;
  std::int32_t b;
  Vector along;   // from a to b
  Vector normal;  // normal of the face from a to b, with the face's length
};

/// The dual mesh. It holds plain numbers only, so that it can be broadcast.
struct Dual {
  std::vector<DualEdge> edges;  // a < b, sorted
  std::vector<double> area;     // by point
  std::vector<Vector> wall;     // sum of the outward boundary normals around the point, by kind
  std::vector<Vector> far;

  std::size_t num_points() const { return area.size(); }
};

using Edges = std::map<std::pair<std::int32_t, std::int32_t>, DualEdge>;

/// Adds the face from the middle of a -> b to the centroid of the triangle on the left.
inline void add_face(Edges& edges, std::int32_t a, std::int32_t b, const Vector& along,
                     const Vector& from_middle) {
  const bool turned = a > b;
  DualEdge& edge = edges[{std::min(a, b), std::max(a, b)}];
  const double sign = turned ? -1 : 1;
  edge.a = std::min(a, b);
  edge.b = std::max(a, b);
  edge.along = along * sign;
  edge.normal += right_of(from_middle) * sign;
}

inline void add_triangle(const Mesh& mesh, const std::array<std::int32_t, 3>& corners, Dual& dual,
                         Edges& edges) {
  const Vector& origin = mesh.points[at(corners[0])];
  const Vector place[3] = {{},
                           mesh.between(origin, mesh.points[at(corners[1])]),
                           mesh.between(origin, mesh.points[at(corners[2])])};
  const Vector centroid = (place[1] + place[2]) * (1.0 / 3);
  const double third = cross(place[1], place[2]) / 6;  // a third of the area
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t j = (i + 1) % 3;
    dual.area[at(corners[i])] += third;
    add_face(edges, corners[i], corners[j], place[j] - place[i], centroid - (place[i] + place[j]) * 0.5);
  }
}

/// Adds the outward normals of boundary edges. A boundary edge has a triangle on one side only.
inline void add_boundary(const Mesh& mesh, Dual& dual) {
  std::map<std::pair<std::int32_t, std::int32_t>, Boundary> kinds;
  for (const BoundaryEdge& edge : mesh.boundary)
    kinds[{std::min(edge.a, edge.b), std::max(edge.a, edge.b)}] = edge.kind;
  for (const auto& triangle : mesh.triangles)
    for (std::size_t i = 0; i < 3; ++i) {
      const std::int32_t a = triangle[i];
      const std::int32_t b = triangle[(i + 1) % 3];
      const auto found = kinds.find({std::min(a, b), std::max(a, b)});
      if (found == kinds.end()) continue;
      const Vector half = right_of(mesh.between(mesh.points[at(a)], mesh.points[at(b)])) * 0.5;
      auto& normals = found->second == Boundary::wall ? dual.wall : dual.far;
      normals[at(a)] += half;
      normals[at(b)] += half;
    }
}

/// Requires a valid mesh.
inline Dual make_dual(const Mesh& mesh) {
  Dual dual;
  dual.area.assign(mesh.points.size(), 0);
  dual.wall.resize(mesh.points.size());
  dual.far.resize(mesh.points.size());
  Edges edges;
  for (const auto& triangle : mesh.triangles) add_triangle(mesh, triangle, dual, edges);
  for (const auto& [ends, edge] : edges) dual.edges.push_back(edge);
  add_boundary(mesh, dual);
  return dual;
}

/// Returns the part of each point, from METIS. Throws Error invalid_argument for fewer points than parts.
inline std::vector<Rank> partition(const Dual& dual, Rank num_parts) {
  std::vector<std::int64_t> begin(dual.num_points() + 1, 0);
  for (const DualEdge& edge : dual.edges) {
    ++begin[at(edge.a) + 1];
    ++begin[at(edge.b) + 1];
  }
  for (std::size_t p = 0; p < dual.num_points(); ++p) begin[p + 1] += begin[p];
  std::vector<std::int64_t> next(begin.begin(), begin.end() - 1);
  std::vector<std::int64_t> neighbours(2 * dual.edges.size());
  for (const DualEdge& edge : dual.edges) {
    neighbours[static_cast<std::size_t>(next[at(edge.a)]++)] = edge.b;
    neighbours[static_cast<std::size_t>(next[at(edge.b)]++)] = edge.a;
  }
  return apps::partition(begin, neighbours, num_parts, "points");
}

struct LocalMesh {
  std::vector<DualEdge> edges;       // local indices; edges between owned points come first
  std::size_t num_interior = 0;      // number of edges between owned points
  std::vector<std::int32_t> points;  // indices in the whole mesh, by owned local index
  std::vector<double> area;
  std::vector<Vector> wall;
  std::vector<Vector> far;
  /// The inverse of the least-squares matrix, the sum of along along' / |along|^2: xx, xy, yy.
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

/// Returns the entries that this rank owns, and those that it uses: both ends of every edge that touches one
/// of its points. The entries are for updates of the four flow variables. owners must outlive the result.
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

// SPDX-License-Identifier: BSD-3-Clause
#include "euler/mesh.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "nuice/core/error.hpp"
#include "nuice/core/random.hpp"

namespace nuice::euler {
namespace {

using Edge = std::pair<std::int32_t, std::int32_t>;  // smaller point first

Edge edge_of(std::int32_t a, std::int32_t b) { return {std::min(a, b), std::max(a, b)}; }

[[noreturn]] void refuse(const std::string& text) { throw Error(ErrorCode::invalid_argument, text); }

double nearest(double difference, double period) {
  return difference - period * std::round(difference / period);
}

void require_triangles(const Mesh& mesh, const std::string& name) {
  if (mesh.triangles.empty()) refuse(name + " has no triangles");
  std::vector<char> used(mesh.points.size(), 0);
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto [a, b, c] = mesh.triangles[t];
    for (const std::int32_t point : {a, b, c}) {
      if (point < 0 || std::cmp_greater_equal(point, mesh.points.size()))
        refuse(name + ": triangle " + std::to_string(t) + " has point " + std::to_string(point) + " of " +
               std::to_string(mesh.points.size()));
      used[at(point)] = 1;
    }
    const Vector& corner = mesh.points[at(a)];
    const Vector ab = mesh.between(corner, mesh.points[at(b)]);
    const Vector ac = mesh.between(corner, mesh.points[at(c)]);
    if (!(cross(ab, ac) > 0)) refuse(name + ": triangle " + std::to_string(t) + " is inverted or flat");
  }
  const auto unused = std::ranges::find(used, 0);
  if (unused != used.end())
    refuse(name + ": point " + std::to_string(unused - used.begin()) + " has no triangle");
}

std::map<Edge, int> count_triangles(const Mesh& mesh) {
  std::map<Edge, int> count;
  for (const auto& [a, b, c] : mesh.triangles)
    for (const Edge& edge : {edge_of(a, b), edge_of(b, c), edge_of(c, a)}) ++count[edge];
  return count;
}

void require_boundary(const Mesh& mesh, const std::string& name) {
  std::map<Edge, int> count = count_triangles(mesh);
  const auto text = [](const Edge& edge) {
    return "edge " + std::to_string(edge.first) + " - " + std::to_string(edge.second);
  };
  for (const auto& [edge, triangles] : count)
    if (triangles > 2) refuse(name + ": " + text(edge) + " has " + std::to_string(triangles) + " triangles");
  for (const BoundaryEdge& given : mesh.boundary) {
    const auto found = count.find(edge_of(given.a, given.b));
    if (found == count.end() || found->second != 1)
      refuse(name + ": " + text(edge_of(given.a, given.b)) + " is no boundary edge, or is given twice");
    found->second = 2;
  }
  for (const auto& [edge, triangles] : count)
    if (triangles != 2) refuse(name + ": " + text(edge) + " is at the boundary, but no kind is given for it");
}

void require_connected(const Mesh& mesh, const std::string& name) {
  std::vector<std::int32_t> parent(mesh.points.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](std::int32_t point) {
    while (parent[at(point)] != point) point = parent[at(point)] = parent[at(parent[at(point)])];
    return point;
  };
  for (const auto& [a, b, c] : mesh.triangles) {
    parent[at(root(a))] = root(b);
    parent[at(root(b))] = root(c);
  }
  for (std::size_t point = 1; point < mesh.points.size(); ++point)
    if (root(static_cast<std::int32_t>(point)) != root(0))
      refuse(name + ": points 0 and " + std::to_string(point) + " are in unconnected parts");
}

}  // namespace

Vector Mesh::between(const Vector& a, const Vector& b) const {
  const Vector d = b - a;
  return period ? Vector{nearest(d.x, period->x), nearest(d.y, period->y)} : d;
}

void require_valid(const Mesh& mesh, const std::string& name) {
  require_triangles(mesh, name);
  require_boundary(mesh, name);
  require_connected(mesh, name);
}

Mesh periodic_box(std::int32_t n, double side) {
  Mesh mesh;
  mesh.period = Vector{side, side};
  const double h = side / n;
  Random random(1);
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t j = 0; j < n; ++j) {
      const double dx = 0.2 * (random.unit() - 0.5);
      const double dy = 0.2 * (random.unit() - 0.5);
      mesh.points.push_back({(j + dx) * h, (i + dy) * h});
    }
  const auto point = [n](std::int32_t i, std::int32_t j) { return (i % n) * n + j % n; };
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t j = 0; j < n; ++j) {
      const std::int32_t sw = point(i, j), se = point(i, j + 1), ne = point(i + 1, j + 1),
                         nw = point(i + 1, j);
      if ((i + j) % 2 == 0) {
        mesh.triangles.push_back({sw, se, ne});
        mesh.triangles.push_back({sw, ne, nw});
      } else {
        mesh.triangles.push_back({sw, se, nw});
        mesh.triangles.push_back({se, ne, nw});
      }
    }
  return mesh;
}

}  // namespace nuice::euler

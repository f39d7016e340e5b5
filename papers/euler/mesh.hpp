// SPDX-License-Identifier: BSD-3-Clause
// Triangulations of the plane, or of a periodic box.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "kit/errors.hpp"
#include "kit/files.hpp"
#include "nuice/core/random.hpp"

namespace nuice::euler {

/// Returns a point's number as an array index.
inline std::size_t at(std::int32_t point) { return static_cast<std::size_t>(point); }

struct Vector {
  double x = 0;
  double y = 0;
  Vector operator+(const Vector& o) const { return {x + o.x, y + o.y}; }
  Vector operator-(const Vector& o) const { return {x - o.x, y - o.y}; }
  Vector operator*(double s) const { return {x * s, y * s}; }
  Vector& operator+=(const Vector& o) { return *this = *this + o; }
};
inline double dot(const Vector& a, const Vector& b) { return a.x * b.x + a.y * b.y; }
inline double cross(const Vector& a, const Vector& b) { return a.x * b.y - a.y * b.x; }
/// Returns v turned by 90 degrees to the right.
inline Vector right_of(const Vector& v) { return {v.y, -v.x}; }

enum class Boundary : std::int8_t { wall, far };

struct BoundaryEdge {
  std::int32_t a;
  std::int32_t b;
  Boundary kind;
};

inline double nearest(double difference, double period) {
  return difference - period * std::round(difference / period);
}

struct Mesh {
  std::vector<Vector> points;
  std::vector<std::array<std::int32_t, 3>> triangles;  // counter-clockwise
  std::vector<BoundaryEdge> boundary;                  // edges with one triangle
  std::optional<Vector> period;                        // points that differ by a multiple of it are identical

  /// Returns the vector from a to b. In a periodic mesh, returns the vector to the nearest image of b.
  Vector between(const Vector& a, const Vector& b) const {
    const Vector d = b - a;
    return period ? Vector{nearest(d.x, period->x), nearest(d.y, period->y)} : d;
  }
};

using Edge = std::pair<std::int32_t, std::int32_t>;  // smaller point first

inline Edge edge_of(std::int32_t a, std::int32_t b) { return {std::min(a, b), std::max(a, b)}; }

inline void require_triangles(const Mesh& mesh, const std::string& name) {
  if (mesh.triangles.empty()) kit::refuse("{} has no triangles", name);
  std::vector<char> used(mesh.points.size(), 0);
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto [a, b, c] = mesh.triangles[t];
    for (const std::int32_t point : {a, b, c}) {
      if (point < 0 || std::cmp_greater_equal(point, mesh.points.size()))
        kit::refuse("{}: triangle {} has point {} of {}", name, t, point, mesh.points.size());
      used[at(point)] = 1;
    }
    const Vector& corner = mesh.points[at(a)];
    const Vector ab = mesh.between(corner, mesh.points[at(b)]);
    const Vector ac = mesh.between(corner, mesh.points[at(c)]);
    if (!(cross(ab, ac) > 0)) kit::refuse("{}: triangle {} is inverted or flat", name, t);
  }
  const auto unused = std::ranges::find(used, 0);
  if (unused != used.end()) kit::refuse("{}: point {} has no triangle", name, unused - used.begin());
}

inline std::map<Edge, int> count_triangles(const Mesh& mesh) {
  std::map<Edge, int> count;
  for (const auto& [a, b, c] : mesh.triangles)
    for (const Edge& edge : {edge_of(a, b), edge_of(b, c), edge_of(c, a)}) ++count[edge];
  return count;
}

inline void require_boundary(const Mesh& mesh, const std::string& name) {
  std::map<Edge, int> count = count_triangles(mesh);
  const auto text = [](const Edge& edge) {
    return "edge " + std::to_string(edge.first) + " - " + std::to_string(edge.second);
  };
  for (const auto& [edge, triangles] : count)
    if (triangles > 2) kit::refuse("{}: {} has {} triangles", name, text(edge), triangles);
  for (const BoundaryEdge& given : mesh.boundary) {
    const auto found = count.find(edge_of(given.a, given.b));
    if (found == count.end() || found->second != 1)
      kit::refuse("{}: {} is not a boundary edge, or is given twice", name, text(edge_of(given.a, given.b)));
    found->second = 2;
  }
  for (const auto& [edge, triangles] : count)
    if (triangles != 2)
      kit::refuse("{}: {} is at the boundary, but no kind is given for it", name, text(edge));
}

inline void require_connected(const Mesh& mesh, const std::string& name) {
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
      kit::refuse("{}: points 0 and {} are in unconnected parts", name, point);
}

/// Throws Error invalid_argument, which names the triangle, point or edge (from 0), if the mesh is invalid:
/// inverted or flat triangles, points that do not exist or have no triangle, edges of more than two
/// triangles, boundary edges that are missing, listed twice or no boundary edges, or unconnected parts.
inline void require_valid(const Mesh& mesh, const std::string& name) {
  require_triangles(mesh, name);
  require_boundary(mesh, name);
  require_connected(mesh, name);
}

/// Returns n x n points of a periodic box of this side, moved at random by up to a tenth of their distance.
/// Each square has two triangles, with alternating diagonals. n must be even and at least 4.
inline Mesh periodic_box(std::int32_t n, double side) {
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

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), in_(path) {}

  Mesh read() {
    if (next() != "nuice-mesh 1") in_.fail("not a mesh: the first line must be \"nuice-mesh 1\"");
    Mesh mesh;
    for (std::int64_t left = count("points"); left > 0; --left) {
      const auto [x, y] = numbers<double, 2>("x y");
      if (!std::isfinite(x) || !std::isfinite(y)) in_.fail("a coordinate is not finite");
      mesh.points.push_back({x, y});
    }
    for (std::int64_t left = count("triangles"); left > 0; --left)
      mesh.triangles.push_back(numbers<std::int32_t, 3>("three points"));
    for (std::int64_t left = count("boundary"); left > 0; --left) mesh.boundary.push_back(boundary_edge());
    if (next() != "end") in_.fail(R"(expected "end", found "{}")", in_.line());
    require_valid(mesh, path_);
    return mesh;
  }

 private:
  const std::string& next() {
    if (!in_.next()) in_.fail("the file ends too early");
    return in_.line();
  }

  std::int64_t count(const std::string& word) {
    std::istringstream fields(next());
    std::string found;
    std::string rest;
    std::int64_t value = -1;
    constexpr std::int64_t max_count = 100'000'000;
    if (!(fields >> found >> value) || found != word || value < 0 || value > max_count || fields >> rest)
      in_.fail(R"(expected "{} COUNT", found "{}")", word, in_.line());
    return value;
  }

  template <typename Number, std::size_t Count>
  std::array<Number, Count> numbers(const std::string& what) {
    std::istringstream fields(next());
    std::array<Number, Count> values{};
    std::string rest;
    for (Number& value : values)
      if (!(fields >> value)) in_.fail("expected {}, found \"{}\"", what, in_.line());
    if (fields >> rest) in_.fail("expected {}, found \"{}\"", what, in_.line());
    return values;
  }

  BoundaryEdge boundary_edge() {
    std::istringstream fields(next());
    BoundaryEdge edge{};
    std::string kind;
    std::string rest;
    if (!(fields >> edge.a >> edge.b >> kind) || (kind != "wall" && kind != "far") || fields >> rest)
      in_.fail("expected two points and wall or far, found \"{}\"", in_.line());
    edge.kind = kind == "wall" ? Boundary::wall : Boundary::far;
    return edge;
  }

  std::string path_;
  kit::LineReader in_;
};

/// Reads a mesh and checks it. Format: docs/reference/formats.md. Throws Error io, or parse with "file:line:
/// what is wrong".
inline Mesh load_mesh(const std::string& path) { return Reader(path).read(); }

}  // namespace nuice::euler

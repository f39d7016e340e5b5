// SPDX-License-Identifier: BSD-3-Clause
// Triangulations of the plane, or of a periodic box.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nuice::euler {

/// As the place of a point in an array.
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
/// To the right of the direction of v, as long as v.
inline Vector right_of(const Vector& v) { return {v.y, -v.x}; }

enum class Boundary : std::int8_t { wall, far };

struct BoundaryEdge {
  std::int32_t a;
  std::int32_t b;
  Boundary kind;
};

struct Mesh {
  std::vector<Vector> points;
  std::vector<std::array<std::int32_t, 3>> triangles;  // counter-clockwise
  std::vector<BoundaryEdge> boundary;                  // the edges that have one triangle
  std::optional<Vector> period;                        // points that differ by a multiple of it are the same

  /// From a to b; in a periodic mesh to the nearest image of b.
  Vector between(const Vector& a, const Vector& b) const;
};

/// Throws Error invalid_argument, naming triangle, point or edge (from 0), for a mesh with inverted or flat triangles,
/// points that do not exist or have no triangle, edges of more than two triangles, boundary edges that are missing,
/// given twice or are none, and for one that falls into unconnected parts.
void require_valid(const Mesh& mesh, const std::string& name);

/// n x n points of a periodic box of this side, moved at random by up to a tenth of their distance; two triangles per
/// square, with diagonals in turns. n must be even and at least 4.
Mesh periodic_box(std::int32_t n, double side);

/// Format: docs/reference/formats.md. Throws Error parse with "file:line: what is wrong", or io. The mesh is valid.
Mesh load_mesh(const std::string& path);

}  // namespace nuice::euler

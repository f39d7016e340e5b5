// SPDX-License-Identifier: BSD-3-Clause
// The median dual of a mesh: a polygon of air around every point. The polygons of the two ends of an edge share a
// face, which goes from the centroids of the edge's triangles over its middle. This is the graph whose edges figure 10
// of paper 000 sweeps over.
#pragma once

#include <cstdint>
#include <vector>

#include "euler/mesh.hpp"
#include "nuice/core/types.hpp"

namespace nuice::euler {

struct DualEdge {
  std::int32_t a;
  std::int32_t b;
  Vector along;   // from a to b
  Vector normal;  // of the face, from a to b, as long as the face
};

/// Plain numbers throughout, so that it can be broadcast.
struct Dual {
  std::vector<DualEdge> edges;  // a < b, sorted
  std::vector<double> area;     // by point
  std::vector<Vector> wall;     // outward normals of the boundary around the point, added up by kind
  std::vector<Vector> far;

  std::size_t num_points() const { return area.size(); }
};

/// Requires a valid mesh.
Dual make_dual(const Mesh& mesh);

/// The part of each point, by METIS. Throws Error invalid_argument for fewer points than parts.
std::vector<Rank> partition(const Dual& dual, Rank num_parts);

}  // namespace nuice::euler

// SPDX-License-Identifier: BSD-3-Clause
// Writes flows as legacy VTK files (ASCII, unstructured grid), which ParaView, VisIt and meshio read.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "euler/gas.hpp"
#include "euler/mesh.hpp"
#include "nuice/core/error.hpp"

namespace nuice::euler {

inline bool goes_over_the_rim(const Mesh& mesh, const std::array<std::int32_t, 3>& triangle) {
  if (!mesh.period) return false;
  const Vector& a = mesh.points[static_cast<std::size_t>(triangle[0])];
  const auto is_far = [&](std::int32_t other) {
    const Vector d = mesh.points[static_cast<std::size_t>(other)] - a;
    return std::abs(d.x) > mesh.period->x / 2 || std::abs(d.y) > mesh.period->y / 2;
  };
  return is_far(triangle[1]) || is_far(triangle[2]);
}

inline void write_triangles(std::ostream& out, const Mesh& mesh) {
  std::string lines;
  std::size_t count = 0;
  for (const auto& triangle : mesh.triangles) {
    if (goes_over_the_rim(mesh, triangle)) continue;
    lines += fmt::format("3 {} {} {}\n", triangle[0], triangle[1], triangle[2]);
    ++count;
  }
  out << fmt::format("CELLS {} {}\n{}CELL_TYPES {}\n", count, 4 * count, lines, count);
  for (std::size_t i = 0; i < count; ++i) out << "5\n";
}

inline void write_scalar(std::ostream& out, const std::string& name, const std::vector<State>& states,
                         const std::function<double(const Flow&)>& value) {
  out << fmt::format("SCALARS {} double 1\nLOOKUP_TABLE default\n", name);
  for (const State& state : states) out << fmt::format("{:.12g}\n", value(to_flow(state)));
}

/// Writes density, pressure, Mach number and velocity at the points. Triangles across the border of a
/// periodic mesh are left out. Writes to a temporary name first and then renames the file. Throws Error io.
inline void write_vtk(const std::string& path, const Mesh& mesh, const std::vector<State>& states) {
  const std::string temporary = path + ".part";
  std::ofstream out(temporary);
  out << "# vtk DataFile Version 3.0\nnuice-euler\nASCII\nDATASET UNSTRUCTURED_GRID\n";
  out << fmt::format("POINTS {} double\n", mesh.points.size());
  for (const Vector& point : mesh.points) out << fmt::format("{:.17g} {:.17g} 0\n", point.x, point.y);
  write_triangles(out, mesh);
  out << fmt::format("POINT_DATA {}\n", states.size());
  write_scalar(out, "density", states, [](const Flow& w) { return w[0]; });
  write_scalar(out, "pressure", states, [](const Flow& w) { return w[3]; });
  write_scalar(out, "mach", states, [](const Flow& w) { return std::hypot(w[1], w[2]) / sound_speed(w); });
  out << "VECTORS velocity double\n";
  for (const State& state : states) {
    const Flow w = to_flow(state);
    out << fmt::format("{:.12g} {:.12g} 0\n", w[1], w[2]);
  }
  out.close();
  if (!out || std::rename(temporary.c_str(), path.c_str()) != 0) {
    (void)std::remove(temporary.c_str());
    throw Error(ErrorCode::io, path + ": cannot be written");
  }
}

}  // namespace nuice::euler

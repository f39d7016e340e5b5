// SPDX-License-Identifier: BSD-3-Clause
// Flows as legacy VTK files (ASCII, unstructured grid), which ParaView, VisIt and meshio read.
#pragma once

#include <string>
#include <vector>

#include "euler/gas.hpp"
#include "euler/mesh.hpp"

namespace nuice::euler {

/// Density, pressure, Mach number and velocity at the points. In a periodic mesh, triangles over the rim are left out.
/// Written under another name first, then renamed. Throws Error io.
void write_vtk(const std::string& path, const Mesh& mesh, const std::vector<State>& states);

}  // namespace nuice::euler

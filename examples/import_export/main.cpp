// SPDX-License-Identifier: BSD-3-Clause
// A finite-element solver in the manner of Tpetra: vectors have one owner an entry, elements are
// computed on vectors in which ranks hold each other's entries, an import fetches what is missing and an
// export adds what was computed for others.
//
//   mpiexec -n 4 import_export [POINTS 64] [COLUMNS 4]
//   mpiexec -n 4 import_export_mpi ...                    # the same with import_mpi.hpp
//
// Solves -u'' = f on the unit square, POINTS x POINTS nodes, linear triangles, for COLUMNS right-hand sides
// at once by conjugate gradients. Both programs must print the same digits.
#include <mpi.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>

#include IMPORT_HEADER

namespace {

using Sums = std::vector<double>;

struct Mesh {
  Map owned;                                        // nodes in ranges
  Map held;                                         // nodes of this rank's triangles
  std::vector<std::array<std::size_t, 3>> corners;  // of each triangle, as entries of `held`
};

/// Squares are dealt out in blocks that do not fit the ranges of nodes, so that ranks meet several others.
Mesh make_mesh(std::int64_t points, int rank, int size) {
  Mesh mesh;
  for (int r = 0; r <= size; ++r) mesh.owned.begins.push_back(points * points * r / size);
  for (auto i = mesh.owned.begins[rank]; i < mesh.owned.begins[rank + 1]; ++i)
    mesh.owned.indices.push_back(i);
  std::map<std::int64_t, std::size_t> entry;
  const auto corner = [&](std::int64_t node) {
    const auto [at, is_new] = entry.try_emplace(node, mesh.held.indices.size());
    if (is_new) mesh.held.indices.push_back(node);
    return at->second;
  };
  for (std::int64_t y = 0; y + 1 < points; ++y) {
    for (std::int64_t x = 0; x + 1 < points; ++x) {
      if ((x / 16 + 3 * (y / 16)) % size != rank) continue;
      const std::int64_t at = y * points + x;
      mesh.corners.push_back({corner(at), corner(at + 1), corner(at + points)});
      mesh.corners.push_back({corner(at + points + 1), corner(at + points), corner(at + 1)});
    }
  }
  return mesh;
}

/// y = A x: the stiffness of a right-angled triangle with its right angle at the first corner.
void multiply(const Mesh& mesh, Import& import, const MultiVector& x, MultiVector& y) {
  MultiVector held_x(mesh.held.indices.size(), x.columns), held_y = held_x;
  import.do_import(x, held_x);
  for (const auto& [a, b, c] : mesh.corners) {
    for (std::size_t column = 0; column < x.columns; ++column) {
      const auto value = [&](MultiVector& v, std::size_t k) -> double& {
        return v.values[k * v.columns + column];
      };
      const double to_b = (value(held_x, a) - value(held_x, b)) / 2,
                   to_c = (value(held_x, a) - value(held_x, c)) / 2;
      value(held_y, a) += to_b + to_c;
      value(held_y, b) -= to_b;
      value(held_y, c) -= to_c;
    }
  }
  std::fill(y.values.begin(), y.values.end(), 0.0);
  import.do_export(held_y, y);
}

/// Of each column.
Sums dot(const MultiVector& x, const MultiVector& y) {
  Sums sums(x.columns);
  for (std::size_t i = 0; i < x.values.size(); ++i) sums[i % x.columns] += x.values[i] * y.values[i];
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM,
                MPI_COMM_WORLD);
  return sums;
}

/// y = factor * y + x, or x += factor * y.
void scale_and_add(MultiVector& y, const Sums& factor, const MultiVector& x) {
  for (std::size_t i = 0; i < y.values.size(); ++i)
    y.values[i] = factor[i % y.columns] * y.values[i] + x.values[i];
}
void add_scaled(MultiVector& x, const Sums& factor, double sign, const MultiVector& y) {
  for (std::size_t i = 0; i < x.values.size(); ++i) x.values[i] += sign * factor[i % x.columns] * y.values[i];
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::int64_t points = argc > 1 ? std::atoll(argv[1]) : 64;
  const std::size_t columns = argc > 2 ? static_cast<std::size_t>(std::atoll(argv[2])) : 4;
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  {
    const Mesh mesh = make_mesh(points, rank, size);
    Import import(MPI_COMM_WORLD, mesh.owned, mesh.held);
    const std::size_t num_owned = mesh.owned.indices.size();
    MultiVector x(num_owned, columns), residual = x, product = x;
    // A source at one node and a sink at another, others in each column, so that the sums
    // are zero and A x = b can be solved.
    for (std::size_t c = 0; c < columns; ++c) {
      for (const auto& [node, amount] :
           {std::pair{points + 1 + static_cast<std::int64_t>(c), 1.0},
            std::pair{points * points - 2 - points * static_cast<std::int64_t>(c), -1.0}}) {
        const std::int64_t at = node - mesh.owned.begins[rank];
        if (at >= 0 && at < static_cast<std::int64_t>(num_owned))
          residual.values[static_cast<std::size_t>(at) * columns + c] += amount;
      }
    }
    MultiVector direction = residual;
    Sums norm = dot(residual, residual);
    int steps = 0;
    for (; steps < 1000 && *std::max_element(norm.begin(), norm.end()) > 1e-16; ++steps) {
      multiply(mesh, import, direction, product);
      const Sums along = dot(direction, product);
      Sums length(columns), turn(columns);
      for (std::size_t c = 0; c < columns; ++c) length[c] = norm[c] / along[c];
      add_scaled(x, length, 1, direction);
      add_scaled(residual, length, -1, product);
      const Sums next = dot(residual, residual);
      for (std::size_t c = 0; c < columns; ++c) turn[c] = next[c] / norm[c];
      scale_and_add(direction, turn, residual);
      norm = next;
    }
    const Sums energy = dot(x, x);
    if (rank == 0)
      std::printf("%d steps, sum of squares %.17g\n", steps,
                  std::accumulate(energy.begin(), energy.end(), 0.0));
  }
  MPI_Finalize();
}

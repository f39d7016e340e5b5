// SPDX-License-Identifier: BSD-3-Clause
// The product of a distributed matrix and a vector: the only part of the program that exchanges more than a few
// numbers. with_nuice.cpp and baseline_mpi.cpp are the same program, with nuice and with MPI alone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cg/distribute.hpp"
#include "common/halo_facts.hpp"
#include "nuice/mpi/plan.hpp"

namespace nuice::cg {

class Product {
 public:
  virtual ~Product() = default;
  /// This rank's part of x, to be filled before multiply(): row by row, the values of all right-hand sides.
  virtual std::span<double> x() = 0;
  /// Collective. y = A x on this rank's rows.
  virtual void multiply(std::span<double> y) = 0;
  /// Collective. Only the exchange that multiply() needs.
  virtual void exchange() = 0;
};

/// Columns as places in an array that has owned values, then ghosts.
struct LocalMatrix {
  std::vector<std::int64_t> begin;
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  std::size_t num_interior;
  std::size_t num_rhs;

  void multiply_interior(std::span<const double> x, std::span<double> y) const {
    cg::multiply(begin, columns, values, 0, num_interior, num_rhs, x, y);
  }
  void multiply_boundary(std::span<const double> x, std::span<double> y) const {
    cg::multiply(begin, columns, values, num_interior, begin.size() - 1, num_rhs, x, y);
  }
};

std::unique_ptr<Product> make_with_nuice(const LocalRows& rows, int num_rhs, const mpi::PlanOptions& options,
                                         apps::HaloFacts& facts);
std::unique_ptr<Product> make_with_isend(const LocalRows& rows, int num_rhs);
std::unique_ptr<Product> make_with_neighbor(const LocalRows& rows, int num_rhs);

}  // namespace nuice::cg

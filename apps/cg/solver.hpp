// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients (Hestenes, Stiefel 1952), without preconditioner.
#pragma once

#include <mpi.h>

#include <vector>

#include "cg/product.hpp"

namespace nuice::cg {

struct Solution {
  std::vector<double> x;  // this rank's rows
  int iterations = 0;
  bool converged = false;
  double relative_residual = 0;  // |r| / |b| by the recurrence, the greatest of all right-hand sides
  double seconds = 0;            // maximum over the ranks
};

/// Collective over comm, whose ranks' rows `product` multiplies. Solves A x = b from x = 0 until |r| <= rtol |b|,
/// num_rhs systems side by side (b and x row by row), which share products and sums but no search directions.
/// The sums over all rows do not depend on how the rows are spread (exact_sum.hpp), so the iterates of any number
/// of ranks are equal to the last bit, and so is the number of iterations.
/// Throws Error invalid_argument, on all ranks, where p'Ap is not positive: A is not positive definite.
Solution solve(Product& product, const std::vector<double>& b, std::size_t num_rhs, double rtol,
               int max_iterations, MPI_Comm comm);

}  // namespace nuice::cg

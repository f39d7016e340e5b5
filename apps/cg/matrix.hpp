// SPDX-License-Identifier: BSD-3-Clause
// Sparse matrices by rows, and where they come from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nuice/core/text_io.hpp"

namespace nuice::cg {

/// Row i has values[begin[i] .. begin[i + 1]) in those columns, ascending.
struct Matrix {
  std::int64_t num_columns = 0;
  std::vector<std::int64_t> begin{0};
  std::vector<std::int64_t> columns;
  std::vector<double> values;

  std::int64_t num_rows() const { return static_cast<std::int64_t>(begin.size()) - 1; }
  std::int64_t num_entries() const { return static_cast<std::int64_t>(columns.size()); }
};

using Entry = RealMatrix::Entry;

/// Sorts the entries; those at the same place are added up.
Matrix from_entries(std::int64_t num_rows, std::int64_t num_columns, std::vector<Entry> entries);

/// The five-point Laplace operator on a grid of n x n points inside a square with zero boundary values.
Matrix poisson(std::int64_t n);

/// A Matrix Market file, as load_real_matrix() reads it. Throws Error as that does; invalid_argument if it is not square
/// or has fewer entries than rows.
Matrix load_matrix(const std::string& path);

/// Throws Error invalid_argument, naming row and column, unless conjugate gradients can begin: square, equal to its
/// transpose, positive diagonal. Whether it is positive definite shows in the iteration.
void require_symmetric(const Matrix& matrix, const std::string& name);

/// y = A x for rows begin_row .. end_row - 1, num_rhs values in a row of x and y. Each sum goes by the order of its
/// row's entries.
template <typename Columns>
void multiply(std::span<const std::int64_t> begin, const Columns& columns, std::span<const double> values,
              std::size_t begin_row, std::size_t end_row, std::size_t num_rhs, std::span<const double> x,
              std::span<double> y) {
  for (std::size_t row = begin_row; row < end_row; ++row) {
    const auto end = static_cast<std::size_t>(begin[row + 1]);
    if (num_rhs > 1) {
      const std::span<double> sums = y.subspan(row * num_rhs, num_rhs);
      std::ranges::fill(sums, 0.0);
      for (auto e = static_cast<std::size_t>(begin[row]); e < end; ++e) {
        const std::span<const double> from =
            x.subspan(static_cast<std::size_t>(columns[e]) * num_rhs, num_rhs);
        for (std::size_t c = 0; c < num_rhs; ++c) sums[c] += values[e] * from[c];
      }
      continue;
    }
    double sum = 0;
    for (auto e = static_cast<std::size_t>(begin[row]); e < end; ++e)
      sum += values[e] * x[static_cast<std::size_t>(columns[e])];
    y[row] = sum;
  }
}

}  // namespace nuice::cg

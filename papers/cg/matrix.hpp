// SPDX-License-Identifier: BSD-3-Clause
// Sparse matrices by rows, and where they come from.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kit/errors.hpp"
#include "nuice/core/text_io.hpp"

namespace nuice::cg {

/// A sparse matrix. Row i has the values values[begin[i] .. begin[i + 1]). The columns at the same positions
/// ascend.
struct Matrix {
  std::int64_t num_columns = 0;
  std::vector<std::int64_t> begin{0};
  std::vector<std::int64_t> columns;
  std::vector<double> values;

  std::int64_t num_rows() const { return static_cast<std::int64_t>(begin.size()) - 1; }
  std::int64_t num_entries() const { return static_cast<std::int64_t>(columns.size()); }
};

using Entry = RealMatrix::Entry;

/// Computes y = A x for rows begin_row .. end_row - 1. x and y have num_rhs values per row. Each sum follows
/// the order of its row's entries.
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

inline std::string place(std::int64_t i, std::int64_t j) {
  return "(" + std::to_string(i + 1) + ", " + std::to_string(j + 1) + ")";
}

/// Returns the value at row i and column j; 0 if the matrix has no entry there.
inline double value_at(const Matrix& matrix, std::int64_t i, std::int64_t j) {
  const auto first = matrix.columns.begin() + matrix.begin[static_cast<std::size_t>(i)];
  const auto last = matrix.columns.begin() + matrix.begin[static_cast<std::size_t>(i) + 1];
  const auto at = std::lower_bound(first, last, j);
  return at != last && *at == j ? matrix.values[static_cast<std::size_t>(at - matrix.columns.begin())] : 0;
}

inline void require_square(std::int64_t num_rows, std::int64_t num_columns, const std::string& name) {
  if (num_rows == num_columns) return;
  kit::refuse("{} is not square: {} rows, {} columns", name, num_rows, num_columns);
}

/// Sorts the entries, and adds up entries at the same place.
inline Matrix from_entries(std::int64_t num_rows, std::int64_t num_columns, std::vector<Entry> entries) {
  std::ranges::stable_sort(entries, {}, [](const Entry& e) { return std::tuple(e.row, e.column); });
  Matrix matrix;
  matrix.num_columns = num_columns;
  matrix.begin.assign(static_cast<std::size_t>(num_rows) + 1, 0);
  std::int64_t last_row = -1;
  for (const Entry& entry : entries) {
    if (entry.row == last_row && entry.column == matrix.columns.back()) {
      matrix.values.back() += entry.value;
      continue;
    }
    last_row = entry.row;
    matrix.columns.push_back(entry.column);
    matrix.values.push_back(entry.value);
    ++matrix.begin[static_cast<std::size_t>(entry.row) + 1];
  }
  for (std::size_t row = 1; row < matrix.begin.size(); ++row) matrix.begin[row] += matrix.begin[row - 1];
  return matrix;
}

/// Reads a Matrix Market file with load_real_matrix(). Throws its errors, and Error invalid_argument if the
/// matrix is not square or has fewer entries than rows.
inline Matrix load_matrix(const std::string& path) {
  RealMatrix file = load_real_matrix(path);
  require_square(file.num_rows, file.num_columns, path);
  // This is checked before memory for rows is allocated, because a damaged file may announce too many rows.
  if (static_cast<std::int64_t>(file.entries.size()) < file.num_rows)
    kit::refuse(
        "{} is not positive definite: {} rows with {} entries in all; every row needs one on the diagonal",
        path, file.num_rows, file.entries.size());
  return from_entries(file.num_rows, file.num_columns, std::move(file.entries));
}

/// Returns the five-point Laplace operator on a grid of n x n points inside a square with zero boundary
/// values.
inline Matrix poisson(std::int64_t n) {
  Matrix matrix;
  matrix.num_columns = n * n;
  const auto add = [&](std::int64_t column, double value) {
    matrix.columns.push_back(column);
    matrix.values.push_back(value);
  };
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t row = i * n + j;
      if (i > 0) add(row - n, -1);
      if (j > 0) add(row - 1, -1);
      add(row, 4);
      if (j < n - 1) add(row + 1, -1);
      if (i < n - 1) add(row + n, -1);
      matrix.begin.push_back(matrix.num_entries());
    }
  return matrix;
}

/// Throws Error `invalid_argument` with row and column unless the matrix is square, equals its transpose and
/// has a positive diagonal. The iteration later shows whether it is positive definite.
inline void require_symmetric(const Matrix& matrix, const std::string& name) {
  require_square(matrix.num_rows(), matrix.num_columns, name);
  constexpr double tolerance = 1e-12;  // relative to the larger value, because values may come from rounded
                                       // sums
  for (std::int64_t row = 0; row < matrix.num_rows(); ++row) {
    for (std::int64_t e = matrix.begin[static_cast<std::size_t>(row)];
         e < matrix.begin[static_cast<std::size_t>(row) + 1]; ++e) {
      const std::int64_t column = matrix.columns[static_cast<std::size_t>(e)];
      const double here = matrix.values[static_cast<std::size_t>(e)];
      const double there = value_at(matrix, column, row);
      if (!(std::abs(here - there) <= tolerance * std::max(std::abs(here), std::abs(there))))
        kit::refuse("{} is not symmetric: {:f} at {}, {:f} at {}", name, here, place(row, column), there,
                    place(column, row));
    }
    if (!(value_at(matrix, row, row) > 0))
      kit::refuse("{} is not positive definite: {:f} at {}", name, value_at(matrix, row, row),
                  place(row, row));
  }
}

}  // namespace nuice::cg

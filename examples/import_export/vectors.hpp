// SPDX-License-Identifier: BSD-3-Clause
// What a program in the manner of Tpetra has without its exchanges: maps and vectors of several columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// Which global indices a rank holds, in its own order; begins: the one map in which
/// every index has one owner, in ranges.
struct Map {
  std::vector<std::int64_t> indices;
  std::vector<std::int64_t>
      begins;  ///< Of the map with one owner: rank r has begins[r] .. begins[r + 1] - 1.
};

/// Entry k of a map has the values [k * columns, (k + 1) * columns).
struct MultiVector {
  MultiVector(std::size_t entries, std::size_t num_columns)
      : columns(num_columns), values(entries * num_columns) {}
  std::size_t columns;
  std::vector<double> values;
};

// SPDX-License-Identifier: BSD-3-Clause
// The array, spread over the ranks, and how it comes there and back.
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "nuice/core/types.hpp"

namespace nuice::fft2d {

using Complex = std::complex<double>;

/// Lines 0 .. size - 1 in ranges over the ranks, as even as can be; some ranks have none where there are few.
struct Ranges {
  std::int64_t size;
  Rank num_ranks;

  std::int64_t begin(Rank rank) const { return size * rank / num_ranks; }
  std::int64_t count(Rank rank) const { return begin(rank + 1) - begin(rank); }
};

struct Shape {
  std::int64_t rows;
  std::int64_t columns;
};

/// Element (row, column) of the input when there is no file: uniform in [-1, 1) for both parts.
Complex element(std::int64_t row, std::int64_t column, std::uint64_t seed);

/// Collective. This rank's rows of the array in the file: rows x columns numbers of two doubles in the machine's
/// byte order, row by row (numpy's complex128, tofile()).
/// Throws Error, on all ranks: io for a file that cannot be read or has another length.
std::vector<Complex> read_rows(const std::string& path, const Shape& shape);

/// Collective. The whole array on rank 0, empty elsewhere, from every rank's rows.
std::vector<Complex> gather_rows(const std::vector<Complex>& mine, const Shape& shape);

/// Rank 0 only.
void write_array(const std::string& path, const std::vector<Complex>& array);

}  // namespace nuice::fft2d

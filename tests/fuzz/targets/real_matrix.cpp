// SPDX-License-Identifier: BSD-3-Clause
// Sparse matrices of the numerical programs, from plain and packed files.
#include "driver/input_file.hpp"
#include "nuice/core/text_io.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nuice;
  static fuzz::InputFile file("matrix");
  const std::string& path = file.hold(fuzz::text_of(data, size));
  return fuzz::expect_errors_only([&] {
    const RealMatrix matrix = load_real_matrix(path);
    for (const auto& entry : matrix.entries) {
      fuzz::require(entry.row >= 0 && entry.row < matrix.num_rows, "a row that is not there");
      fuzz::require(entry.column >= 0 && entry.column < matrix.num_columns, "a column that is not there");
    }
  });
}

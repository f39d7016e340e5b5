// SPDX-License-Identifier: BSD-3-Clause
// Communication matrices in Matrix Market files: what is read is written and read again as the same.
#include <sstream>

#include "driver/target.hpp"
#include "nuice/core/text_io.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nuice;
  return fuzz::expect_errors_only([&] {
    std::istringstream in{std::string(fuzz::text_of(data, size))};
    const CommMatrix matrix = read_matrix_market(in, "fuzz");
    if (matrix.num_ranks() > 10'000) return;
    std::stringstream again;
    write_matrix_market(again, matrix);
    fuzz::require(read_matrix_market(again, "again") == matrix, "not the same matrix again");
  });
}

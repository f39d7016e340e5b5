// SPDX-License-Identifier: BSD-3-Clause
// Rows over ranks: METIS partitions the graph of the matrix on rank 0, which then sends each rank its rows.
#pragma once

#include <cstdint>
#include <vector>

#include "cg/matrix.hpp"
#include "nuice/core/types.hpp"

namespace nuice::cg {

/// One rank's rows, numbered anew: rank r has rows row_begins[r] .. row_begins[r + 1] - 1, columns have the new
/// numbers too. A row's entries keep the order they had, so that its sum rounds as in the whole matrix.
struct LocalRows {
  std::vector<std::int64_t> row_begins;  // num_ranks + 1, the same on all ranks
  std::vector<std::int64_t> begin{0};
  std::vector<std::int64_t> columns;
  std::vector<double> values;
  std::size_t num_interior = 0;  // rows whose columns are all this rank's; they come first

  std::size_t num_rows() const { return begin.size() - 1; }
};

struct Distribution {
  LocalRows local;
  std::vector<std::int64_t> new_number;  // on rank 0 only: of each row of the whole matrix
};

/// Collective. Rank 0 has the matrix. Throws Error, on all ranks, for fewer rows than ranks.
Distribution distribute(const Matrix& matrix);

/// Collective. Of a vector with num_rhs values in a row every rank has its rows' part: the whole of it, in the original
/// order, on rank 0.
std::vector<double> collect(const Distribution& distribution, const std::vector<double>& mine,
                            std::size_t num_rhs);

/// Collective. The other way: each rank's part of what rank 0 has.
std::vector<double> spread(const Distribution& distribution, const std::vector<double>& whole,
                           std::size_t num_rhs);

}  // namespace nuice::cg

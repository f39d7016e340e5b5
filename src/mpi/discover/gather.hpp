// SPDX-License-Identifier: BSD-3-Clause
// Sparse gathers: every rank contributes a list of records and receives the lists of all ranks.
// Memory and traffic: O(ranks + records of all ranks), never ranks squared.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mpi/communicator.hpp"
#include "nuice/core/comm_matrix.hpp"
#include "nuice/core/phase_table.hpp"

namespace nuice::mpi {

/// Records of `width` numbers each. Rank r has the records [begin[r], begin[r + 1]).
struct Gathered {
  int width = 1;
  std::vector<std::int64_t> values;  // width * begin[num_ranks]
  std::vector<int> begin;            // num_ranks + 1

  std::span<const std::int64_t> record(int index) const {
    const auto w = static_cast<std::size_t>(width);
    return {values.data() + w * static_cast<std::size_t>(index), w};
  }
};

/// Collective. Returns the records of all ranks. mine: this rank's records of `width` numbers, back to back.
/// Throws Error `limit` on all ranks if there are 2^31 records or more in all, because MPI counts them with
/// an int.
Gathered gather_records(const Communicator& comm, std::span<const std::int64_t> mine, int width);

/// Collective. Returns the matrix to which every rank contributes its row. Throws the errors of
/// CommMatrix::from_messages() on all ranks.
CommMatrix gather_matrix(const Communicator& comm, std::span<const Partner> row);

/// Collective. Returns the matrix on rank `root` only. Other ranks get an empty matrix, and need memory only
/// for their own row.
CommMatrix gather_matrix_at(const Communicator& comm, std::span<const Partner> row, Rank root);

}  // namespace nuice::mpi

// SPDX-License-Identifier: BSD-3-Clause
// Sparse gathers: every rank contributes a list of records and receives the lists of all ranks.
// Memory and traffic: O(ranks + records of all ranks), never ranks squared.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "exchange/mpi/communicator.hpp"
#include "nuice/comm_matrix.hpp"
#include "nuice/phase_table.hpp"

namespace nuice::mpi {

/// Records of `width` numbers each, those of rank r at [begin[r], begin[r + 1]) (counted in records).
struct Gathered {
  int width = 1;
  std::vector<std::int64_t> values;  // width * begin[num_ranks]
  std::vector<int> begin;            // num_ranks + 1

  std::span<const std::int64_t> record(int index) const {
    const auto w = static_cast<std::size_t>(width);
    return {values.data() + w * static_cast<std::size_t>(index), w};
  }
};

/// Collective. mine: records of `width` numbers, one after the other.
/// Throws Error limit, on all ranks, for 2^31 records and more in all (MPI counts them with an int).
Gathered gather_records(const Communicator& comm, std::span<const std::int64_t> mine, int width);

/// Collective. The rows of all ranks as records of destination and bytes, at rank `root` only; the others need memory for
/// their own. Throws as gather_records.
Gathered gather_rows_at(const Communicator& comm, std::span<const Partner> row, Rank root);

/// Not collective. The matrix of gathered rows. Throws what CommMatrix::from_messages throws.
CommMatrix matrix_of(const Communicator& comm, const Gathered& rows);

/// Collective. The matrix of which every rank gives its row.
/// Throws what CommMatrix::from_messages throws, on all ranks.
CommMatrix gather_matrix(const Communicator& comm, std::span<const Partner> row);

}  // namespace nuice::mpi

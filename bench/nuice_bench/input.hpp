// SPDX-License-Identifier: BSD-3-Clause
// Reads the matrix on rank 0. Every other rank gets only its own row and column.
#pragma once

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kit/errors.hpp"
#include "nuice/core/bounds.hpp"
#include "nuice/core/phase_table.hpp"
#include "nuice/core/text_io.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::bench {

struct Input {
  std::vector<Partner> destinations;  // this rank's row, by ascending rank
  std::vector<Partner> sources;       // this rank's column, by ascending rank

  // On rank 0 only.
  MessageId num_messages = 0;
  Bounds bounds;
  Bytes self_bytes = 0;  // of all ranks together
};

inline CommMatrix load_for(const std::string& path, int num_ranks) {
  CommMatrix matrix = load_matrix_market(path);
  if (matrix.num_ranks() != num_ranks)
    kit::fail(ErrorCode::mismatch, "{} is a matrix for {} ranks, but {} were started: use mpiexec -n {}",
              path, matrix.num_ranks(), num_ranks, matrix.num_ranks());
  return matrix;
}

/// Collective. Gives each rank r its list lists[r] from rank 0.
inline std::vector<Partner> scatter(const std::vector<std::vector<Partner>>& lists) {
  std::vector<int> counts;
  std::vector<int> begins;
  std::vector<std::array<std::int64_t, 2>> all;
  for (const std::vector<Partner>& list : lists) {
    counts.push_back(static_cast<int>(list.size()));
    begins.push_back(static_cast<int>(all.size()));
    for (const Partner& partner : list) all.push_back({partner.rank, partner.bytes});
  }
  int count = 0;
  MPI_Scatter(counts.data(), 1, MPI_INT, &count, 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::vector<std::array<std::int64_t, 2>> mine(static_cast<std::size_t>(count));
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT64_T, &pair);
  MPI_Type_commit(&pair);
  MPI_Scatterv(all.data(), counts.data(), begins.data(), pair, mine.data(), count, pair, 0, MPI_COMM_WORLD);
  MPI_Type_free(&pair);
  std::vector<Partner> partners;
  for (const auto& [rank, bytes] : mine) partners.push_back({static_cast<Rank>(rank), bytes});
  return partners;
}

/// Collective. Reads the matrix. Throws Error, the same on all ranks: io or parse for the file, mismatch if
/// the matrix is for another number of ranks.
inline Input read_input(const std::string& path) {
  CommMatrix matrix;
  mpi::on_rank_0(MPI_COMM_WORLD, [&] { matrix = load_for(path, mpi::world_size()); });
  const auto num_lists = static_cast<std::size_t>(matrix.num_ranks());
  std::vector<std::vector<Partner>> rows(num_lists);
  std::vector<std::vector<Partner>> columns(num_lists);
  Input input;
  for (const Message& message :
       matrix.entries()) {  // sorted by (src, dst), so rows and columns are ascending
    rows[static_cast<std::size_t>(message.src)].push_back({message.dst, message.bytes});
    columns[static_cast<std::size_t>(message.dst)].push_back({message.src, message.bytes});
    if (message.src == message.dst) input.self_bytes += message.bytes;
  }
  input.num_messages = matrix.num_messages();
  input.bounds = lower_bounds(matrix);
  input.destinations = scatter(rows);
  input.sources = scatter(columns);
  return input;
}

}  // namespace nuice::bench

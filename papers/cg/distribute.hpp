// SPDX-License-Identifier: BSD-3-Clause
// Distributes rows over ranks: METIS partitions the graph of the matrix on rank 0, which then sends each rank
// its rows.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "cg/matrix.hpp"
#include "common/partition.hpp"
#include "nuice/core/types.hpp"
#include "nuice/mpi/agree.hpp"

namespace nuice::cg {

/// One rank's rows, renumbered. Rank r has rows row_begins[r] .. row_begins[r + 1] - 1. Columns have the new
/// numbers too. The entries of a row keep their order, so that their sum rounds as in the whole matrix.
struct LocalRows {
  std::vector<std::int64_t> row_begins;  // num_ranks + 1, the same on all ranks
  std::vector<std::int64_t> begin{0};
  std::vector<std::int64_t> columns;
  std::vector<double> values;
  std::size_t num_interior = 0;  // number of rows that use only this rank's columns; these rows come first

  std::size_t num_rows() const { return begin.size() - 1; }
};

struct Distribution {
  LocalRows local;
  std::vector<std::int64_t> new_number;  // of each row of the whole matrix; on rank 0 only
};

using mpi::world_rank;
using mpi::world_size;

/// All rows in their new order, and the first row of each rank.
struct Order {
  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> row_begins;
  std::vector<std::int64_t> num_interior;  // by rank
};

inline Order make_order(const Matrix& matrix, const std::vector<Rank>& part, Rank num_ranks) {
  const auto n = static_cast<std::size_t>(matrix.num_rows());
  std::vector<char> boundary(n, 0);
  for (std::size_t row = 0; row < n; ++row)
    for (std::int64_t e = matrix.begin[row]; e < matrix.begin[row + 1]; ++e)
      if (part[static_cast<std::size_t>(matrix.columns[static_cast<std::size_t>(e)])] != part[row])
        boundary[row] = 1;
  Order order;
  order.rows.resize(n);
  std::iota(order.rows.begin(), order.rows.end(), std::int64_t{0});
  std::ranges::stable_sort(order.rows, {}, [&](std::int64_t row) {
    const auto r = static_cast<std::size_t>(row);
    return std::tuple(part[r], boundary[r]);
  });
  order.row_begins.assign(static_cast<std::size_t>(num_ranks) + 1, 0);
  order.num_interior.assign(static_cast<std::size_t>(num_ranks), 0);
  for (std::size_t row = 0; row < n; ++row) {
    ++order.row_begins[static_cast<std::size_t>(part[row]) + 1];
    order.num_interior[static_cast<std::size_t>(part[row])] += boundary[row] == 0 ? 1 : 0;
  }
  std::partial_sum(order.row_begins.begin(), order.row_begins.end(), order.row_begins.begin());
  return order;
}

/// Returns the three arrays of one rank.
inline LocalRows rows_of(const Matrix& matrix, const Order& order,
                         const std::vector<std::int64_t>& new_number, Rank rank) {
  const auto r = static_cast<std::size_t>(rank);
  LocalRows local;
  local.row_begins = order.row_begins;
  local.num_interior = static_cast<std::size_t>(order.num_interior[r]);
  for (std::int64_t i = order.row_begins[r]; i < order.row_begins[r + 1]; ++i) {
    const auto row = static_cast<std::size_t>(order.rows[static_cast<std::size_t>(i)]);
    for (auto e = static_cast<std::size_t>(matrix.begin[row]); std::cmp_less(e, matrix.begin[row + 1]); ++e) {
      local.columns.push_back(new_number[static_cast<std::size_t>(matrix.columns[e])]);
      local.values.push_back(matrix.values[e]);
    }
    local.begin.push_back(static_cast<std::int64_t>(local.columns.size()));
  }
  return local;
}

inline void send(const auto& values, Rank to) {
  MPI_Send(values.data(), static_cast<int>(values.size() * sizeof values[0]), MPI_BYTE, to, 0,
           MPI_COMM_WORLD);
}

inline void receive(auto& values) {
  MPI_Status status;
  MPI_Probe(0, 0, MPI_COMM_WORLD, &status);
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  values.resize(static_cast<std::size_t>(bytes) / sizeof values[0]);
  MPI_Recv(values.data(), bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// Calls act() with each array that a rank receives.
template <typename Act>
void for_each_array(LocalRows& local, Act&& act) {
  std::vector<std::size_t> num_interior{local.num_interior};
  act(local.row_begins);
  act(local.begin);
  act(local.columns);
  act(local.values);
  act(num_interior);
  local.num_interior = num_interior.front();
}

/// Collective. Distributes the matrix, which only rank 0 has. Throws Error on all ranks if there are fewer
/// rows than ranks.
inline Distribution distribute(const Matrix& matrix) {
  Distribution result;
  Order order;
  mpi::on_rank_0(MPI_COMM_WORLD, [&] {
    const std::vector<Rank> part = apps::partition(matrix.begin, matrix.columns, world_size(), "rows");
    order = make_order(matrix, part, world_size());
    result.new_number.resize(order.rows.size());
    for (std::size_t i = 0; i < order.rows.size(); ++i)
      result.new_number[static_cast<std::size_t>(order.rows[i])] = static_cast<std::int64_t>(i);
  });
  if (world_rank() != 0) {
    for_each_array(result.local, [](auto& array) { receive(array); });
    return result;
  }
  for (Rank rank = 1; rank < world_size(); ++rank) {
    LocalRows local = rows_of(matrix, order, result.new_number, rank);
    for_each_array(local, [rank](const auto& array) { send(array, rank); });
  }
  result.local = rows_of(matrix, order, result.new_number, 0);
  return result;
}

/// The number of values per rank and their displacements, for MPI.
struct Counts {
  std::vector<int> counts;
  std::vector<int> offsets;

  Counts(const std::vector<std::int64_t>& begins, std::size_t num_rhs) {
    const auto k = static_cast<std::int64_t>(num_rhs);
    for (std::size_t rank = 0; rank + 1 < begins.size(); ++rank) {
      counts.push_back(static_cast<int>(k * (begins[rank + 1] - begins[rank])));
      offsets.push_back(static_cast<int>(k * begins[rank]));
    }
  }
};

/// Collective. Gathers a vector with num_rhs values per row, of which every rank has the part of its rows.
/// Returns the whole vector in the original order on rank 0.
inline std::vector<double> collect(const Distribution& distribution, const std::vector<double>& mine,
                                   std::size_t num_rhs) {
  const auto& [counts, offsets] = Counts(distribution.local.row_begins, num_rhs);
  const std::size_t num_rows = distribution.new_number.size();  // 0 but on rank 0
  std::vector<double> all(num_rows * num_rhs);
  MPI_Gatherv(mine.data(), static_cast<int>(mine.size()), MPI_DOUBLE, all.data(), counts.data(),
              offsets.data(), MPI_DOUBLE, 0, MPI_COMM_WORLD);
  std::vector<double> original(all.size());
  for (std::size_t row = 0; row < num_rows; ++row)
    std::copy_n(all.data() + static_cast<std::size_t>(distribution.new_number[row]) * num_rhs, num_rhs,
                original.data() + row * num_rhs);
  return original;
}

/// Collective. Does the inverse of collect(): rank 0 has the whole vector, and each rank's part is returned.
inline std::vector<double> spread(const Distribution& distribution, const std::vector<double>& whole,
                                  std::size_t num_rhs) {
  const auto& [counts, offsets] = Counts(distribution.local.row_begins, num_rhs);
  std::vector<double> ordered(whole.size());
  for (std::size_t row = 0; row < distribution.new_number.size(); ++row)
    std::copy_n(whole.data() + row * num_rhs, num_rhs,
                ordered.data() + static_cast<std::size_t>(distribution.new_number[row]) * num_rhs);
  std::vector<double> mine(distribution.local.num_rows() * num_rhs);
  MPI_Scatterv(ordered.data(), counts.data(), offsets.data(), MPI_DOUBLE, mine.data(),
               static_cast<int>(mine.size()), MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return mine;
}

}  // namespace nuice::cg

// SPDX-License-Identifier: BSD-3-Clause
// Computes, from the arguments of a collective call, how much a rank sends to which rank.
#pragma once

#include <mpi.h>

#include "run/mpi.hpp"
#include "run/recorder.hpp"

namespace nuice::run {

/// Sorts a row by rank, and adds up several entries of one rank.
inline Row in_order(const Row& row) {
  std::map<std::int64_t, std::int64_t> sums;
  for (std::size_t i = 0; i < row.size(); i += 2) sums[row[i]] += row[i + 1];
  Row sorted;
  for (const auto& [rank, bytes] : sums) sorted.insert(sorted.end(), {rank, bytes});
  return sorted;
}

/// Makes a row for `count` partners: bytes(i) is the size of the i-th message, to(i) its rank.
template <typename To, typename Bytes>
Row row_of(int count, To&& to, Bytes&& bytes) {
  Row row;
  bool ascends = true;
  for (int i = 0; i < count; ++i) {
    const std::int64_t b = bytes(i);
    const std::int64_t rank = to(i);
    if (b <= 0 || rank < 0) continue;
    ascends = ascends && (row.empty() || row[row.size() - 2] < rank);
    row.insert(row.end(), {rank, b});
  }
  return ascends ? row : in_order(row);
}

// The rows of the three kinds of calls. If a call is in place, its receive arguments describe what is sent.

inline Row all_equal(MPI_Comm comm, bool in_place, std::int64_t send_count, MPI_Datatype send_type,
                     std::int64_t receive_count, MPI_Datatype receive_type) {
  const std::int64_t bytes =
      in_place ? receive_count * size_of(receive_type) : send_count * size_of(send_type);
  return row_of(ranks_in(comm), [](int i) { return i; }, [bytes](int) { return bytes; });
}

template <typename Count>
Row all_vector(MPI_Comm comm, bool in_place, const Count* send_counts, MPI_Datatype send_type,
               const Count* receive_counts, MPI_Datatype receive_type) {
  const Count* const counts = in_place ? receive_counts : send_counts;
  const std::int64_t size = size_of(in_place ? receive_type : send_type);
  return row_of(ranks_in(comm), [](int i) { return i; }, [&](int i) { return counts[i] * size; });
}

/// type(i) chooses between the send and the receive types. It is called only for counts that are not zero.
template <typename Count, typename Type>
Row all_typed(MPI_Comm comm, const Count* counts, Type&& type) {
  return row_of(
      ranks_in(comm), [](int i) { return i; },
      [&](int i) { return counts[i] != 0 ? counts[i] * size_of(type(i)) : 0; });
}

inline Row neighbours_equal(MPI_Comm comm, std::int64_t count, MPI_Datatype type) {
  const std::vector<int>& to = recorder().neighbours(comm);
  const std::int64_t bytes = count * size_of(type);
  return row_of(
      static_cast<int>(to.size()), [&](int i) { return to[static_cast<std::size_t>(i)]; },
      [bytes](int) { return bytes; });
}

template <typename Count, typename Type>
Row neighbours_typed(MPI_Comm comm, const Count* counts, Type&& type) {
  const std::vector<int>& to = recorder().neighbours(comm);
  return row_of(
      static_cast<int>(to.size()), [&](int i) { return to[static_cast<std::size_t>(i)]; },
      [&](int i) { return counts[i] != 0 ? counts[i] * size_of(type(i)) : 0; });
}

}  // namespace nuice::run

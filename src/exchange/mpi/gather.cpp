// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/mpi/gather.hpp"

#include <climits>
#include <string>

#include "exchange/mpi/agree.hpp"
#include "exchange/mpi/call.hpp"
#include "exchange/mpi/requests.hpp"

namespace nuice::mpi {
namespace {

/// How many records each rank brings.
std::vector<int> gather_counts(const Communicator& comm, std::size_t mine) {
  std::vector<int> counts;
  all_or_none(comm, [&] {
    if (mine > INT_MAX)
      throw Error(ErrorCode::limit, "rank " + std::to_string(comm.rank()) + " brings " +
                                        std::to_string(mine) + " messages or pieces, more than " +
                                        std::to_string(INT_MAX));
    counts.resize(static_cast<std::size_t>(comm.num_ranks()));
  });
  const int count = static_cast<int>(mine);
  must(MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm.get()), "MPI_Allgather");
  return counts;
}

void set_begins(Gathered& all, const std::vector<int>& counts) {
  all.begin.assign(1, 0);
  for (const int count : counts) {
    const std::int64_t end = std::int64_t{all.begin.back()} + count;
    if (end > INT_MAX)
      throw Error(ErrorCode::limit,
                  "the ranks bring more than " + std::to_string(INT_MAX) + " messages or pieces");
    all.begin.push_back(static_cast<int>(end));
  }
}

/// Destination and bytes of every message that is not empty.
std::vector<std::int64_t> records_of(std::span<const Partner> row) {
  std::vector<std::int64_t> records;
  records.reserve(2 * row.size());
  for (const Partner& to : row)
    if (to.bytes > 0) records.insert(records.end(), {to.rank, to.bytes});
  return records;
}

}  // namespace

Gathered gather_records(const Communicator& comm, std::span<const std::int64_t> mine, int width) {
  const std::vector<int> counts = gather_counts(comm, mine.size() / static_cast<std::size_t>(width));
  Gathered all{.width = width, .values = {}, .begin = {}};
  all_or_none(comm, [&] {
    set_begins(all, counts);
    all.values.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(all.begin.back()));
  });
  const Datatype record = Datatype::contiguous(width, MPI_INT64_T);
  must(MPI_Allgatherv(mine.data(), counts[static_cast<std::size_t>(comm.rank())], record.get(),
                      all.values.data(), counts.data(), all.begin.data(), record.get(), comm.get()),
       "MPI_Allgatherv");
  return all;
}

Gathered gather_rows_at(const Communicator& comm, std::span<const Partner> row, Rank root) {
  const bool is_root = comm.rank() == root;
  std::vector<std::int64_t> mine;
  std::vector<int> counts;
  all_or_none(comm, [&] {
    mine = records_of(row);
    if (is_root) counts.resize(static_cast<std::size_t>(comm.num_ranks()));
  });
  const int count = static_cast<int>(mine.size() / 2);  // at most one per rank
  must(MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, root, comm.get()), "MPI_Gather");
  Gathered all{.width = 2, .values = {}, .begin = {}};
  all_or_none(comm, [&] {
    if (!is_root) return;
    set_begins(all, counts);
    all.values.resize(2 * static_cast<std::size_t>(all.begin.back()));
  });
  const Datatype record = Datatype::contiguous(2, MPI_INT64_T);
  must(MPI_Gatherv(mine.data(), count, record.get(), all.values.data(), counts.data(), all.begin.data(),
                   record.get(), root, comm.get()),
       "MPI_Gatherv");
  return all;
}

CommMatrix matrix_of(const Communicator& comm, const Gathered& rows) {
  std::vector<Message> entries;
  entries.reserve(static_cast<std::size_t>(rows.begin.back()));
  for (Rank src = 0; src < comm.num_ranks(); ++src)
    for (int i = rows.begin[static_cast<std::size_t>(src)]; i < rows.begin[static_cast<std::size_t>(src) + 1];
         ++i)
      entries.push_back({src, static_cast<Rank>(rows.record(i)[0]), rows.record(i)[1]});
  return CommMatrix::from_messages(comm.num_ranks(), entries);
}

CommMatrix gather_matrix(const Communicator& comm, std::span<const Partner> row) {
  std::vector<std::int64_t> mine;
  all_or_none(comm, [&] { mine = records_of(row); });
  const Gathered all = gather_records(comm, mine, 2);
  CommMatrix matrix;
  all_or_none(comm, [&] { matrix = matrix_of(comm, all); });
  return matrix;
}

}  // namespace nuice::mpi

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

CommMatrix gather_matrix(const Communicator& comm, std::span<const Partner> row) {
  std::vector<std::int64_t> mine;
  all_or_none(comm, [&] {
    mine.reserve(2 * row.size());
    for (const Partner& to : row)
      if (to.bytes > 0) mine.insert(mine.end(), {to.rank, to.bytes});
  });
  const Gathered all = gather_records(comm, mine, 2);
  CommMatrix matrix;
  all_or_none(comm, [&] {
    std::vector<Message> entries;
    entries.reserve(static_cast<std::size_t>(all.begin.back()));
    for (Rank src = 0; src < comm.num_ranks(); ++src)
      for (int i = all.begin[static_cast<std::size_t>(src)]; i < all.begin[static_cast<std::size_t>(src) + 1];
           ++i)
        entries.push_back({src, static_cast<Rank>(all.record(i)[0]), all.record(i)[1]});
    matrix = CommMatrix::from_messages(comm.num_ranks(), entries);
  });
  return matrix;
}

}  // namespace nuice::mpi

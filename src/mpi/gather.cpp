// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/gather.hpp"
#include "mpi/collective.hpp"

#include <algorithm>
#include <climits>
#include <string>
#include <type_traits>

#include "mpi/agree.hpp"
#include "mpi/call.hpp"
#include "mpi/requests.hpp"

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
  all_gather(comm, &count, 1, MPI_INT, counts.data());
  return counts;
}

/// Where each rank's records begin, and the end of the last.
std::vector<int> begins_of(const std::vector<int>& counts) {
  std::vector<int> begin(1, 0);
  begin.reserve(counts.size() + 1);
  for (const int count : counts) {
    const std::int64_t end = std::int64_t{begin.back()} + count;
    if (end > INT_MAX)
      throw Error(ErrorCode::limit,
                  "the ranks bring more than " + std::to_string(INT_MAX) + " messages or pieces");
    begin.push_back(static_cast<int>(end));
  }
  return begin;
}

/// This rank's messages that are not empty, by destination: gathered by rank they are in the order of the matrix, which
/// then is made without a copy.
std::vector<Message> messages_of(Rank src, std::span<const Partner> row) {
  std::vector<Message> messages;
  messages.reserve(row.size());
  for (const Partner& to : row)
    if (to.bytes > 0) messages.push_back({src, to.rank, to.bytes});
  std::ranges::sort(messages, {}, &Message::dst);
  return messages;
}

/// Messages travel as they lie in memory: all ranks run the same program.
Datatype message_type() {
  static_assert(sizeof(Message) == 2 * sizeof(std::int64_t) && std::is_trivially_copyable_v<Message>);
  return Datatype::contiguous(2, MPI_INT64_T);
}

}  // namespace

Gathered gather_records(const Communicator& comm, std::span<const std::int64_t> mine, int width) {
  const std::vector<int> counts = gather_counts(comm, mine.size() / static_cast<std::size_t>(width));
  Gathered all{.width = width, .values = {}, .begin = {}};
  all_or_none(comm, [&] {
    all.begin = begins_of(counts);
    all.values.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(all.begin.back()));
  });
  const Datatype record = Datatype::contiguous(width, MPI_INT64_T);
  all_gather_v(comm, mine.data(), record.get(), all.values.data(), counts, all.begin);
  return all;
}

CommMatrix gather_matrix_at(const Communicator& comm, std::span<const Partner> row, Rank root) {
  const bool is_root = comm.rank() == root;
  std::vector<Message> mine;
  std::vector<int> counts;
  all_or_none(comm, [&] {
    mine = messages_of(comm.rank(), row);
    if (is_root) counts.resize(static_cast<std::size_t>(comm.num_ranks()));
  });
  const int count = static_cast<int>(mine.size());  // at most one per rank
  gather(comm, &count, 1, MPI_INT, counts.data(), root);
  std::vector<int> begin;
  std::vector<Message> entries;
  all_or_none(comm, [&] {
    if (!is_root) return;
    begin = begins_of(counts);
    entries.resize(static_cast<std::size_t>(begin.back()));
  });
  const Datatype record = message_type();
  gather_v(comm, mine.data(), count, record.get(), entries.data(), counts, begin, root);
  CommMatrix matrix;
  all_or_none(comm, [&] {
    if (is_root) matrix = CommMatrix::from_messages(comm.num_ranks(), entries);
  });
  return matrix;
}

CommMatrix gather_matrix(const Communicator& comm, std::span<const Partner> row) {
  std::vector<Message> mine;
  all_or_none(comm, [&] { mine = messages_of(comm.rank(), row); });
  const std::vector<int> counts = gather_counts(comm, mine.size());
  std::vector<int> begin;
  std::vector<Message> entries;
  all_or_none(comm, [&] {
    begin = begins_of(counts);
    entries.resize(static_cast<std::size_t>(begin.back()));
  });
  const Datatype record = message_type();
  all_gather_v(comm, mine.data(), record.get(), entries.data(), counts, begin);
  CommMatrix matrix;
  all_or_none(comm, [&] { matrix = CommMatrix::from_messages(comm.num_ranks(), entries); });
  return matrix;
}

}  // namespace nuice::mpi

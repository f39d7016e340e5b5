// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/discover/gather.hpp"

#include <algorithm>
#include <climits>
#include <string>
#include <type_traits>
#include <utility>

#include "core/text/names.hpp"
#include "mpi/agree.hpp"
#include "mpi/collective.hpp"
#include "mpi/requests.hpp"

namespace nuice::mpi {
namespace {

/// The items of all ranks, in the order of ranks. Rank r has the items [begin[r], begin[r + 1]).
template <typename T>
struct Items {
  std::vector<int> begin;
  std::vector<T> all;
};

/// Returns where the items of each rank begin, and where the last rank's items end.
std::vector<int> begins_of(const std::vector<int>& counts) {
  std::vector<int> begin(1, 0);
  begin.reserve(counts.size() + 1);
  for (const int count : counts) {
    const std::int64_t end = std::int64_t{begin.back()} + count;
    if (end > INT_MAX)
      throw Error(ErrorCode::limit,
                  "the ranks have more than " + std::to_string(INT_MAX) + " messages or pieces");
    begin.push_back(static_cast<int>(end));
  }
  return begin;
}

/// Collective. An item is `width` values back to back. Values are sent as they lie in memory, because all
/// ranks run the same program. Returns the items on rank `root`, or on all ranks if root is no_rank. Other
/// ranks get no items.
template <typename T>
Items<T> gather_items(const Communicator& comm, std::span<const T> mine, int width, Rank root = no_rank) {
  static_assert(sizeof(T) % sizeof(std::int64_t) == 0 && std::is_trivially_copyable_v<T>);
  const bool everywhere = root == no_rank;
  const bool is_here = everywhere || comm.rank() == root;
  const std::size_t num_mine = mine.size() / static_cast<std::size_t>(width);
  std::vector<int> counts;
  all_or_none(comm, [&] {
    if (num_mine > INT_MAX)
      throw Error(ErrorCode::limit, rank_name(comm.rank()) + " has " + std::to_string(num_mine) +
                                        " messages or pieces, more than " + std::to_string(INT_MAX));
    if (is_here) counts.resize(static_cast<std::size_t>(comm.num_ranks()));
  });
  const int count = static_cast<int>(num_mine);
  everywhere ? all_gather(comm, &count, 1, MPI_INT, counts.data())
             : gather(comm, &count, 1, MPI_INT, counts.data(), root);
  Items<T> items;
  all_or_none(comm, [&] {
    if (!is_here) return;
    items.begin = begins_of(counts);
    items.all.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(items.begin.back()));
  });
  // NOLINTNEXTLINE(bugprone-sizeof-expression): for some callers T is std::int64_t
  constexpr int words = sizeof(T) / sizeof(std::int64_t);
  const Datatype item = Datatype::contiguous(width * words, MPI_INT64_T);
  everywhere ? all_gather_v(comm, mine.data(), item.get(), items.all.data(), counts, items.begin)
             : gather_v(comm, mine.data(), count, item.get(), items.all.data(), counts, items.begin, root);
  return items;
}

/// Returns this rank's messages that are not empty, by destination. So the messages gathered from all ranks
/// are in the order of the matrix, which needs no further copy.
std::vector<Message> messages_of(Rank src, std::span<const Partner> row) {
  std::vector<Message> messages;
  messages.reserve(row.size());
  for (const Partner& to : row)
    if (to.bytes > 0) messages.push_back({src, to.rank, to.bytes});
  std::ranges::sort(messages, {}, &Message::dst);
  return messages;
}

}  // namespace

Gathered gather_records(const Communicator& comm, std::span<const std::int64_t> mine, int width) {
  Items<std::int64_t> items = gather_items(comm, mine, width);
  return {.width = width, .values = std::move(items.all), .begin = std::move(items.begin)};
}

CommMatrix gather_matrix_at(const Communicator& comm, std::span<const Partner> row, Rank root) {
  std::vector<Message> mine;
  all_or_none(comm, [&] { mine = messages_of(comm.rank(), row); });
  const Items<Message> messages = gather_items(comm, std::span<const Message>(mine), 1, root);
  CommMatrix matrix;
  all_or_none(comm, [&] {
    if (root == no_rank || comm.rank() == root)
      matrix = CommMatrix::from_messages(comm.num_ranks(), messages.all);
  });
  return matrix;
}

CommMatrix gather_matrix(const Communicator& comm, std::span<const Partner> row) {
  return gather_matrix_at(comm, row, no_rank);
}

}  // namespace nuice::mpi

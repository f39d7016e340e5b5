// SPDX-License-Identifier: BSD-3-Clause
#include "exchange/plan/distributed/messages.hpp"

#include <algorithm>
#include <array>

#include "mpi/collective.hpp"

namespace nuice::mpi {
namespace {

/// Collective. Returns the sum over all ranks. Throws Error `limit` on all ranks if it exceeds max_bytes.
std::int64_t total(const Communicator& comm, std::int64_t mine) {
  constexpr int low_bits = 31;  // so that both sums over 2^31 ranks fit into 63 bits
  std::array<std::int64_t, 2> parts = {mine >> low_bits, mine & ((std::int64_t{1} << low_bits) - 1)};
  all_reduce(comm, MPI_IN_PLACE, parts.data(), 2, MPI_INT64_T, MPI_SUM);
  if (parts[0] + (parts[1] >> low_bits) >= max_bytes >> low_bits)
    throw Error(ErrorCode::limit, "all messages together have more than 2^62 bytes");
  return (parts[0] << low_bits) + parts[1];
}

/// key: the rank, plus num_ranks if its receiving side is meant.
Busiest busiest_of(std::int64_t key, const Communicator& comm) {
  return {static_cast<Rank>(key % comm.num_ranks()),
          key < comm.num_ranks() ? nuice::Direction::send : nuice::Direction::receive};
}

}  // namespace

Messages messages_of(std::span<const Partner> partners, Rank self) {
  Messages messages;
  for (const auto& [rank, bytes] : partners)
    if (rank != self) messages.add(rank, bytes);
  return messages;
}

void all_max(const Communicator& comm, std::span<std::int64_t> values) {
  all_reduce(comm, MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_INT64_T, MPI_MAX);
}

Facts::Facts(const Communicator& comm, const Messages& sends, const Messages& receives) {
  const std::array<const Messages*, 2> sides = {&sends, &receives};
  std::array<std::array<std::int64_t, 2>, 2> mine{};  // by direction: messages, bytes
  for (std::size_t i = 0; i < 2; ++i) mine[i] = {std::ssize(sides[i]->partners), sides[i]->sum()};
  std::array<std::int64_t, 2> most = {std::max(mine[0][0], mine[1][0]), std::max(mine[0][1], mine[1][1])};
  std::array<std::int64_t, 3> most_all = {most[0], most[1], mine[0][0]};
  all_max(comm, std::span(most_all));
  most_sends = most_all[2];

  // The first rank that reaches a bound; senders come before receivers.
  const std::int64_t nobody = std::int64_t{2} * comm.num_ranks();
  std::array<std::int64_t, 3> first = {nobody, nobody, nobody};
  for (std::size_t direction = 2; direction-- > 0;)
    for (std::size_t what = 0; what < 2; ++what)
      if (mine[direction][what] == most_all[what])
        first[what] = static_cast<std::int64_t>(direction) * comm.num_ranks() + comm.rank();
  if (mine[0][0] == most_sends) first[2] = comm.rank();
  all_reduce(comm, MPI_IN_PLACE, first.data(), static_cast<int>(first.size()), MPI_INT64_T, MPI_MIN);
  busiest_sender = static_cast<Rank>(first[2]);

  bounds.max_degree = static_cast<MessageId>(most_all[0]);
  bounds.max_port_bytes = most_all[1];
  if (most_all[0] > 0) {
    bounds.max_degree_at = busiest_of(first[0], comm);
    bounds.max_port_bytes_at = busiest_of(first[1], comm);
  }
  num_messages = static_cast<MessageId>(total(comm, mine[0][0]));
  bounds.total_bytes = total(comm, mine[0][1]);
}

}  // namespace nuice::mpi

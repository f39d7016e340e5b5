// SPDX-License-Identifier: BSD-3-Clause
// Finds the ranks that share this rank's host, and gathers values among them.
//
// The ranks of a host have no communicator of their own. MPI can make it only in a blocking call
// (MPI_Comm_split). A rank that stops or dies during this call would keep all other ranks in it, regardless
// of their watchdog (docs/adr/0031).
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "mpi/communicator.hpp"

namespace nuice::mpi {

/// Collective in the first call on comm, local afterwards. Returns, in ascending order, the ranks with which
/// this rank can share memory, including itself. These are the ranks with the same kernel, host name and
/// shared-memory file system. Cost: an allgather of 8 bytes per rank, or above 8,192 ranks a meeting
/// (meeting.hpp), so that no rank needs memory for all ranks.
const std::vector<Rank>& ranks_of_this_host(const Communicator& comm);

/// Collective. Returns for each rank the lowest rank with which it can share memory.
std::vector<Rank> ranks_that_share_memory(const Communicator& comm);

/// Collective over `ranks`, which are ascending and include this rank. Returns the bytes that each of them
/// contributes, in the order of `ranks`. Throws Error like collective.hpp. Cost: two messages from each rank
/// to each other rank, which is cheap for the few ranks of a host.
std::vector<std::vector<std::byte>> gather_on_host(const Communicator& comm, std::span<const Rank> ranks,
                                                   std::span<const std::byte> mine);

/// Like gather_on_host(), for one value per rank.
template <typename T>
std::vector<T> values_on_host(const Communicator& comm, std::span<const Rank> ranks, const T& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto all = gather_on_host(comm, ranks, std::as_bytes(std::span(&mine, 1)));
  std::vector<T> values(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) std::memcpy(&values[i], all[i].data(), sizeof(T));
  return values;
}

}  // namespace nuice::mpi

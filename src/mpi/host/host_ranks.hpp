// SPDX-License-Identifier: BSD-3-Clause
// Which ranks share this rank's host, and what they tell each other.
//
// Without a communicator of theirs: MPI makes such ones in calls that block (MPI_Comm_split), and a rank that stops or dies meanwhile would
// keep all others there, whatever their watchdog (docs/adr/0031).
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "mpi/communicator.hpp"

namespace nuice::mpi {

/// Collective, but for the first call on comm only. The ranks with which this one can share memory, itself among them, ascending:
/// those with the same kernel, host name and file system of shared memory. Cost: an allgather of 8 bytes per rank; above 8,192 ranks a meeting
/// (meeting.hpp), so that no rank needs memory for all.
const std::vector<Rank>& ranks_of_this_host(const Communicator& comm);

/// Collective. By rank, the lowest rank with which it can share memory.
std::vector<Rank> ranks_that_share_memory(const Communicator& comm);

/// Collective over these ranks, ascending, this one among them. By their order, what each of them brings. Throws Error as
/// collective.hpp does. Cost: two messages from each to each other, for the few ranks of a host.
std::vector<std::vector<std::byte>> gather_on_host(const Communicator& comm, std::span<const Rank> ranks,
                                                   std::span<const std::byte> mine);

/// The same of one value each.
template <typename T>
std::vector<T> values_on_host(const Communicator& comm, std::span<const Rank> ranks, const T& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto all = gather_on_host(comm, ranks, std::as_bytes(std::span(&mine, 1)));
  std::vector<T> values(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) std::memcpy(&values[i], all[i].data(), sizeof(T));
  return values;
}

}  // namespace nuice::mpi

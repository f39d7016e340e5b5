// SPDX-License-Identifier: BSD-3-Clause
// Copies values of rank 0 to all ranks.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "mpi/collective.hpp"

namespace nuice::mpi {

/// Collective. Replaces these numbers on all ranks by rank 0's numbers. Cost: one broadcast. Throws only
/// errors of MPI.
template <typename... Numbers>
void share_from_rank_0(const Communicator& comm, Numbers&... numbers) {
  static_assert((std::is_trivially_copyable_v<Numbers> && ...));
  std::array<std::byte, (sizeof(Numbers) + ...)> bytes;
  std::byte* at = bytes.data();
  ((std::memcpy(at, &numbers, sizeof numbers), at += sizeof numbers), ...);
  broadcast(comm, bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 0);
  at = bytes.data();
  ((std::memcpy(&numbers, at, sizeof numbers), at += sizeof numbers), ...);
}

}  // namespace nuice::mpi

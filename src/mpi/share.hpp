// SPDX-License-Identifier: BSD-3-Clause
// What rank 0 knows, on all ranks.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "mpi/collective.hpp"

namespace nuice::mpi {

/// Collective. These numbers of rank 0 take the place of the others'. One broadcast; nothing can fail but MPI.
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

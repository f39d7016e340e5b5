// SPDX-License-Identifier: BSD-3-Clause
// What rank 0 knows, on all ranks.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "core/text/serialise.hpp"
#include "mpi/agree.hpp"
#include "mpi/call.hpp"
#include "mpi/collective.hpp"

namespace nuice::mpi {

/// Collective. These values of rank 0 take the place of the others' (core/serialise.hpp says what may be shared). Throws
/// Error limit, on all ranks, where one has no memory for them. Numbers alone: one broadcast, and nothing can fail but MPI.
template <typename... Values>
void share_from_rank_0(const Communicator& comm, Values&... values) {
  if constexpr ((core::PlainBytes<Values> && ...)) {
    std::array<std::byte, (sizeof(Values) + ...)> bytes;
    std::byte* at = bytes.data();
    ((std::memcpy(at, &values, sizeof values), at += sizeof values), ...);
    broadcast(comm, bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 0);
    at = bytes.data();
    ((std::memcpy(&values, at, sizeof values), at += sizeof values), ...);
  } else {
    std::string bytes;
    all_or_none(comm, [&] {
      if (comm.rank() == 0) bytes = core::to_bytes(values...);
    });
    bytes = text_of_rank_0(comm, std::move(bytes));
    all_or_none(comm, [&] {
      if (comm.rank() != 0) core::from_bytes(bytes, values...);
    });
  }
}

}  // namespace nuice::mpi

// SPDX-License-Identifier: BSD-3-Clause
// Messages that their receivers do not expect: each rank names destinations and data, and gets its messages with their senders.
//
//   const nuice::mpi::Received received = nuice::mpi::sparse_alltoallv(comm, messages);
//   for (std::size_t i = 0; i < received.sources.size(); ++i)
//     use(received.sources[i].rank, received.message<double>(i));
//
// Inside a host messages of up to 32 KiB go through memory that its ranks share. Between hosts short messages travel at once, by MPI;
// long ones once their receivers know their sizes. What this needs is kept with the communicator from the first call on.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "nuice/mpi/exchange.hpp"

namespace nuice::mpi {

/// What other ranks have sent.
struct Received {
  std::vector<Partner> sources;       ///< By ascending rank; several messages of one rank in its order.
  std::vector<Bytes> offsets;         ///< Of each message, in data.
  std::unique_ptr<std::byte[]> data;  ///< The messages, each at a multiple of 16 bytes.

  template <typename Value = std::byte>
  std::span<const Value> message(std::size_t i) const {
    return {reinterpret_cast<const Value*>(data.get() + offsets[i]),
            static_cast<std::size_t>(sources[i].bytes) / sizeof(Value)};
  }
};

/// Collective over comm. sends: any messages, to itself too, several to a rank, empty ones are none. Returns when all that this rank sends
/// may be overwritten and all that it receives is here. Cost: about a message's time for each message, and between hosts one sum over the ranks.
/// Throws Error, the same on all ranks: invalid_argument for a rank that is none, a negative count, no datatype or a communicator as Plan
/// has it; limit; mpi.
Received sparse_alltoallv(MPI_Comm comm, std::span<const Outgoing> sends);

}  // namespace nuice::mpi

// SPDX-License-Identifier: BSD-3-Clause
// Messages that their receivers do not expect: each rank lists destinations and data, and gets the messages
// that are sent to it, with their senders.
//
//   const nuice::mpi::Received received = nuice::mpi::sparse_alltoallv(comm, messages);
//   for (std::size_t i = 0; i < received.sources.size(); ++i)
//     use(received.sources[i].rank, received.message<double>(i));
//
// Inside a host, messages of up to 32 KiB use shared memory. MPI sends all others at once. The first call
// attaches the necessary state to the communicator.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "nuice/mpi/exchange.hpp"

namespace nuice::mpi {

/// The messages that other ranks have sent to this rank.
struct Received {
  /// The sender and the size of each message, by ascending sender. Messages from one sender keep the order of
  /// the sender's list.
  std::vector<Partner> sources;
  std::vector<Bytes> offsets;         ///< The offset of each message in data.
  std::unique_ptr<std::byte[]> data;  ///< All messages, each at a multiple of 16 bytes.

  template <typename Value = std::byte>
  std::span<const Value> message(std::size_t i) const {
    return {reinterpret_cast<const Value*>(data.get() + offsets[i]),
            static_cast<std::size_t>(sources[i].bytes) / sizeof(Value)};
  }
};

/// Collective. Sends messages and returns the messages sent to this rank. `sends` may contain several
/// messages to one rank, and messages to this rank itself; empty messages are not sent. Returns when this
/// rank's send buffers may be overwritten and all messages to this rank have arrived. Cost: the messages and,
/// between hosts, one sum over all ranks. Throws Error, the same on all ranks: code `invalid_argument` for a
/// rank outside the communicator, a negative count, a null datatype, or a communicator that Plan does not
/// accept; `limit` for a message above 2^62 bytes; `mpi` if MPI reports an error.
Received sparse_alltoallv(MPI_Comm comm, std::span<const Outgoing> sends);

}  // namespace nuice::mpi
